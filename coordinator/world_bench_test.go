package coordinator_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// countersWorld has a machine that only counts, and one that pays.
const countersWorld = `
kind: World
name: counters
types: {Add: {record: {id: text, n: int}}, Buy: {record: {id: text, n: int}}}
effects: {pay: {params: {record: {n: int}}, receipt: unit}}
machines:
  sum:
    key: text
    state: {record: {n: int}}
    event: [Add]
    emits: []
    rules: [{event: Add, set: {n: "{{ (state ?? {n: 0}).n + event.n }}"}}]
  buyer:
    key: text
    state: {record: {n: int}}
    event: [Buy]
    emits: [pay]
    lifecycle: entity
    rules:
      - {event: Buy, set: {n: "{{ event.n }}"}, emit: [{effect: pay, params: {n: "{{ event.n }}"}}]}
      - {event: pay, set: {n: 0}}
routing: {subscriptions: [{event: Add, machine: sum, key_field: id}, {event: Buy, machine: buyer, key_field: id}]}
`

// countersRun starts the world of counters.
func countersRun(tb testing.TB, store journal.Store) (*coordinator.Engine, *coordinator.Run) {
	pay := operation.Define("pay", func(context.Context, struct{ N int }) (any, error) { return nil, nil })
	e, err := coordinator.New(tb.Context(), store, coordinator.Config{Operations: []coordinator.Operation{pay}})
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = e.Shutdown(context.Background()) })
	checked, err := kinds.Load("counters.yaml", []byte(countersWorld), template.Known{Lenient: true})
	require.NoError(tb, err)
	run, err := e.Start(tb.Context(), checked.Workflow, nil, coordinator.WithID("counters"))
	require.NoError(tb, err)
	return e, run
}

// BenchmarkWorldMessages sends messages to one world from many senders, each to one of 1,000 cells. An op is a message that is
// taken, and with effects its receipt too.
func BenchmarkWorldMessages(b *testing.B) {
	stores := map[string]func(testing.TB) journal.Store{
		"memory": func(testing.TB) journal.Store { return memory.New() },
		"disk": func(tb testing.TB) journal.Store {
			s, err := disk.Open(tb.TempDir(), disk.Config{})
			require.NoError(tb, err)
			return s
		},
	}
	for _, kind := range []string{"memory", "disk"} {
		for _, message := range []string{"Add", "Buy"} {
			b.Run(fmt.Sprintf("store=%s/message=%s", kind, message), func(b *testing.B) {
				_, run := countersRun(b, stores[kind](b))
				b.SetParallelism(128)
				b.ReportAllocs()
				var n atomic.Int64
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						i := n.Add(1)
						_, err := run.SendMessage(b.Context(), cells.Message{Name: message, Payload: map[string]any{"id": fmt.Sprint("c", i%1000), "n": int64(i)}})
						if err != nil {
							b.Error(err)
							return
						}
					}
				})
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
			})
		}
	}
}

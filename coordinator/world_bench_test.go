package coordinator_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/decide"
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

// countersEngine returns an engine that can run the world of counters.
func countersEngine(tb testing.TB, store journal.Store) *coordinator.Engine {
	pay := operation.Define("pay", func(context.Context, struct{ N int }) (any, error) { return nil, nil })
	e, err := coordinator.New(tb.Context(), store, coordinator.Config{Operations: []coordinator.Operation{pay}})
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = e.Shutdown(context.Background()) })
	return e
}

// countersRun starts the world of counters.
func countersRun(tb testing.TB, store journal.Store) (*coordinator.Engine, *coordinator.Run) {
	e := countersEngine(tb, store)
	checked, err := kinds.Load("counters.yaml", []byte(countersWorld), template.Known{Lenient: true})
	require.NoError(tb, err)
	run, err := e.Start(tb.Context(), checked.Workflow, nil, coordinator.WithID("counters"))
	require.NoError(tb, err)
	return e, run
}

// diskStore opens the store of a directory.
func diskStore(tb testing.TB, dir string) journal.Store {
	s, err := disk.Open(dir, disk.Config{})
	require.NoError(tb, err)
	return s
}

// BenchmarkWorldMessages sends messages to one world from many senders, each to one of 1,000 cells. An op is a message that is
// taken, and with effects its receipt too.
func BenchmarkWorldMessages(b *testing.B) {
	stores := map[string]func(testing.TB) journal.Store{
		"memory": func(testing.TB) journal.Store { return memory.New() },
		"disk":   func(tb testing.TB) journal.Store { return diskStore(tb, tb.TempDir()) },
	}
	for _, kind := range []string{"memory", "disk"} {
		for _, message := range []string{"Add", "Buy"} {
			b.Run(fmt.Sprintf("store=%s/message=%s", kind, message), func(b *testing.B) {
				_, run := countersRun(b, stores[kind](b))
				b.ReportAllocs()
				before := cpuTime()
				b.ResetTimer()
				sendMany(b, run, message, b.N)
				b.ReportMetric(float64(cpuTime()-before)/float64(b.N), "cpu-ns/op")
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
			})
		}
	}
}

// sendMany sends n messages of a name from 256 senders.
func sendMany(tb testing.TB, run *coordinator.Run, name string, n int) {
	var sent atomic.Int64
	var senders sync.WaitGroup
	for range 256 {
		senders.Go(func() {
			for i := sent.Add(1); i <= int64(n); i = sent.Add(1) {
				if _, err := run.SendMessage(tb.Context(), cells.Message{Name: name, Payload: map[string]any{"id": fmt.Sprint("c", i%1000), "n": i}}); err != nil {
					tb.Error(err)
					return
				}
			}
		})
	}
	senders.Wait()
}

// BenchmarkWorldRecovery opens a world from its events alone, since its store keeps no snapshots. Each event is read, checked
// and applied.
func BenchmarkWorldRecovery(b *testing.B) {
	type eventsOnly struct{ journal.Store }
	for _, message := range []string{"Add", "Buy"} {
		b.Run("message="+message, func(b *testing.B) {
			dir := b.TempDir()
			e, run := countersRun(b, eventsOnly{diskStore(b, dir)})
			sendMany(b, run, message, 20_000)
			require.NoError(b, e.Shutdown(b.Context()))
			var events, used float64
			for b.Loop() {
				b.StopTimer()
				store := eventsOnly{diskStore(b, dir)}
				before := cpuTime()
				b.StartTimer()
				e := countersEngine(b, store)
				run, err := e.Run(b.Context(), "counters")
				require.NoError(b, err)
				_, err = run.Cell(b.Context(), "sum[none]")
				require.ErrorIs(b, err, decide.ErrCellNotFound)
				b.StopTimer()
				used += float64(cpuTime() - before)
				last, err := run.Last(b.Context())
				require.NoError(b, err)
				events += float64(last)
				require.NoError(b, e.Shutdown(b.Context()))
				b.StartTimer()
			}
			b.ReportMetric(used/events, "cpu-ns/event")
			b.ReportMetric(events/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// BenchmarkWorldSender sends messages one after the other, beside the time that the disk takes to sync.
func BenchmarkWorldSender(b *testing.B) {
	_, run := countersRun(b, diskStore(b, b.TempDir()))
	took := make([]time.Duration, 0, b.N)
	for i := 0; b.Loop(); i++ {
		begun := time.Now()
		_, err := run.SendMessage(b.Context(), cells.Message{Name: "Add", Payload: map[string]any{"id": "c", "n": int64(i)}})
		require.NoError(b, err)
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
	b.ReportMetric(float64(syncTime(b)), "sync-ns")
}

// syncTime returns the median time of a sync of a small write.
func syncTime(tb testing.TB) time.Duration {
	f, err := os.Create(filepath.Join(tb.TempDir(), "file"))
	require.NoError(tb, err)
	defer f.Close()
	took := make([]time.Duration, 201)
	for i := range took {
		_, err := f.Write(make([]byte, 512))
		require.NoError(tb, err)
		begun := time.Now()
		require.NoError(tb, f.Sync())
		took[i] = time.Since(begun)
	}
	slices.Sort(took)
	return took[len(took)/2]
}

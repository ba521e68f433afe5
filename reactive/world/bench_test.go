package world_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
)

// sumWorld has a machine that only counts.
const sumWorld = `
kind: World
name: sums
types: {Add: {record: {id: text, n: int}}}
machines:
  sum:
    key: text
    state: {record: {n: int}}
    event: [Add]
    emits: []
    lifecycle: entity
    rules: [{event: Add, set: {n: "{{ (state ?? {n: 0}).n + event.n }}"}}]
routing: {subscriptions: [{event: Add, machine: sum, key_field: id}]}
`

// populated returns a world with n cells, all of them in snapshots.
func populated(tb testing.TB, n int) *driver {
	d := drive(tb, sumWorld)
	d.apart = true
	first := d.events[0]
	for i := 0; i < n; {
		items := make([]decide.Item, 0, 512)
		for ; len(items) < cap(items) && i < n; i++ {
			items = append(items, addOne(i))
		}
		d.turn(items...)
		d.events = d.events[:0]
		if _, due := world.Of(d.root).Snapshot(); due || i == n {
			d.snapshot()
		}
	}
	d.events = append([]journal.Event{first}, d.events...)
	return d
}

func addOne(i int) decide.Item {
	return decide.Item{Reply: func(error) {}, Event: journal.Event{
		Type: journal.MessageReceived, Value: map[string]any{"id": fmt.Sprint("c", i), "n": int64(i)}, Detail: &journal.Detail{Name: "Add"},
	}}
}

// BenchmarkActivation takes messages to one world and steps its cells, without a store.
func BenchmarkActivation(b *testing.B) {
	d := drive(b, sumWorld)
	d.apart = true
	b.ReportAllocs()
	for i := 0; i < b.N; {
		items := make([]decide.Item, 0, 256)
		for ; len(items) < cap(items) && i < b.N; i++ {
			items = append(items, addOne(i%1000))
		}
		d.turn(items...)
		d.events = d.events[:0]
	}
}

// BenchmarkSnapshot keeps the state of a world with many cells, of which some have changed, and restores the world from it.
func BenchmarkSnapshot(b *testing.B) {
	const cells = 1_000_000
	d := populated(b, cells)
	last := journal.Event{}
	for _, dirty := range []int{1, 1_000, 10_000} {
		b.Run(fmt.Sprintf("cells=%d/dirty=%d", cells, dirty), func(b *testing.B) {
			next := 0
			for b.Loop() {
				b.StopTimer()
				items := make([]decide.Item, dirty)
				for i := range items {
					items[i] = addOne(next % cells)
					next += 7919
				}
				d.turn(items...)
				d.events = d.events[:1]
				b.StartTimer()
				last = d.snapshot()
			}
		})
	}
	b.Run(fmt.Sprintf("cells=%d/restore", cells), func(b *testing.B) {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d.events = d.events[:1]
		for b.Loop() {
			root := d.empty()
			first := d.events[0]
			root.Apply(&first)
			_, err := world.Of(root).Restore(&last)
			require.NoError(b, err)
			d.use(root)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc)-float64(before.HeapAlloc), "heap-B")
	})
	b.Run(fmt.Sprintf("cells=%d/cold", cells), func(b *testing.B) {
		i := 0
		for b.Loop() {
			_, ok := world.Of(d.root).Cell(fmt.Sprintf("sum[c%d]", i%cells))
			require.True(b, ok)
			i += 7919
		}
	})
}

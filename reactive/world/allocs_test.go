package world_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
)

// TestAllocations bounds the allocations of a message until its cell is stepped, and of an event that is read again: work that
// depends on the number of cells, or a second encoding, would exceed the bounds.
func TestAllocations(t *testing.T) {
	const messages = 256
	d := drive(t, sumWorld)
	send := func() {
		items := make([]decide.Item, messages)
		for i := range items {
			items[i] = addOne(i)
		}
		d.turn(items...)
	}
	send()
	items := make([]decide.Item, messages)
	for i := range items {
		items[i] = addOne(i)
	}
	taken := testing.AllocsPerRun(1, func() { // the driver of the tests allocates more
		for more, left := true, items; more; left = nil {
			more = d.step.Step(d.now, left).More
		}
	})
	require.LessOrEqual(t, taken, 24.*messages)
	t.Log(taken / messages)

	d = drive(t, sumWorld)
	first := len(d.events)
	send()
	events := d.events[first:]
	require.Len(t, events, 2*messages)
	var codec journal.Codec
	data := make([][]byte, len(events))
	for i := range events {
		var err error
		buffer := make([]byte, 0, 1024)
		require.LessOrEqual(t, testing.AllocsPerRun(1, func() { data[i], err = codec.Append(buffer, &events[i]) }), 2.)
		require.NoError(t, err)
	}
	root := d.empty()
	start := d.events[0]
	root.Apply(&start)
	allocs := func(n int, check bool) float64 {
		return testing.AllocsPerRun(n, func() {
			e, _, err := codec.Decode(data[0])
			data = data[1:]
			require.NoError(t, err)
			if check {
				require.NoError(t, world.Of(root).Check(&e))
			}
			root.Apply(&e)
		})
	}
	read, unchecked := allocs(127, true), allocs(127, false)
	require.LessOrEqual(t, read, 20.)
	require.LessOrEqual(t, read-unchecked, 4., "by Check")
	t.Log(read, unchecked)
}

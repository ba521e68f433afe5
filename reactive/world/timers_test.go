package world_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/reactive/world/agenda"
)

// TestTimersLeaveMemory: for any number of armed timers, memory holds only the next ones, and opening a world reads only these.
// All fire in the order of their instants and of their arming, also if the world is restored or changed meanwhile.
func TestTimersLeaveMemory(t *testing.T) {
	const timers = 20_000
	d, last := populated(t, armedWorld, timers, armed)
	reopened := func() {
		before := d.fetched
		d.use(d.planted(&last))
		require.NotZero(t, d.root.NextDue())
		inMemory, read := world.Due(world.Of(d.root))
		require.LessOrEqual(t, read, agenda.Window)
		require.LessOrEqual(t, inMemory, agenda.Window)
		require.Zero(t, world.InMemory(world.Of(d.root)), "no cell is needed yet")
		require.Less(t, d.fetched-before, 200)
	}
	reopened()
	fired, next := 0, 0
	for fired < 3_000 {
		d.now = d.root.NextDue()
		d.turn()
		for _, e := range d.events {
			if e.Type == journal.TimerFired {
				require.Equal(t, fmt.Sprintf("m[c%d].timer@%d.0", next, next+10), e.Node)
				if next++; next == 2_000 {
					next++ // it fired out of order: see below
				}
				fired++
			}
		}
		d.events = d.events[:1]
		switch fired {
		case 600: // a cell with a late timer changes: the timer fires once
			require.NoError(t, d.send("Arm", map[string]any{"id": "c2000"}, ""))
			require.NoError(t, d.take(journal.Event{Type: journal.NodeAborted, Node: "m[c2000]"}))
		case 1_200, 2_400:
			last = d.snapshot()
			d.events = d.events[:1]
		case 1_800:
			last = d.snapshot()
			d.events = d.events[:1]
			reopened()
		}
		inMemory, _ := world.Due(world.Of(d.root))
		require.LessOrEqual(t, inMemory, 2*agenda.Window+10)
	}
	require.LessOrEqual(t, world.InMemory(world.Of(d.root)), 3_000)
}

// TestTimersAtOneInstant: timers of one instant fire in the order of their arming, wherever they are stored.
func TestTimersAtOneInstant(t *testing.T) {
	order := func(forgetful bool, keep func(i int) bool) (list []string) {
		d := drive(t, armedWorld)
		if forgetful {
			d.forgetful()
		}
		var last journal.Event
		for i := range 60 {
			require.NoError(t, d.send("Arm", map[string]any{"id": fmt.Sprint("k", i*7%20)}, ""))
			if keep(i) {
				last = d.snapshot()
			}
		}
		if keep(59) {
			root, err := d.restored(&last)
			require.NoError(t, err)
			d.use(root)
		}
		d.now += int64(time.Hour)
		d.turn()
		for _, e := range d.events {
			if e.Type == journal.TimerFired {
				list = append(list, e.Node[:6])
			}
		}
		return list
	}
	want := order(false, func(int) bool { return false })
	require.Len(t, want, 60)
	for every := 1; every < 9; every++ {
		require.Equal(t, want, order(true, func(i int) bool { return i%every == 0 || i == 59 }))
	}
}

// TestSnapshotWork: the content that a snapshot reads and writes is proportional to the number of changed cells, not of all cells.
func TestSnapshotWork(t *testing.T) {
	for _, cells := range []int{1_000, 30_000} {
		d, _ := populated(t, sumWorld, cells, counted)
		for _, dirty := range []int{0, 1, 100} {
			for i := range dirty {
				d.turn(addOne(i * 7))
			}
			before, read := d.written, d.fetched
			d.snapshot()
			// the core, a state, and of the trie at most 5 nodes a cell
			require.LessOrEqual(t, d.written-before, 1+6*dirty, "%d of %d", dirty, cells)
			require.LessOrEqual(t, d.fetched-read, 5*dirty, "%d of %d", dirty, cells)
		}
	}
}

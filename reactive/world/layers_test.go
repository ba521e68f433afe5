package world_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
)

// The cells of this world raise events for each other, so an activation affects several cells.
const chainWorld = `
kind: World
name: chain
types:
  Add: {record: {id: int, n: int, next: list<int>}}
effects:
  pay: {params: {record: {n: int}}, receipt: int}
machines:
  sum:
    key: int
    state: {record: {n: int}}
    event: [Add]
    emits: [pay]
    lifecycle: entity
    rules:
      - {event: Add, when: "{{ event.n == 0 }}", delete: true}
      - {event: Add, when: "{{ event.n == 13 }}", fail: {code: unlucky}}
      - {event: Add, when: "{{ len(event.next) == 0 }}", set: {n: "{{ (state ?? {n: 0}).n + event.n }}"}}
      - event: Add
        set: {n: "{{ (state ?? {n: 0}).n + event.n }}"}
        raise: [{event: Add, value: {id: "{{ last(event.next) }}", n: "{{ event.n }}", next: "{{ take(event.next, len(event.next) - 1) }}"}}]
routing: {subscriptions: [{event: Add, machine: sum, key_field: id}]}
`

// sums is the same world as a map.
type sums map[int64]int64

func (m sums) add(n int64, path []int64) {
	for _, id := range path {
		if n == 0 {
			delete(m, id)
			return
		}
		m[id] += n
	}
}

// TestLayers: cells that have left memory are read from the snapshot again, deleted cells stay deleted, and the number of cells
// in memory changes nothing.
func TestLayers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drive(t, chainWorld)
		all := drive(t, chainWorld)
		world.CacheCells(world.Of(d.root), 2)
		want, paused, ordered := sums{}, false, true
		for range rapid.IntRange(1, 40).Draw(t, "moves") {
			switch rapid.IntRange(0, 9).Draw(t, "move") {
			case 0, 1, 2, 3, 4:
				path := rapid.SliceOfN(rapid.Int64Range(0, 9), 1, 12).Draw(t, "path")
				n := rapid.Int64Range(0, 3).Draw(t, "n")
				next := make([]any, len(path)-1)
				for i, id := range path[1:] {
					next[len(next)-1-i] = id // the last is the next
				}
				want.add(n, path)
				for _, on := range []*driver{d, all} {
					require.NoError(t, on.send("Add", map[string]any{"id": path[0], "n": n, "next": next}, ""))
				}
			case 5, 6:
				e := d.snapshot()
				all.turn()
				require.True(t, paused || world.InMemory(world.Of(d.root)) <= 3)
				if rapid.Bool().Draw(t, "restart") {
					root, err := d.restored(&e)
					require.NoError(t, err)
					world.CacheCells(world.Of(root), 2)
					d.use(root)
				}
			case 7: // messages now come together: the model does not know their order
				paused, ordered = !paused, false
				for _, on := range []*driver{d, all} {
					kind := map[bool]journal.Type{true: journal.RunPaused, false: journal.RunResumed}[paused]
					require.NoError(t, on.take(journal.Event{Type: kind}))
				}
			case 8:
				_, _ = world.Of(d.root).Cell(fmt.Sprintf("sum[%d]", rapid.IntRange(0, 9).Draw(t, "cell")))
			}
			require.NoError(t, world.Of(d.root).Err())
			states := statesOf(d.root)
			if ordered {
				require.Equal(t, want, states)
			}
			require.Equal(t, states, statesOf(all.root))
		}
		require.Equal(t, decided(all.events), decided(d.events))
	})
}

// statesOf returns the sums of all cells.
func statesOf(root *reactive.Root) sums {
	states := sums{}
	for c := range world.Of(root).Cells() {
		if m, ok := c.State.(map[string]any); ok {
			states[c.Key.(int64)] = m["n"].(int64)
		}
	}
	return states
}

// decided returns the events of a journal except snapshots, without sequences, which snapshots shift.
func decided(events []journal.Event) []string {
	var list []string
	for _, e := range slices.Clone(events) {
		if e.Type == journal.WorldSnapshotted {
			continue
		}
		value := fmt.Sprint(e.Value)
		if m, ok := e.Value.(map[string]any); ok && e.Type == journal.CellStepped {
			value = fmt.Sprint(m["state"], m["raised"])
		}
		list = append(list, fmt.Sprint(e.Type, e.Node, value, e.Detail != nil))
	}
	return list
}

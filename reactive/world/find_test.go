package world_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template/value"
)

// requireFound requires that the indexes of keptWorld find the same cells as a search of all cells.
func requireFound(t require.TestingT, root *reactive.Root) {
	w := world.Of(root)
	want := map[string][]string{}
	for c := range w.Cells() {
		state, _ := c.State.(map[string]any)
		if c.Machine != "sum" || state == nil {
			continue
		}
		n := state["n"].(int64)
		want[fmt.Sprint("n=", n)] = append(want[fmt.Sprint("n=", n)], c.Address)
		if n > 40 {
			want[fmt.Sprint("large=", c.Key)] = append(want[fmt.Sprint("large=", c.Key)], c.Address)
		}
	}
	for n := int64(-2); n < 120; n++ {
		require.Equal(t, want[fmt.Sprint("n=", n)], found(t, w, "n", n), "n=%d", n)
	}
	for _, key := range []string{"a", "b", "c", "d"} {
		require.Equal(t, want["large="+key], found(t, w, "large", key), "large=%s", key)
	}
}

// found returns the addresses of the cells that an index finds.
func found(t require.TestingT, w *world.World, index string, values ...value.Value) (addresses []string) {
	list, err := w.Find("", index, values)
	require.NoError(t, err)
	for c := range list {
		addresses = append(addresses, c.Address)
	}
	require.NoError(t, w.Err())
	return addresses
}

// peopleWorld has indexes of all kinds of values.
const peopleWorld = `
kind: World
name: people
types: {Put: {record: {id: uuid, price: dec128, since: time, color: option<text>, home: {record: {zip: text}}}}}
machines:
  person:
    key: uuid
    state: Put
    event: [Put]
    emits: []
    indexes:
      id: "{{ key }}"
      price: "{{ state.price }}"
      since: "{{ state.since }}"
      color: "{{ state.color }}"
      zip: "{{ state.home.zip }}"
      both: "{{ [state.color, state.home.zip] }}"
      broken: "{{ 1 / len(state.home.zip) }}"
    rules: [{event: Put, when: "{{ event.home.zip == '0' }}", delete: true}, {event: Put, set: "{{ event }}"}]
  other: {state: {record: {}}, event: [Put], emits: [], indexes: {color: "{{ 1 }}"}, rules: []}
routing: {subscriptions: [{event: Put, machine: person, key_field: id}]}
`

// TestFind: cells are found by the current normal forms of values, before and after a snapshot.
func TestFind(t *testing.T) {
	d := drive(t, peopleWorld)
	w := world.Of(d.root)
	const ann, bob = "00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"
	put := func(id, price, since string, color any, zip string) {
		require.NoError(t, d.send("Put", map[string]any{
			"id": id, "price": price, "since": since, "color": color, "home": map[string]any{"zip": zip},
		}, ""))
	}
	put(ann, "1.50", "2026-01-01T00:00:00Z", "red", "1")
	put(bob, "1.5", "2026-01-01T01:00:00+01:00", nil, "")
	both := []string{`person["` + ann + `"]`, `person["` + bob + `"]`}
	look := func() {
		t.Helper()
		require.Equal(t, both[:1], found(t, w, "id", "00000000-0000-4000-8000-00000000000A"))
		require.Equal(t, both, found(t, w, "price", "1.500"))
		require.Equal(t, both, found(t, w, "since", "2026-01-01T02:00:00+02:00"))
		require.Equal(t, both[:1], found(t, w, "color", "blue", "red"))
		require.Equal(t, both[1:], found(t, w, "zip", ""))
		require.Equal(t, both[:1], found(t, w, "both", []any{"red", "1"}))
		require.Equal(t, both[:1], found(t, w, "broken", int64(1)), "what cannot be computed is not found")
		require.Nil(t, found(t, w, "color", nil), "null is not found")
		require.Nil(t, found(t, w, "color", "Red"))
	}
	look()
	d.snapshot()
	look()
	put(ann, "1.50", "2026-01-01T00:00:00Z", "blue", "0")
	put(bob, "2", "2026-01-01T00:00:00Z", "red", "2")
	require.Equal(t, both[1:], found(t, w, "color", "red"))
	require.Nil(t, found(t, w, "zip", "1", ""), "one is gone, the other has another")
	e := d.snapshot()
	require.Equal(t, both[1:], found(t, w, "color", "red"))
	require.Nil(t, found(t, w, "zip", "1", ""))
	root, err := d.restored(&e)
	require.NoError(t, err)
	require.Equal(t, both[1:], found(t, world.Of(root), "zip", "2"))
	_, err = w.Find("person", "colour", nil)
	require.EqualError(t, err, `unknown index "colour": there are both of person, broken of person, color of person, id of person, price of person, since of person, zip of person`)
	_, err = w.Find("other", "zip", nil)
	require.EqualError(t, err, `unknown index "zip": there are color of other`)
}

// TestFindReadsWhatItFinds: a search reads only the nodes above the cells that it finds, and these cells, for any number of others.
func TestFindReadsWhatItFinds(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine makes 10,000 cells")
	}
	for _, cells := range []int{500, 10_000} {
		d := drive(t, `
kind: World
name: w
types: {Put: {record: {id: int, n: int}}}
machines:
  m: {key: int, state: {record: {n: int}}, event: [Put], emits: [], indexes: {n: "{{ state.n }}"}, rules: [{event: Put, set: {n: "{{ event.n }}"}}]}
routing: {subscriptions: [{event: Put, machine: m, key_field: id}]}
`).forgetful()
		put := func(i int) { require.NoError(t, d.send("Put", map[string]any{"id": int64(i), "n": int64(i / 3)}, "")) }
		for i := range cells {
			put(i)
		}
		e := d.snapshot()
		put(300)
		root, err := d.restored(&e)
		require.NoError(t, err)
		before := d.fetched
		require.Equal(t, []string{"m[300]", "m[301]", "m[302]"}, found(t, world.Of(root), "n", int64(100)))
		// of the index at most 4 nodes; of the two cells that are not in memory at most 4, and the state
		require.LessOrEqual(t, d.fetched-before, 4+2*5, "of %d cells", cells)
	}
}

// TestIndexesLeaveTheRootsOfCells: indexes do not change the roots of cells.
func TestIndexesLeaveTheRootsOfCells(t *testing.T) {
	plain := drive(t, sumWorld)
	indexed := drive(t, sumWorldWith("    indexes: {n: \"{{ state.n }}\"}\n"))
	for i := range 200 {
		for _, d := range []*driver{plain, indexed} {
			it := addOne(i)
			d.turn(it)
		}
	}
	roots := func(d *driver) any { return d.snapshot().Value.(map[string]any)["roots"] }
	require.Equal(t, roots(plain), roots(indexed))
	require.True(t, slices.ContainsFunc(indexed.events, func(e journal.Event) bool {
		v, _ := e.Value.(map[string]any)
		return v["indexes"] != nil
	}))
}

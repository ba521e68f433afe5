package world_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/template/plan"
)

// life runs the world of worldText with many cells that have mail at once and are answered in mixed order. The same seed yields
// the same journal.
func life(t failer, p *plan.Plan, seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	d := begin(t, p, false)
	whats := []string{"add", "ask", "two", "hear", "bad", "del", "end", "drop"}
	for range 20 {
		refused := make([]error, 1+random.IntN(20))
		items := make([]decide.Item, len(refused))
		for i := range items {
			items[i] = message("Do", "", map[string]any{
				"id": fmt.Sprint("k", random.IntN(6)), "what": whats[random.IntN(len(whats))], "n": random.Int64N(6) - 2,
			}, &refused[i])
		}
		d.turn(items...)
		open := d.root.OpenCalls()
		random.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
		items = items[:0]
		for i, req := range open[:random.IntN(len(open)+1)] {
			outputs := []any{int64(i), "none", nil}
			items = append(items, d.ended(d.root.Key(req.Node), req.Attempt, call.Result{Output: outputs[random.IntN(3)]}))
		}
		d.turn(items...)
		d.now += int64(time.Second)
		d.turn()
	}
	return d.journal(t)
}

// TestSameJournalEverywhere runs the same lives with one processor and with eight, many at once over one plan: their journals
// are equal, byte for byte.
func TestSameJournalEverywhere(t *testing.T) {
	p := planOf(t, worldText)
	var want [4][]byte
	for seed := range want {
		want[seed] = life(t, p, uint64(seed))
		require.Greater(t, len(want[seed]), 10_000)
	}
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, processors := range []int{1, 8} {
		runtime.GOMAXPROCS(processors)
		var all sync.WaitGroup
		got := make([][]byte, 100)
		for i := range got {
			all.Go(func() { got[i] = life(t, p, uint64(i%len(want))) })
		}
		all.Wait()
		for i := range got {
			require.True(t, bytes.Equal(want[i%len(want)], got[i]), "life %d with %d processors", i, processors)
		}
	}
}

// TestCellsDoNotMeet sends 1,000 cells messages and answers that name their cells, all in mixed order. A cell fails if it
// receives one of another cell.
func TestCellsDoNotMeet(t *testing.T) {
	p := planOf(t, `
kind: World
name: w
types:
  Add: {record: {id: text, n: nat}}
  Added: {record: {id: text, n: nat}}
effects: {ask: {params: {record: {id: text}}, receipt: {record: {id: text, n: nat}}}}
machines:
  m:
    key: text
    state: {record: {id: text, n: nat, asked: nat}}
    event: [Add, Added]
    emits: [ask, timer]
    rules:
      - {event: Add, when: "{{ event.id != key || cell.key != key || (state ?? {id: key}).id != key }}", fail: {code: met}}
      - {event: Added, when: "{{ event.id != key || state.id != key }}", fail: {code: met}}
      - {event: ask, when: "{{ event.payload.id != key || state.id != key }}", fail: {code: met}}
      - event: Add
        set: {id: "{{ key }}", n: "{{ (state ?? {n: 0}).n + event.n }}", asked: "{{ (state ?? {asked: 0}).asked + 1 }}"}
        raise: [{event: Added, value: {id: "{{ key }}", n: 1000}}]
        emit: [{effect: ask, params: {id: "{{ key }}"}}]
      - {event: Added, set: {n: "{{ state.n + event.n }}"}}
      - {event: ask, set: {n: "{{ state.n + event.payload.n }}"}}
routing: {subscriptions: [{event: Add, machine: m, key_field: id}, {event: Added, machine: m, key_field: id}]}
`)
	const keys, rounds = 1_000, 3
	random := rand.New(rand.NewPCG(1, 2))
	d := begin(t, p, false)
	want := map[string]int64{}
	for range rounds {
		refused := make([]error, keys)
		items := make([]decide.Item, keys)
		for i, k := range random.Perm(keys) {
			id := fmt.Sprint("key ", k)
			want[id] += int64(k) + 1000
			items[i] = message("Add", "", map[string]any{"id": id, "n": int64(k)}, &refused[i])
		}
		d.turn(items...)
		for _, err := range refused {
			require.NoError(t, err)
		}
		open := d.root.OpenCalls()
		require.Len(t, open, keys)
		random.Shuffle(keys, func(i, j int) { open[i], open[j] = open[j], open[i] })
		for i, req := range open {
			input := d.root.Requested(req.Node).(map[string]any)
			id := input["id"].(string)
			want[id] += int64(i)
			items[i] = d.ended(d.root.Key(req.Node), req.Attempt, call.Result{Output: map[string]any{"id": id, "n": int64(i)}})
		}
		d.turn(items...)
	}
	seen := 0
	for c := range d.world().Cells() {
		require.Nil(t, c.Failure, c.Address)
		require.Empty(t, c.Intents)
		require.Zero(t, c.Mail)
		state := c.State.(map[string]any)
		id := c.Key.(string)
		require.Equal(t, map[string]any{"id": id, "n": want[id], "asked": int64(rounds)}, state)
		seen++
	}
	require.Equal(t, keys, seen)
	require.Equal(t, 3*rounds*keys, d.world().Tally().Stepped)
}

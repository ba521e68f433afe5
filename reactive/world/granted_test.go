package world_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
)

// The calls of this world take places of which there is one.
const narrowWorld = `
kind: World
name: narrow
types:
  Add: {record: {id: text}}
effects:
  pay: {params: {record: {id: text}}, receipt: int, max_concurrency: 1, timing: {retry: {max_attempts: 2, backoff: PT5S}}}
machines:
  sum:
    key: text
    state: {record: {id: text}}
    event: [Add]
    emits: [pay]
    rules: [{event: Add, set: {id: "{{ key }}"}, emit: [{effect: pay, params: {id: "{{ key }}"}}]}]
routing: {subscriptions: [{event: Add, machine: sum, key_field: id}]}
`

// TestAPlaceThatWasGivenIsInTheSnapshot: a call that has its place, and is not yet requested because the world is paused, keeps it
// before one that was opened earlier and is due again. From a snapshot the world goes on with the same call.
func TestAPlaceThatWasGivenIsInTheSnapshot(t *testing.T) {
	d := drive(t, narrowWorld)
	for _, id := range []string{"a", "b"} {
		require.NoError(t, d.send("Add", map[string]any{"id": id}, ""))
	}
	first := d.root.OpenCalls()
	require.Len(t, first, 1, "the other waits for its place")
	require.NoError(t, d.take(journal.Event{Type: journal.RunPaused}))
	d.answer(first[0], call.Result{Failure: &journal.Failure{Code: "busy", Retryable: true}})
	d.now += int64(time.Minute)
	d.turn() // the call of a is due again, after the place was given to that of b
	e := d.snapshot()
	root, err := d.restored(&e)
	require.NoError(t, err)
	require.Equal(t, d.digest(d.replayed()), d.digest(root))
	d.use(root)
	require.NoError(t, d.take(journal.Event{Type: journal.RunResumed}))
	open := d.root.OpenCalls()
	require.Len(t, open, 1)
	params, _ := world.Of(d.root).Input(open[0].Node)
	require.Equal(t, map[string]any{"id": "b"}, params)
	require.Equal(t, d.digest(d.replayed()), d.digest(d.root))
}

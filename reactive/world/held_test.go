package world_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
)

// The calls of this world need a slot, of which there is only one.
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

// TestAPlaceThatWasGivenIsInTheSnapshot: a call that has its slot, but is not requested yet because the world is paused, keeps it
// although a call that was opened earlier is due again. From a snapshot, the world continues with the same call.
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
	d.turn() // the call of a is due again, after the call of b received the slot
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

// TestAnAnswerThatWaitsForADecisionIsInTheSnapshot: an invalid answer that a person has not accepted yet is also a fault after a
// restoration.
func TestAnAnswerThatWaitsForADecisionIsInTheSnapshot(t *testing.T) {
	d := drive(t, strings.Replace(narrowWorld, "max_concurrency: 1", "fulfillment: {policy: external_decision, decision_source: {kind: operator}}", 1))
	require.NoError(t, d.send("Add", map[string]any{"id": "a"}, ""))
	open := d.root.OpenCalls()
	require.Len(t, open, 1)
	d.answer(open[0], call.Result{Output: "no"})
	e := d.snapshot()
	root, err := d.restored(&e)
	require.NoError(t, err)
	require.Equal(t, d.digest(d.replayed()), d.digest(root))
	d.use(root)
	require.NoError(t, d.take(journal.Event{Type: journal.DecisionReceived, Node: "sum[a].pay@3.0", Attempt: 1,
		Detail: &journal.Detail{State: "fulfilled", Actor: "ann", Reason: "why"}}))
	c, ok := d.world().Cell("sum[a]")
	require.True(t, ok)
	require.Equal(t, world.Failed, c.Status)
	require.Equal(t, "receipt_invalid", c.Failure.Code)
	require.Equal(t, d.digest(d.replayed()), d.digest(d.root))
}

// TestAPauseFromAboveIsInTheSnapshot: a world that was paused with its parent run resumes only with that run.
func TestAPauseFromAboveIsInTheSnapshot(t *testing.T) {
	for _, causes := range [][]string{{"above"}, {"above", ""}, {""}} {
		d := &driver{t: t, plan: planOf(t, narrowWorld), now: epoch, store: store{content: map[journal.Hash][]byte{}}}
		d.use(d.empty())
		require.NoError(t, d.take(decide.Started("above/w", d.plan, nil, decide.Limits{})))
		require.NoError(t, d.send("Add", map[string]any{"id": "a"}, ""))
		for _, cause := range causes {
			require.NoError(t, d.take(journal.Event{Type: journal.RunPaused, Detail: &journal.Detail{Cause: cause}}))
		}
		require.NoError(t, d.send("Add", map[string]any{"id": "b"}, ""))
		e := d.snapshot()
		root, err := d.restored(&e)
		require.NoError(t, err)
		require.Equal(t, slices.Contains(causes, "above"), root.PausedFromAbove())
		require.Equal(t, slices.Contains(causes, ""), root.Stopped())
		require.Equal(t, d.digest(d.replayed()), d.digest(root))
	}
}

package world_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
)

// The machine of this world takes no rejections: an invalid receipt fails its cell.
const strictWorld = `
kind: World
name: strict
types:
  Add: {record: {id: text, n: int}}
effects:
  pay: {params: {record: {n: int}}, receipt: {record: {ok: bool}}}
machines:
  sum:
    key: text
    state: {record: {n: int}}
    event: [Add]
    emits: [pay]
    ttl: PT60S
    rules:
      - {event: Add, set: {n: "{{ event.n }}"}, emit: [{effect: pay, params: {n: "{{ event.n }}"}}]}
routing: {subscriptions: [{event: Add, machine: sum, key_field: id}]}
`

// faulted returns a paused world with a cell that has an invalid receipt. The cell fails when the world resumes.
func faulted(t *testing.T, text string) *driver {
	d := drive(t, text)
	require.NoError(t, d.send("Add", map[string]any{"id": "a", "n": int64(1)}, ""))
	open := d.root.OpenCalls()
	require.Len(t, open, 1)
	require.NoError(t, d.take(journal.Event{Type: journal.RunPaused}))
	d.answer(open[0], call.Result{Output: "no"})
	return d
}

func (d *driver) requireFailed(t *testing.T) {
	t.Helper()
	require.NoError(t, d.take(journal.Event{Type: journal.RunResumed}))
	c, ok := world.Of(d.root).Cell("sum[a]")
	require.True(t, ok)
	require.Equal(t, world.Failed, c.Status)
	require.Equal(t, "receipt_invalid", c.Failure.Code)
	require.Equal(t, map[string]any{"n": int64(1)}, c.State)
	require.Equal(t, 1, world.Of(d.root).Tally().Failed)
	require.Equal(t, 1, world.Of(d.root).Tally().Faults)
}

// TestAFaultOfAPausedWorldIsInItsSnapshot: a snapshot records that a cell must fail when its world resumes.
func TestAFaultOfAPausedWorldIsInItsSnapshot(t *testing.T) {
	d := faulted(t, strings.Replace(strictWorld, "    ttl: PT60S\n", "", 1))
	e := d.snapshot()
	root, err := d.restored(&e)
	require.NoError(t, err)
	require.Equal(t, d.digest(d.replayed()), d.digest(root))
	d.use(root)
	d.requireFailed(t)
}

// TestAFaultOutlivesTheTimeToLive: a cell that must fail does not expire before.
func TestAFaultOutlivesTheTimeToLive(t *testing.T) {
	d := faulted(t, strictWorld)
	d.now += int64(time.Hour)
	d.turn()
	d.requireFailed(t)
}

package bulk_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/bulk"
	"github.com/sluiceflow/sluice/coordinator/retention"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// The rule for runs that no other rule selects also deletes the outcomes of acts for each run, with the definitions that only these acts
// needed. Acts that have not ended stay, and so do the sums of all acts.
func TestWhatActsHaveDoneIsCollected(t *testing.T) {
	s := &mortal{Store: memory.New()}
	s.left.Store(immortal)
	e := engineOn(t, s)
	started(t, e, waiting, "w", 3)
	done(t, e, bulk.Act{Verb: "pause", Where: "w"})
	moved, report := done(t, e, bulk.Act{Verb: "move", Where: "w0", Workflow: parse(t, waitingMore)})
	require.Equal(t, 1, moved.Done, report)
	collect := func(dry bool, rules ...retention.Rule) (retention.Collected, []string) {
		var gone []string
		sum, err := e.Collect(t.Context(), retention.Collection{Dry: dry, Rules: rules, Found: func(g retention.Gone) error {
			gone = append(gone, fmt.Sprintf("%s %s", g.Kind, g.Name))
			require.Positive(t, g.Bytes)
			return nil
		}})
		require.NoError(t, err)
		return sum, gone
	}
	sum, _ := collect(false)
	require.Zero(t, sum.Acts, "there is no rule")
	sum, _ = collect(false, retention.Rule{Where: "workflow:waiting"}, retention.Rule{Keep: retention.Forever})
	require.Zero(t, sum.Acts, "no query selects an act")
	sum, _ = collect(false, retention.Rule{Keep: time.Hour})
	require.Zero(t, sum.Acts, "they have just ended")
	sum, gone := collect(true, retention.Rule{})
	require.Equal(t, []string{"act 2", "act 1"}, gone)
	require.Equal(t, 2, sum.Acts)
	require.Len(t, reportOf(t, e, 1), 3, "that was dry")

	s.left.Store(4) // act, choice, a command, its record: the next command dies
	bulk.SetSlice(e.Acts, 1)
	id, err := e.BeginBulk(t.Context(), bulk.Act{Verb: "resume", Where: "w", Expect: 3})
	require.NoError(t, err)
	_, err = e.AwaitBulk(t.Context(), id)
	require.ErrorIs(t, err, errDead)
	s.left.Store(immortal)
	sum, gone = collect(false, retention.Rule{})
	require.Equal(t, []string{"act 2", "act 1"}, gone)
	require.Equal(t, 2, sum.Acts)
	sum, _ = collect(false, retention.Rule{})
	require.Zero(t, sum.Acts)

	for o, err := range e.BulkOutcomes(t.Context(), 1) {
		require.ErrorIs(t, err, bulk.ErrNotFound, o)
	}
	status, err := e.BulkAct(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, 3, status.Done, "its sums stay")
	require.Len(t, reportOf(t, e, 3), 3, "it has not ended")
}

// A definition that only an act needs is deleted with the stream of the act, and a dry collection foresees that.
func TestADefinitionGoesWithTheActThatNeedsIt(t *testing.T) {
	e := engineOn(t, memory.New())
	started(t, e, waiting, "w", 1)
	require.NoError(t, mustRun(t, e, "w0").Cancel(t.Context(), ""))
	ended(t, e, "w0")
	s, _ := done(t, e, bulk.Act{Verb: "move", Where: "w", Workflow: parse(t, waitingMore)})
	require.Equal(t, 1, s.Already)
	for _, dry := range []bool{true, false} {
		sum, err := e.Collect(context.Background(), retention.Collection{Dry: dry, Rules: []retention.Rule{{}}})
		require.NoError(t, err)
		require.Equal(t, [3]int{1, 1, 2}, [3]int{sum.Runs, sum.Acts, sum.Definitions}, "dry: %v", dry)
	}
	for act, err := range e.BulkOutcomes(t.Context(), 1) {
		require.ErrorIs(t, err, bulk.ErrNotFound, act)
	}
	require.Equal(t, "#bulk/1", journal.BulkStream(1))
}

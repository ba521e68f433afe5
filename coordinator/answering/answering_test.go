package answering_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/answering"
	"github.com/sluiceflow/sluice/coordinator/calllog"
	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/workers"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// runs refuses all items, and records them.
type runs struct {
	why   error
	items []decide.Item
}

func (r *runs) Pass(_ context.Context, _ string, it decide.Item, others ...decide.Item) func() error {
	r.items = append(append(r.items, it), others...)
	return func() error { return r.why }
}

func (r *runs) Look(context.Context, string, func(*reactive.Root)) error { return r.why }

func (r *runs) Ring(context.Context, *reactive.Root) *keychain.Ring { return nil }

// A call whose run has ended, or was deleted, is gone; any other error stays one.
func TestWhatIsSaidOfARunThatTakesNothing(t *testing.T) {
	for _, test := range []struct {
		why  error
		was  string
		stay bool
	}{
		{fmt.Errorf("run r: %w", decide.ErrFinished), "the run has ended", false},
		{fmt.Errorf("%w: r", decide.ErrRunNotFound), "the run was deleted", false},
		{decide.ErrShutdown, "", true},
		{nil, "", false},
	} {
		calls := answering.New(&runs{why: test.why}, calllog.New(), slog.New(slog.DiscardHandler))
		was, err := calls.Answer(t.Context(), workers.ID{Run: "r", Node: "a", Attempt: 1}, call.Result{}, false)()
		require.Equal(t, test.was, was)
		require.Equal(t, test.stay, err != nil)
		ring, was, err := calls.Secrets(t.Context(), "r")
		require.Nil(t, ring)
		require.Equal(t, test.was, was)
		require.Equal(t, test.stay, err != nil)
	}
}

// An answer is two items: one that looks, and one that ends the call if it has not ended, or if the answer counts as late.
func TestAnAnswerLooksBeforeItEndsTheCall(t *testing.T) {
	for _, late := range []bool{false, true} {
		r := &runs{}
		calls := answering.New(r, calllog.New(), slog.New(slog.DiscardHandler))
		calls.Answer(t.Context(), workers.ID{Run: "r", Node: "a", Attempt: 2, Participant: "bob"}, call.Result{Output: 1}, late)
		require.Len(t, r.items, 2)
		require.NotNil(t, r.items[0].Look)
		end := r.items[1]
		require.Equal(t, journal.CallResponded, end.Event.Type)
		require.Equal(t, "a", end.Event.Node)
		require.EqualValues(t, 2, end.Event.Attempt)
		require.Equal(t, "bob", end.Event.Detail.Participant)
		require.True(t, end.If(nil))
	}
}

func TestADecisionHasNoReports(t *testing.T) {
	r := &runs{}
	calls := answering.New(r, calllog.New(), slog.New(slog.DiscardHandler))
	require.ErrorIs(t, calls.Report(t.Context(), workers.ID{Run: "r", Node: "a", Decision: 1}, 1, 1, "k", nil), operation.ErrNoCall)
	require.Empty(t, r.items)
	require.NoError(t, calls.Report(t.Context(), workers.ID{Run: "r", Node: "a", Attempt: 1}, 1, 1, "k", nil))
	require.Equal(t, journal.CallReported, r.items[0].Event.Type)
}

package coordinator_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// TestARetryHasTheKeyOfItsStep, or, from the retry on, a new key: the automatic attempts that follow, another engine that goes on, and
// later retries have it, too. Other steps keep theirs.
func TestARetryHasTheKeyOfItsStep(t *testing.T) {
	g := newGate()
	config := coordinator.Config{Operations: []coordinator.Operation{g.define("pay"), echo}}
	store := &kept{Store: memory.New()}
	e, err := coordinator.New(t.Context(), store, config)
	require.NoError(t, err)
	r := start(t, e, `
kind: Workflow
name: w
steps:
  - {operation: echo}
  - {map: {id: each, over: "{{ [7] }}", steps: [{id: pay, operation: pay, timing: {retry: {max_attempts: 20, backoff: PT0.001S}}}]}}`,
		coordinator.WithID("r"))
	no, final := errors.New("no"), &operation.Error{Code: "no", Permanent: true}
	entered := func(attempt int32) string {
		call := <-g.entered
		require.Equal(t, attempt, call.Attempt)
		return call.Key()
	}
	fails := func(attempt int32, key string) {
		g.leave <- no
		require.Equal(t, key, entered(attempt))
		g.leave <- final
		require.Equal(t, key, entered(attempt+1), "of the automatic retry")
		require.Equal(t, reactive.RunFailed, wait(t, r).Status)
	}
	fails(1, "r/pay[0]")
	require.NoError(t, r.Retry(t.Context(), "pay[0]"))
	fails(3, "r/pay[0]")

	require.NoError(t, r.Retry(t.Context(), "pay[0]", coordinator.NewKey()))
	fresh := entered(5)
	require.True(t, strings.HasPrefix(fresh, "r/pay[0]#"), fresh)
	g.leave <- no
	require.Equal(t, fresh, entered(6), "of the automatic retry")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, e.Shutdown(ended))

	e, err = coordinator.New(t.Context(), store, config)
	require.NoError(t, err)
	require.Equal(t, fresh, entered(6), "of another engine")
	r, err = e.Run(t.Context(), "r")
	require.NoError(t, err)
	g.leave <- final
	require.Equal(t, reactive.RunFailed, wait(t, r).Status)
	require.NoError(t, r.Retry(t.Context(), "pay[0]"))
	fails(7, fresh)
	require.NoError(t, r.Retry(t.Context(), "echo"))
	require.Equal(t, reactive.RunFailed, wait(t, r).Status)

	require.NoError(t, r.Retry(t.Context(), "pay[0]", coordinator.NewKey()))
	g.leave <- nil
	third := entered(9)
	require.NotEqual(t, fresh, third)
	require.NoError(t, wait(t, r).Err())
	require.Equal(t, []string{"", fresh[2:], "", "", third[2:]}, retriedKeys(t, r))
	require.NoError(t, e.Shutdown(t.Context()))
}

// retriedKeys returns the texts that the retries of a run have put in place of a step in its key.
func retriedKeys(t *testing.T, r *coordinator.Run) (list []string) {
	for u, err := range r.Watch(t.Context(), 1) {
		require.NoError(t, err)
		if u.Event.Type == journal.NodeRetried {
			list = append(list, u.Event.Detail.Key)
		}
	}
	return list
}

// TestANewKeyIsForEachParticipant of a fan-out: the keys of one attempt are different.
func TestANewKeyIsForEachParticipant(t *testing.T) {
	var fail bool
	keys := make(chan string, 4)
	solicit := operation.Define("solicit", func(ctx context.Context, _ any) (any, error) {
		keys <- operation.CallOf(ctx).Key()
		if fail {
			return nil, errors.New("no")
		}
		return "yes", nil
	})
	fail = true
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{solicit}})
	r := start(t, e, `
kind: Workflow
name: w
directory: {participants: {ann: {}, bob: {}}, capabilities: {offers: [{participant: ann}, {participant: bob}]}}
steps: [{operation: solicit, id: ask, target: {resolve: capability, capability_id: offers}}]`, coordinator.WithID("r"))
	require.Equal(t, reactive.RunFailed, wait(t, r).Status)
	require.ElementsMatch(t, []string{"r/ask/ann", "r/ask/bob"}, []string{<-keys, <-keys})
	fail = false
	require.NoError(t, r.Retry(t.Context(), "ask", coordinator.NewKey()))
	require.NoError(t, wait(t, r).Err())
	part := retriedKeys(t, r)[0]
	require.ElementsMatch(t, []string{"r/" + part + "/ann", "r/" + part + "/bob"}, []string{<-keys, <-keys})
}

// TestANewKeyIsRefused if no call of the step would have it, and nothing is journaled.
func TestANewKeyIsRefused(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}})
	refused := func(r *coordinator.Run, step, why string) {
		before, err := r.State(t.Context())
		require.NoError(t, err)
		err = r.Retry(t.Context(), step, coordinator.NewKey())
		require.ErrorIs(t, err, coordinator.ErrNotPossible)
		require.ErrorContains(t, err, why)
		after, err := r.State(t.Context())
		require.NoError(t, err)
		require.Equal(t, before.Seq, after.Seq)
	}
	judged := start(t, e, `
kind: Workflow
name: w
steps: [{operation: echo, id: a, fulfillment: {policy: external_decision, decision_source: {kind: operator}, on_not_fulfilled: pause}}]`)
	for u, err := range judged.Watch(t.Context(), 1) {
		require.NoError(t, err)
		if u.Event.Type == journal.CallResponded {
			break
		}
	}
	refused(judged, "a", `only the decision about step "a" is open`)
	require.NoError(t, judged.Retry(t.Context(), "a", coordinator.RepeatWork(), coordinator.NewKey()))

	checked, err := kinds.Load("alarm.yaml", []byte(alarmWorld), template.Known{})
	require.NoError(t, err)
	w, err := e.Start(t.Context(), checked.Workflow, nil)
	require.NoError(t, err)
	refused(w, "clock[a]", "the cells of a world choose the idempotency keys of their calls")
}

// TestANewKeyInAPlaybook is for the call that waits for its next attempt; the call of the same task when its step runs again has its own.
func TestANewKeyInAPlaybook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{g.define("pay")}})
		r := begin(t, e, once(`
      - {name: first, kind: pay, timing: {retry: {max_attempts: 3, backoff: PT1H}}, `+keep("a", "{{ outcome.status }}")+`}
      - {name: second, kind: pay, `+keep("b", "{{ outcome.status }}")+`}
`), nil, coordinator.WithID("r"))
		g.leave <- errors.New("no")
		require.Equal(t, "r/s@1.first", (<-g.entered).Key())
		synctest.Wait()
		require.NoError(t, r.Retry(t.Context(), "s@1.first", coordinator.NewKey()))
		g.leave <- errors.New("no")
		fresh := (<-g.entered).Key()
		require.True(t, strings.HasPrefix(fresh, "r/s@1.first#"), fresh)
		g.leave <- nil
		require.Equal(t, fresh, (<-g.entered).Key(), "of the automatic retry")
		g.leave <- nil
		require.Equal(t, "r/s@1.second", (<-g.entered).Key())
		require.NoError(t, wait(t, r).Err())
	})
}

package coordinator_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

func history(t *testing.T, r *coordinator.Run, from uint64) (list []coordinator.Update) {
	for u, err := range r.History(t.Context(), from) {
		require.NoError(t, err)
		list = append(list, u)
	}
	return list
}

// TestObserversReceiveTheEffectOfAnEvent: a late answer is marked as late, changes of a task come with the event that caused
// them, and failures that follow from another name its origin.
func TestObserversReceiveTheEffectOfAnEvent(t *testing.T) {
	deaf := make(chan struct{})
	ask := operation.Define("ask", func(ctx context.Context, _ any) (string, error) {
		if operation.CallOf(ctx).Participant == "slow" { // it ignores the end of its context
			<-deaf
		}
		return "answer", nil
	})
	stop := operation.Define("stop", func(context.Context, any) (any, error) { return nil, operation.Permanent(operation.ErrUnreachable) })
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{ask, stop, echo}})
	r := start(t, e, `
kind: Workflow
name: w
operations: {mail: {wait: {message: go}}}
steps:
  - {operation: ask, target: {resolve: static, participants: [slow, quick]}, fan_in: {policy: any_one}}
  - {operation: echo, id: check, fulfillment: {policy: external_decision, decision_source: {kind: operator}}}
  - parallel:
      steps:
        - {operation: stop}
        - {operation: mail}
  - {operation: echo, id: end}`)
	require.NoError(t, untilStatus(t, r, reactive.RunWaiting))
	close(deaf)
	for u, err := range r.Watch(t.Context(), 1) {
		require.NoError(t, err)
		if u.Outcome == reactive.Late {
			require.Equal(t, "slow", u.Event.Detail.Participant)
			require.Empty(t, u.Changes)
			break
		}
	}
	require.NoError(t, r.As("ann").Decide(t.Context(), "check", true, "fine"))
	require.NoError(t, r.Send(t.Context(), "go", nil))
	require.Equal(t, "stop", wait(t, r).Failure.Step)

	updates := history(t, r, 0)
	require.Equal(t, history(t, r, 1), updates, "0 and 1 both mean the start")
	require.Equal(t, updates[3:], history(t, r, 4))
	var tasks []string
	for _, u := range updates {
		for _, c := range u.Tasks {
			tasks = append(tasks, strings.Join([]string{u.Event.Type.String(), c.Step, string(c.From), string(c.To)}, " "))
			require.EqualValues(t, 1, c.Attempt)
		}
		for _, c := range u.Changes {
			if c.Step == "end" && c.To == reactive.Aborted {
				require.Equal(t, reactive.CodeDependency, c.Failure.Code)
				require.Equal(t, "stop", c.Failure.Step)
			}
		}
	}
	require.Equal(t, []string{"call.responded check none pending", "decision.received check pending fulfilled"}, tasks)
}

// TestAStateShowsTheResultsOfSteps: their outputs, the branch that was taken, and the times when participants were asked and
// answered.
func TestAStateShowsTheResultsOfSteps(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{quote, echo}})
	r := start(t, e, `
kind: Workflow
name: w
steps:
  - {operation: quote, target: {resolve: static, participants: [a, broken]}, fan_in: {policy: quorum, min_responses: 1}}
  - conditional:
      id: choice
      test: quote
      then: [{operation: echo, id: yes_, input: chosen}]
      else: [{operation: echo, id: no_}]
output: "{{ steps.yes_.output ?? null }}"`)
	wait(t, r)
	s, err := r.State(t.Context())
	require.NoError(t, err)
	step := func(key string) *coordinator.StepState {
		return &s.Steps[slices.IndexFunc(s.Steps, func(s coordinator.StepState) bool { return s.Step == key })]
	}
	require.Equal(t, plan.Then, step("choice").Branch)
	out, err := r.Output(t.Context(), "yes_", "")
	require.NoError(t, err)
	require.Equal(t, "chosen", decoded(t, out))
	require.Equal(t, "chosen", decoded(t, step("yes_").Output))
	for _, d := range step("quote").Dispatches {
		require.NotZero(t, d.Asked)
		require.GreaterOrEqual(t, d.At, d.Asked)
	}
	out, err = r.Output(t.Context(), "quote", "a")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"by": "a", "price": int64(1)}, decoded(t, out))
	_, err = r.Output(t.Context(), "quote", "broken")
	require.ErrorIs(t, err, coordinator.ErrNotPossible)
	require.ErrorContains(t, err, "has given no answer")
	_, err = r.Output(t.Context(), "quote", "nobody")
	require.ErrorContains(t, err, `has not asked "nobody"`)
	_, err = r.Output(t.Context(), "no_", "")
	require.ErrorContains(t, err, `step "no_" has no output: it is skipped`)
	_, err = r.Output(t.Context(), "nothing", "")
	require.ErrorIs(t, err, coordinator.ErrStepNotFound)
	out, err = r.Output(t.Context(), "", "")
	require.NoError(t, err)
	require.Equal(t, "chosen", decoded(t, out))
}

func decoded(t *testing.T, v any) value.Value {
	out, err := value.Of(v)
	require.NoError(t, err)
	return out
}

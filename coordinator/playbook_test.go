package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/kinds"
)

// routes parses a playbook.
func routes(t testing.TB, text string) *template.Workflow {
	nodes, err := document.Parse("test.yaml", []byte("apiVersion: sluice/v1\nkind: Playbook\nmetadata: {name: p}\n"+text), document.Limits{})
	require.NoError(t, err)
	w, err := kinds.ParseNode(nodes[0])
	require.NoError(t, err)
	return w
}

func begin(t testing.TB, e *coordinator.Engine, text string, input any, opts ...coordinator.Option) *coordinator.Run {
	r, err := e.Start(t.Context(), routes(t, text), input, opts...)
	require.NoError(t, err)
	return r
}

const gated = `
workflow:
  - step: ask
    tool: {kind: echo, input: {n: "{{ workload.n }}"}}
    next: {arcs: [{step: tell, args: {n: "{{ event.result.n }}"}}]}
  - step: tell
    spec: {policy: {admit: {rules: [{when: "{{ ctx.ok == true }}", then: {allow: true}}]}}}
    tool: {kind: echo, input: {n: "{{ args.n }}", by: "{{ ctx.who.name }}"}}
`

// until waits until a run has a status.
func until(t testing.TB, r *coordinator.Run, status reactive.RunStatus) *coordinator.State {
	for u, err := range r.Watch(t.Context(), 1) {
		require.NoError(t, err)
		if u.Status == status {
			s, err := r.State(t.Context())
			require.NoError(t, err)
			if s.Status == status {
				return s
			}
		}
	}
	require.Fail(t, "the run never had the status", string(status))
	return nil
}

func TestAPlaybookWaitsForItsContextAndGoesOnInAnotherProcess(t *testing.T) {
	open := reopen(t, echo)
	e := open()
	r := begin(t, e, gated, map[string]any{"n": 7}, coordinator.WithID("r"))
	s := until(t, r, reactive.RunWaiting)
	require.Equal(t, []coordinator.StepState{
		{Step: "ask", Status: reactive.Completed, Runs: 1, Output: map[string]any{"n": int64(7)}}, {Step: "tell", Status: reactive.Waiting, Tokens: 1},
	}, s.Steps)
	require.NoError(t, e.Shutdown(t.Context()))

	e = open()
	r, err := e.Run(t.Context(), "r")
	require.NoError(t, err)
	require.NoError(t, r.As("ann").Patch(t.Context(), map[string]any{"ok": true, "who.name": "ann"}))
	result := wait(t, r)
	require.NoError(t, result.Err())
	require.Equal(t, map[string]any{"n": int64(7), "by": "ann"}, result.Output)
	var actor string
	for event, err := range r.Events(t.Context(), 1) {
		require.NoError(t, err)
		if event.Type == journal.ContextPatched {
			actor = event.Detail.Actor
		}
	}
	require.Equal(t, "ann", actor)
	require.NoError(t, e.Shutdown(t.Context()))
}

func TestAPatchIsAtomic(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}})
	r := begin(t, e, gated, map[string]any{"n": 1})
	until(t, r, reactive.RunWaiting)
	require.NoError(t, r.Patch(t.Context(), map[string]any{"who": "somebody"}))
	err := r.Patch(t.Context(), map[string]any{"ok": true, "who.name": "ann"})
	require.ErrorIs(t, err, coordinator.ErrNotPossible)
	require.ErrorContains(t, err, "who is no object")
	require.ErrorIs(t, r.Patch(t.Context(), nil), coordinator.ErrNotPossible)
	for _, key := range []string{"", "a..b", "c.", ".d"} {
		err := r.Patch(t.Context(), map[string]any{"ok": true, key: 1})
		require.ErrorIs(t, err, coordinator.ErrNotPossible)
		require.ErrorContains(t, err, fmt.Sprintf("%q is no path: write key or key.inner", key))
	}
	require.NoError(t, r.Patch(t.Context(), map[string]any{"ok": true, "who": map[string]any{"name": "bob"}}))
	require.Equal(t, "bob", wait(t, r).Output.(map[string]any)["by"])
	require.ErrorIs(t, r.Patch(t.Context(), map[string]any{"ok": true}), coordinator.ErrFinished)

	w := start(t, e, `{kind: Workflow, name: w, operations: {rest: {wait: {message: m}}}, steps: [{operation: rest}]}`)
	require.ErrorContains(t, w.Patch(t.Context(), map[string]any{"ok": true}), "only playbooks have a context")
	require.NoError(t, w.Cancel(t.Context(), ""))
}

func TestABlockedRunFailsIfConfigSaysSo(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}, OnBlocked: template.BlockedFails})
	result := wait(t, begin(t, e, gated, map[string]any{"n": 1}))
	require.Equal(t, reactive.RunFailed, result.Status)
	require.Equal(t, "blocked", result.Failure.Code)
	r := begin(t, e, "executor: {spec: {policy: {on_blocked: wait}}}\n"+gated, map[string]any{"n": 1})
	until(t, r, reactive.RunWaiting)
	require.NoError(t, r.Cancel(t.Context(), "the playbook says that it waits"))
}

func TestARunOfAStepIsAborted(t *testing.T) {
	g := newGate()
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{g.define("slow"), echo}})
	r := begin(t, e, `
workflow:
  - step: work
    tool: {kind: slow}
    next: {arcs: [{step: mend, when: '{{ event.name == "step.failed" && event.error.kind == "aborted" }}', args: {why: "{{ event.error.message }}"}}]}
  - {step: mend, tool: {kind: echo, input: {why: "{{ args.why }}"}}}
`, nil)
	call := <-g.entered
	require.Equal(t, "work@1.work_task", call.Node)
	require.ErrorIs(t, r.Abort(t.Context(), "nobody@1", ""), coordinator.ErrStepNotFound)
	for _, refused := range []struct {
		err  error
		says string
	}{
		{r.Abort(t.Context(), "work", ""), "name the step-run, such as work@1"},
		{r.Abort(t.Context(), "work@2", ""), `step-run "work@2" is not under way`},
		{r.Retry(t.Context(), "work"), "a playbook's rules say what is attempted again"},
	} {
		require.ErrorIs(t, refused.err, coordinator.ErrNotPossible)
		require.ErrorContains(t, refused.err, refused.says)
	}
	require.NoError(t, r.Abort(t.Context(), "work@1", "too slow"))
	<-call.Done()
	result := wait(t, r)
	require.NoError(t, result.Err())
	require.Equal(t, map[string]any{"why": "too slow"}, result.Output)
	require.ErrorIs(t, r.Abort(t.Context(), "work@1", ""), coordinator.ErrFinished)
	require.ErrorIs(t, r.Retry(t.Context(), "work@1.work_task"), coordinator.ErrNotPossible, "the tokens of a playbook are spent")
}

// TestAnAbandonedCallKeepsItsRoom: a tool ignores its timeout, and returns long after its node has made other calls. Each call
// takes room until it returns, and in the end all room is free.
func TestAnAbandonedCallKeepsItsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		deaf := operation.Define("deaf", func(context.Context, any) (any, error) {
			if calls.Add(1)%2 == 1 {
				time.Sleep(10 * time.Second) // longer than its timeout
			}
			return nil, nil
		})
		e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{deaf, echo}, CallsMax: 3})
		r := begin(t, e, `
workflow:
  - step: each
    spec: {policy: {failure: {mode: best_effort}}}
    loop: {in: "{{ 1..20 }}", iterator: i}
    tool: {kind: deaf, timing: {timeout: PT1S}}
    next: {arcs: [{step: after, when: "{{ event.loop.failed == 10 && event.loop.done == 10 }}"}]}
  - {step: after, tool: {kind: echo, input: done}}
`, nil)
		result := wait(t, r)
		require.NoError(t, result.Err())
		require.Equal(t, "done", result.Output)
		require.EqualValues(t, 20, calls.Load())
		time.Sleep(time.Minute)
		for range 3 {
			require.NoError(t, wait(t, start(t, e, `{kind: Workflow, name: w, steps: [{parallel: {steps: [{operation: echo, id: a}, {operation: echo, id: b}, {operation: echo, id: c}]}}]}`)).Err())
		}
	})
}

func TestWatchYieldsTheRunsOfAPlaybooksSteps(t *testing.T) {
	broken := operation.Define("broken", func(context.Context, any) (any, error) { return nil, operation.Permanent(errors.New("no")) })
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{broken}})
	r := begin(t, e, `
workflow:
  - step: a
    tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {n: "{{ (ctx.n ?? 0) + 1 }}"}}}}]}}}
    next: {arcs: [{step: a, when: "{{ ctx.n < 2 }}"}, {step: b}]}
  - {step: b, tool: {kind: broken}}
`, nil)
	var moves []string
	for u, err := range r.Watch(t.Context(), 1) {
		require.NoError(t, err)
		for _, c := range u.Changes {
			moves = append(moves, c.Step+" "+c.To.String())
		}
	}
	require.Equal(t, []string{
		"a@1 running", "a@1 completed", "a@2 running", "a@2 completed", "b@1.b_task idle",
		"b@1.b_task ready", "b@1 running", "b@1.b_task running", "b@1.b_task failed", "b@1.b_task absent", "b@1 failed",
	}, moves)
	require.Equal(t, "error", wait(t, r).Failure.Code)
}

package coordinator_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/net"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// alone is the decide.Host of a run without calls.
type alone struct{ limits decide.Limits }

func (a alone) Limits() decide.Limits                                { return a.limits }
func (alone) Function(string, []any) (value.Value, *journal.Failure) { panic("there are none") }
func (alone) Pure(int32, any) (call.Result, bool)                    { return call.Result{}, false }
func (alone) Reserve(reactive.Room) bool                             { return true }

// playbookOf returns the plan of a playbook of one step.
func playbookOf(t *testing.T, step string) *plan.Plan {
	text := "apiVersion: sluice/v1\nkind: Playbook\nmetadata: {name: p}\nworkflow: [" + step + "]"
	checked, err := kinds.Load("p.yaml", []byte(text), template.Known{})
	require.NoError(t, err)
	p, err := plan.Compile(checked)
	require.NoError(t, err)
	return p
}

// turns drives a run without calls for up to most turns, and returns their batches.
func turns(p *plan.Plan, limits decide.Limits, most int) (root *reactive.Root, batches [][]journal.Event) {
	root = decide.NewRoot(p)
	step := decide.NewStepper(root, alone{limits})
	items := []decide.Item{{Event: decide.Started("r", p, nil, limits)}}
	for more := true; more && len(batches) < most; items = nil {
		out := step.Step(1, items)
		batches = append(batches, slices.Clone(out.Batch))
		net.Of(root).Waits() // also while an iteration is about to end
		more = out.More || root.NextDue() == 1
	}
	return root, batches
}

// Playbooks that go on for longer than a test can wait.
const (
	triedAgain = `{step: a, tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: retry, attempts: 20000, backoff: none, delay: 0}}}]}}}}`
	endless    = `{step: a, tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: retry, attempts: 300000, backoff: none, delay: 0}}}]}}}}`
)

// TestATurnEnds: timers that fall due because of other timers of the same turn are left to the next.
func TestATurnEnds(t *testing.T) {
	p := playbookOf(t, triedAgain)
	root, batches := turns(p, decide.Limits{}, 1000)
	require.NotNil(t, root.Finished())
	events := 0
	for _, batch := range batches {
		require.Less(t, len(batch), 3000)
		events += len(batch)
	}
	require.Greater(t, events, 20_000)

	root, batches = turns(p, decide.Limits{EventsMax: 5000}, 1000)
	require.Equal(t, reactive.CodeLimit, root.Verdict().Failure.Code)
	require.EqualValues(t, 5000+2, root.Seq(), "the run's end is journaled, too")
	require.NotEmpty(t, batches)
}

// TestACancelEndsAnEndlessRun: items are applied before the remaining timers.
func TestACancelEndsAnEndlessRun(t *testing.T) {
	r := begin(t, newEngine(t, coordinator.Config{Limits: coordinator.Limits{EventsMax: 400_000}}),
		"workflow: ["+endless+"]", nil)
	require.NoError(t, r.Cancel(t.Context(), "enough"))
	require.Equal(t, reactive.RunAborted, wait(t, r).Status)
}

// TestAnEndlessRunDoesNotDelayTheShutdown: it leaves memory, and goes on when it is recovered.
func TestAnEndlessRunDoesNotDelayTheShutdown(t *testing.T) {
	dir := t.TempDir()
	store, err := disk.Open(dir, disk.Config{})
	require.NoError(t, err)
	config := coordinator.Config{Limits: coordinator.Limits{EventsMax: 400_000}}
	e, err := coordinator.New(t.Context(), store, config)
	require.NoError(t, err)
	r := begin(t, e, "workflow: ["+endless+"]", nil)
	require.NoError(t, e.Shutdown(t.Context()))
	store, err = disk.Open(dir, disk.Config{})
	require.NoError(t, err)
	for head, err := range store.Heads(t.Context(), "") {
		require.NoError(t, err)
		require.Less(t, head.Last, uint64(200_000))
	}

	e, err = coordinator.New(t.Context(), store, config)
	require.NoError(t, err)
	r, err = e.Run(t.Context(), r.ID())
	require.NoError(t, err)
	require.Equal(t, net.KindPolicy, wait(t, r).Failure.Code, "all attempts were made")
	require.NoError(t, e.Shutdown(t.Context()))
}

// TestExpensiveExpressionsDoNotDelayTheShutdown: each step-run fails because its expression exceeds its limit, and goes on by its
// arc.
func TestExpensiveExpressionsDoNotDelayTheShutdown(t *testing.T) {
	dir := t.TempDir()
	for again := range 2 {
		store, err := disk.Open(dir, disk.Config{})
		require.NoError(t, err)
		e, err := coordinator.New(t.Context(), store, coordinator.Config{})
		require.NoError(t, err)
		r := begin(t, e, `
executor: {spec: {limits: {max_step_runs: 60}}}
workflow:
  - step: a
    tool: {kind: noop, set: {ctx.x: "{{ [ctx.x ?? 1, ctx.x ?? 1] }}"}}
    next: {arcs: [{step: a}]}`, nil, coordinator.WithID("r"))
		if again == 1 {
			require.Equal(t, net.KindExpression, wait(t, r).Failure.Code)
		}
		require.NoError(t, e.Shutdown(t.Context()))
		store, err = disk.Open(dir, disk.Config{})
		require.NoError(t, err)
		for head, err := range store.Heads(t.Context(), "") {
			require.NoError(t, err)
			require.Equal(t, again == 0, head.Open)
		}
		require.NoError(t, store.Close())
	}
}

// TestTheWorkOfOneEventIsBounded: a loop without calls takes many events, and a replay of them has the same result. A run that was
// started before the limit existed stays the same.
func TestTheWorkOfOneEventIsBounded(t *testing.T) {
	for name, step := range map[string]string{
		"jumps":      `{step: a, tool: {kind: noop, name: t, spec: {policy: {rules: [{when: "{{ (ctx.n ?? 0) < 30000 }}", then: {do: jump, to: t, set: {ctx.n: "{{ (ctx.n ?? 0) + 1 }}"}}}]}}}}`,
		"sequential": `{step: a, loop: {in: "{{ 1..30000 }}", iterator: i}, tool: {kind: noop, set: {ctx.n: "{{ (ctx.n ?? 0) + 1 }}"}}}`,
		"parallel":   `{step: a, loop: {in: "{{ 1..30000 }}", iterator: i, spec: {mode: parallel}}, tool: {kind: noop, set: {iter.n: "{{ iter.i }}"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			p := playbookOf(t, step)
			root, batches := turns(p, decide.Limits{}, 1000)
			require.Equal(t, reactive.RunCompleted, root.Verdict().Status)
			again, spent, events := decide.NewRoot(p), 0, 0
			for _, batch := range batches {
				for i := range batch {
					events++
					again.Apply(&batch[i])
					require.Less(t, again.Meter().Spent()-spent, 2_000_000)
					spent = again.Meter().Spent()
				}
			}
			require.Greater(t, events, 5)
			require.Less(t, events, 100)
			require.Equal(t, net.Of(root).Context(), net.Of(again).Context())
			require.Equal(t, root.Verdict(), again.Verdict())

			old := decide.NewRoot(p)
			first := decide.Started("r", p, nil, decide.Limits{})
			first.Seq, first.Detail.Start.EventWorkMax = 1, 0
			old.Apply(&first)
			old.Apply(&journal.Event{Seq: 2, Type: journal.StepScheduled, Node: "a@1"})
			require.Equal(t, net.Of(root).Context(), net.Of(old).Context())
			require.True(t, old.Done())
		})
	}
}

// TestALongLoopCanBeInterrupted: items that arrive between two of its events take effect at once.
func TestALongLoopCanBeInterrupted(t *testing.T) {
	p := playbookOf(t, `{step: a, loop: {in: "{{ 1..100000 }}", iterator: i}, tool: {kind: noop, set: {ctx.n: "{{ iter.i }}"}}}`)
	root := decide.NewRoot(p)
	step := decide.NewStepper(root, alone{})
	step.Step(1, []decide.Item{{Event: decide.Started("r", p, nil, decide.Limits{})}})
	require.True(t, net.Of(root).Live("a@1"))
	done, _ := net.Of(root).Context()["n"].(int64)
	require.Positive(t, done)
	out := step.Step(1, []decide.Item{{Event: journal.Event{Type: journal.NodeAborted, Node: "a@1"}, Reply: func(error) {}}})
	require.NoError(t, out.Replies[0].Err)
	require.NotNil(t, root.Finished())
	require.Less(t, net.Of(root).Context()["n"], int64(90_000))
}

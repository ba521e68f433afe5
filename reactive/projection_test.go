package reactive_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/callgraph"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/live"
	"github.com/sluiceflow/sluice/signals"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/plan"
)

func load(t testing.TB, text string) *plan.Plan {
	checked, err := template.Load("test.yaml", []byte(text), template.Known{Lenient: true})
	require.NoError(t, err)
	p, err := plan.Compile(checked)
	require.NoError(t, err)
	return p
}

// play starts a run of p and applies inputs as the cases write them.
func play(t testing.TB, p *plan.Plan, inputs ...string) *testRun {
	r := newRun(t, p)
	r.input("start")
	for _, in := range inputs {
		r.input(in)
	}
	return r
}

func TestCallGraphKeepsEveryAttempt(t *testing.T) {
	p := load(t, `
kind: Workflow
name: w
steps: [{operation: a, timing: {retry: {max_attempts: 2}}}, {parallel: {steps: [{operation: b}, {operation: c}]}}, {operation: d}]`)
	r := play(t, p, "a+", "ax", "a#2+", "a#2!", "b+", "c+", "b!", "c!", "d+", "?+", "?!")
	g := callgraph.New(reactive.New(p))
	for i := range r.journal {
		g.Apply(&r.journal[i])
	}
	var got []string
	for _, c := range g.Calls() {
		got = append(got, c.Request+" "+string(c.Status))
	}
	require.Equal(t, []string{
		"a#1 failed", "a#2 completed", "b#1 completed", "c#1 completed", "d#1 running", "?#1 completed",
	}, got)
	require.Equal(t, "output of a", g.Calls()[1].Output)
	require.Equal(t, 2*time.Second, g.Calls()[2].Ended.Sub(g.Calls()[2].Started))

	require.Equal(t, []string{"b#1 after a#2", "c#1 after a#2", "d#1 after b#1", "d#1 after c#1"}, waits(t, g))
}

func TestAnUnknownStepIsPendingInTheCallGraph(t *testing.T) {
	p := load(t, `{kind: Workflow, name: w, steps: [{operation: a}]}`)
	g := callgraph.New(reactive.New(p))
	g.Apply(&journal.Event{Type: journal.CallRequested, Node: "elsewhere", Attempt: 1, At: 1})
	require.Equal(t, callgraph.Pending, g.Calls()[0].Status)
}

func TestSignalsFollowTheJournal(t *testing.T) {
	p := load(t, `{kind: Workflow, name: w, steps: [{operation: a}, {operation: b}]}`)
	r := newRun(t, p)
	s := live.Of(r.root)
	b := s.Step("b")
	var seen []reactive.Status
	_, err := s.Graph().Effect(func(rd signals.Reader) error {
		status, err := b.Status.Get(rd)
		seen = append(seen, status)
		return err
	})
	require.NoError(t, err)
	result := b.Result
	for _, in := range []string{"start", "a+", "a!", "b+", "b!"} {
		r.input(in)
	}
	require.Equal(t, []reactive.Status{
		reactive.Idle, reactive.Waiting, reactive.Ready, reactive.Running, reactive.Completed,
	}, seen)
	out, err := result.Peek()
	require.NoError(t, err)
	require.Equal(t, "output of b", out)
	require.NoError(t, s.Err())
}

func TestBlockedByFailureNamesTheCauses(t *testing.T) {
	p := load(t, `
kind: Workflow
name: w
steps:
  - parallel: {steps: [{operation: a}, {operation: b}]}
  - {operation: c}
  - conditional: {id: caught, test: c, then: [], else: [{operation: d}]}`)
	r := play(t, p, "a+", "ax", "b+")
	c, _ := r.root.Node("c")
	a, _ := r.root.Node("a")
	gate, _ := r.root.Node("caught")
	require.Equal(t, []int32{a}, r.root.BlockedByFailure(c))
	require.Empty(t, r.root.BlockedByFailure(gate), "the test reads c")
	require.False(t, r.root.Preconditions(c))
	require.Equal(t, "broken", r.root.Failure(a).Code)
}

// TestTheWorkOfAnEventIsThatOfItsEdges counts the cost of a join of 10,000: every predecessor visits it once, and it is
// derived when the first predecessor moves and when the last completes, not 10,000 times.
func TestTheWorkOfAnEventIsThatOfItsEdges(t *testing.T) {
	const n = 10_000
	all := &template.Parallel{}
	for i := range n {
		all.Steps = append(all.Steps, &template.Step{ID: "s" + string(rune('a'+i%26)) + time.Duration(i).String(), Operation: "op"})
	}
	p := compile(t, &template.Workflow{Name: "join", Steps: []template.Node{all, &template.Step{ID: "join", Operation: "op"}}})
	root := reactive.New(p)
	root.Apply(&journal.Event{Seq: 1, Type: journal.RunStarted, Detail: &journal.Detail{Start: &journal.Start{}}})
	edges, derived := root.Work()
	for i := range n {
		key := all.Steps[i].(*template.Step).ID
		root.Apply(&journal.Event{Type: journal.CallRequested, Node: key, Attempt: 1, Hint: int32(i) + 1})
		root.Apply(&journal.Event{Type: journal.CallResponded, Node: key, Attempt: 1, Hint: int32(i) + 1})
	}
	edges2, derived2 := root.Work()
	require.LessOrEqual(t, edges2-edges, uint64(2*n), "edges touched")
	require.LessOrEqual(t, derived2-derived, uint64(2*n+2), "nodes derived")
	join, _ := root.Node("join")
	require.Equal(t, reactive.Ready, root.Status(join))
}

// A failed conditional both surrounds a node and precedes it, but is one cause.
func TestACauseIsNamedOnce(t *testing.T) {
	p := load(t, `
kind: Workflow
name: w
steps:
  - {operation: a}
  - conditional: {id: gate, test: "{{ steps.a.output.none.at.all > 3 }}", then: [{operation: b}]}`)
	r := play(t, p, "a+", "a!")
	b, _ := r.root.Node("b")
	gate, _ := r.root.Node("gate")
	require.Equal(t, reactive.Aborted, r.root.Status(b))
	require.Equal(t, []inspect.Cause{{Kind: inspect.ByFailure, Node: gate}}, inspect.Causes(r.root, b))
}

// A decision that was open when the run was closed can no longer be made, and no step waits for it.
func TestAClosedRunWaitsForNobody(t *testing.T) {
	p := load(t, `{kind: Workflow, name: w, steps: [{operation: a, fulfillment: {policy: never}}, {operation: b}]}`)
	r := play(t, p, "a+", "a!")
	a, _ := r.root.Node("a")
	require.True(t, r.root.Decidable(a))
	require.Equal(t, []inspect.Cause{{Kind: inspect.ByPerson, Node: a}}, inspect.Causes(r.root, a))
	r.root.Apply(&journal.Event{Seq: 99, Type: journal.RunCancelled, Detail: &journal.Detail{}})
	require.False(t, r.root.Decidable(a))
	require.Equal(t, []inspect.Cause{{Kind: inspect.ByEnd, Node: a}}, inspect.Causes(r.root, a))
}

// A failed step does not delay steps that only read its end or have a default for its output.
func TestWhatHasEndedIsNotWaitedFor(t *testing.T) {
	r := play(t, load(t, `
kind: Workflow
name: w
steps:
  - {parallel: {steps: [{operation: a}, {operation: slow}]}}
  - {conditional: {test: "{{ steps.a.status == 'completed' and steps.slow.status == 'completed' }}", then: []}}
  - {operation: b, input: "{{ steps.a.output ?? 1 }} {{ steps.slow.output ?? 2 }}"}`), "a+", "slow+", "ax")
	b, _ := r.root.Node("b")
	slow, _ := r.root.Node("slow")
	causes := inspect.Causes(r.root, b)
	require.Len(t, causes, 2, "the conditional and slow")
	require.Contains(t, causes, inspect.Cause{Kind: inspect.ByPredecessor, Node: slow})
	r.input("slow!")
	require.Equal(t, reactive.Ready, r.root.Status(b))
}

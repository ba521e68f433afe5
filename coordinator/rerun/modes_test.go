package rerun_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/flow"
	"github.com/sluiceflow/sluice/template/kinds"
)

const packs = `
kind: Workflow
name: packs
steps:
  - {operation: a, input: "{{ input.list }}"}
  - map: {id: each, over: "{{ steps.a.output }}", steps: [{operation: b, input: "{{ item }}"}]}
  - {operation: c, input: "{{ len(steps.each.output) }}"}
output: "{{ steps.c.output }}"
`

func numbers(n int) (list []any) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

func TestFailedRepeatsOneItemOfAThousand(t *testing.T) {
	c := newCounted(t, "b 777")
	r, result := c.run(t, parse(t, packs), map[string]any{"list": numbers(1000)})
	require.Equal(t, "failed", string(result.Status))
	c.made()
	c.fails["b 777"] = false

	p, err := r.PreviewRerun(t.Context(), coordinator.Rerun{Failed: true})
	require.NoError(t, err)
	require.Equal(t, []coordinator.RerunStep{{Step: "b[777]", Operation: "b"}, {Step: "c", Operation: "c"}}, p.Will)
	require.Empty(t, p.May)
	require.Len(t, p.Kept, 1000)

	_, result, calls := c.again(t, r, coordinator.Rerun{Failed: true})
	require.Equal(t, []string{"b 777", "c 1000"}, calls)
	require.EqualValues(t, 1000, result.Output)
	_, _, calls = c.again(t, r, coordinator.Rerun{From: "b[777]"})
	require.Equal(t, []string{"b 777", "c 1000"}, calls)
}

func TestAnItemIsRepeatedWithWhatFollowsInItAndBehindItsMap(t *testing.T) {
	c := newCounted(t)
	w := parse(t, `
kind: Workflow
name: items
steps:
  - map: {id: each, over: "{{ input }}", steps: [{operation: a, input: "{{ item }}"}, {operation: b, input: "{{ steps.a.output }}"}]}
  - map: {id: then, over: "{{ steps.each.output }}", steps: [{operation: c, input: "{{ item }}"}]}
`)
	r, _ := c.run(t, w, []any{1, 2})
	c.made()
	_, _, calls := c.again(t, r, coordinator.Rerun{From: "a[1]"})
	require.ElementsMatch(t, []string{"a 2", "b 2", "c 1", "c 2"}, calls)
	_, _, calls = c.again(t, r, coordinator.Rerun{From: "b"})
	require.ElementsMatch(t, []string{"b 1", "b 2", "c 1", "c 2"}, calls)
	_, _, calls = c.again(t, r, coordinator.Rerun{Only: "b[0]"})
	require.ElementsMatch(t, []string{"b 1"}, calls)
}

// TestChangedStopsAtAnEqualOutput: after an edit of one step, only the steps whose resolved input has changed are called.
func TestChangedStopsAtAnEqualOutput(t *testing.T) {
	c := newCounted(t)
	text := func(first string) string {
		return `
kind: Workflow
name: wave
steps:
  - {operation: ` + first + `, id: one, input: "{{ input }}"}
  - parallel:
      steps:
        - {operation: b, input: "{{ steps.one.output > 1 }}"}
        - {operation: c, input: "{{ steps.one.output }}"}
  - {operation: d, input: "{{ [steps.b.output, steps.c.output] }}"}
  - {operation: e}
`
	}
	r, _ := c.run(t, parse(t, text("a")), 2)
	require.Len(t, c.made(), 5)

	_, _, calls := c.again(t, r, coordinator.Rerun{Changed: true})
	require.Empty(t, calls, "nothing has changed")
	p, err := r.PreviewRerun(t.Context(), coordinator.Rerun{Workflow: parse(t, text("e"))})
	require.NoError(t, err)
	require.Equal(t, []coordinator.RerunStep{{Step: "one", Operation: "e"}}, p.Will)
	require.Len(t, p.May, 4)
	require.Empty(t, p.Kept)
	_, _, calls = c.again(t, r, coordinator.Rerun{Workflow: parse(t, text("e"))})
	require.Equal(t, []string{"e 2"}, calls, "its output is the same: the wave stops")
	_, _, calls = c.again(t, r, coordinator.Rerun{Input: 3})
	require.ElementsMatch(t, []string{"a 3", "c 3", "d [true 3]"}, calls, "b reads something that is the same")
}

func TestWhatIsSetTakesThePlaceOfOutputsAndInputs(t *testing.T) {
	c := newCounted(t)
	w := parse(t, `
kind: Workflow
name: set
steps:
  - {operation: a, input: {price: {total: 1}, lines: [1, 2]}}
  - {operation: b, input: "{{ steps.a.output.price.total + steps.a.output.lines[1] }}"}
  - {operation: c, input: {n: 1, of: "{{ steps.b.output }}"}}
output: "{{ steps.c.output }}"
`)
	r, _ := c.run(t, w, nil)
	c.made()
	next, _, calls := c.again(t, r, coordinator.Rerun{Set: map[string]any{"steps.a.output.price.total": 10, "steps.a.output.lines.1": 5}})
	require.Equal(t, []string{"b 15", "c map[n:1 of:15]"}, calls)
	state, err := next.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, &journal.Kept{Status: "completed"}, state.Steps[0].Adopted)
	_, result, calls := c.again(t, r, coordinator.Rerun{Set: map[string]any{"steps.c.input.n": 7}})
	require.Equal(t, []string{"c map[n:7 of:3]"}, calls)
	require.Equal(t, map[string]any{"n": int64(7), "of": int64(3)}, result.Output)
	_, _, calls = c.again(t, r, coordinator.Rerun{Only: "c", Set: map[string]any{"steps.b.output": 4}})
	require.Equal(t, []string{"c map[n:1 of:4]"}, calls)

	for place, text := range map[string]string{
		"steps.a.output.price.sum": `not possible as things stand: steps.a.output.price.sum is not there: what step "a" has is an object with the keys total`,
		"steps.a.output.lines.2":   `not possible as things stand: steps.a.output.lines.2 is not there: what step "a" has is a list of 2`,
		"steps.x.output":           `steps.x.output: coordinator: no such step: "x": run ` + r.ID() + ` has no such step`,
		"ctx.a":                    `"ctx.a" cannot be set: write steps.STEP.output or steps.STEP.input, with a path behind it`,
	} {
		_, err := r.Rerun(t.Context(), coordinator.Rerun{Set: map[string]any{place: 1}})
		require.ErrorContains(t, err, text)
	}
}

// A value that a person has set in a rerun stays set when that is rerun: a result unless the operation or the input that it replaces has
// changed, an input unless the step's document has another. Setting a value again replaces it; naming its step replaces a result.
func TestWhatIsSetStaysSet(t *testing.T) {
	c := newCounted(t)
	w := func(first, last string) *template.Workflow {
		return parse(t, `
kind: Workflow
name: set
operations: {v: {value: "{{ input }}"}}
steps:
  - {operation: `+first+`, id: a, input: "{{ input }}"}
  - {operation: v, input: "{{ input }}"}
  - {operation: b, input: "{{ steps.a.output }}"}
  - {operation: c, input: {n: `+last+`, of: "{{ steps.b.output + steps.v.output }}"}}
`)
	}
	r, _ := c.run(t, w("a", "1"), 1)
	c.made()
	next, _, calls := c.again(t, r, coordinator.Rerun{Set: map[string]any{"steps.a.output": 7, "steps.v.output": 5, "steps.c.input.n": 9}})
	require.Equal(t, []string{"b 7", "c map[n:9 of:2]"}, calls)
	for range 3 { // also the values kept from a rerun
		next, _, calls = c.again(t, next, coordinator.Rerun{Changed: true})
		require.Empty(t, calls)
		state, err := next.State(t.Context())
		require.NoError(t, err)
		for _, s := range state.Steps[:2] {
			require.Zero(t, s.Adopted.Seq, "a person has set it")
		}
	}
	_, _, calls = c.again(t, next, coordinator.Rerun{From: "c"})
	require.Equal(t, []string{"c map[n:9 of:2]"}, calls)
	_, _, calls = c.again(t, next, coordinator.Rerun{Set: map[string]any{"steps.c.input.n": 8}})
	require.Equal(t, []string{"c map[n:8 of:2]"}, calls)
	_, _, calls = c.again(t, next, coordinator.Rerun{Workflow: w("a", "2")})
	require.Equal(t, []string{"c map[n:2 of:12]"}, calls, "the step says another input")
	_, _, calls = c.again(t, next, coordinator.Rerun{Workflow: w("d", "1")})
	require.Equal(t, []string{"d 1", "b 1"}, calls, "the step calls another operation; the input that was set stays")
	_, _, calls = c.again(t, next, coordinator.Rerun{Input: 2})
	require.Equal(t, []string{"a 2", "b 2"}, calls, "the inputs beside what was set are others")
	_, _, calls = c.again(t, next, coordinator.Rerun{From: "a"})
	require.Equal(t, []string{"a 1", "b 1", "c map[n:9 of:2]"}, calls)
}

func TestACaughtFailureIsKept(t *testing.T) {
	c := newCounted(t, "a 1")
	w := parse(t, `
kind: Workflow
name: caught
steps:
  - {operation: a, input: 1}
  - conditional:
      test: "{{ steps.a.status == 'failed' }}"
      then: [{operation: b, input: "{{ steps.a.error.message }}"}]
      else: [{operation: c}]
  - {operation: d}
`)
	r, result := c.run(t, w, nil)
	require.Equal(t, "completed", string(result.Status))
	c.made()
	_, result, calls := c.again(t, r, coordinator.Rerun{From: "d"})
	require.Equal(t, []string{"d <nil>"}, calls)
	require.Equal(t, "completed", string(result.Status))
	c.fails["a 1"] = false
	_, _, calls = c.again(t, r, coordinator.Rerun{From: "a"})
	require.Equal(t, []string{"a 1", "c <nil>", "d <nil>"}, calls)
}

// TestWhatHasFailedTheRunIsRepeated: caught failures are repeated only if they may be the reason that the run has failed.
func TestWhatHasFailedTheRunIsRepeated(t *testing.T) {
	const text = `
kind: Workflow
name: caught
steps:
  - {operation: a}
  - {operation: b}
  - conditional: {id: which, test: "{{ steps.b.status == 'completed' }}", then: [{operation: c}], else: [{id: alarm, operation: d, idempotent: false}]}
  - {operation: e}
output: "{{ steps.a.output ?? [][0] }}"`
	for name, one := range map[string]struct {
		text  string
		fails []string
		at    uint64
		calls []string // of the rerun; nil: it is refused
		kept  []string // failures; or the text of the refusal
	}{
		"the output reads a failure":       {strings.Replace(text, " ?? [][0]", ".v", 1), []string{"a <nil>"}, 0, []string{"a <nil>", "b <nil>", "c <nil>", "e <nil>"}, nil},
		"a failure besides that is caught": {strings.Replace(text, " ?? [][0]", "", 1), []string{"a <nil>", "e <nil>"}, 0, []string{"e <nil>"}, []string{"a"}},
		"all failures are caught":          {text[:strings.Index(text, "output:")], []string{"a <nil>"}, 0, nil, []string{"nothing of run"}},
		"nothing has failed yet":           {text, []string{"e <nil>"}, 3, nil, []string{"nothing of run"}},
		"no step has failed":               {text[:strings.Index(text, "output:")] + `output: "{{ steps.b.output.v }}"`, nil, 0, nil, []string{"has failed, and no step of it has: say from which step"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCounted(t, one.fails...)
			r, _ := c.run(t, parse(t, one.text), nil)
			c.made()
			clear(c.fails)
			what := coordinator.Rerun{Failed: true, At: one.at}
			p, err := r.PreviewRerun(t.Context(), what)
			if one.calls == nil {
				require.ErrorIs(t, err, coordinator.ErrNotPossible)
				require.ErrorContains(t, err, one.kept[0])
				return
			}
			require.NoError(t, err)
			var kept []string
			for _, s := range p.Kept {
				if s.Failed {
					kept = append(kept, s.Step)
				}
			}
			require.Equal(t, one.kept, kept)
			_, _, calls := c.again(t, r, what)
			require.Equal(t, one.calls, calls)
		})
	}
}

const parent = `
kind: Workflow
name: parent
operations:
  child: {workflow: {name: %s}}
steps:
  - {operation: a, input: 1}
  - {operation: child, input: "{{ steps.a.output }}"}
  - {operation: e, input: "{{ steps.child.output }}"}
`

// TestAStepInsideAChildIsRepeatedByItsKey also deletes the old runs, before the child begins.
func TestAStepInsideAChildIsRepeatedByItsKey(t *testing.T) {
	c := newCounted(t, "c 1")
	_, _ = c.run(t, parse(t, `{kind: Workflow, name: inner, steps: [{operation: b, input: "{{ input }}"}, {operation: c, input: "{{ input }}"}, {operation: d}], output: "{{ steps.c.output }}"}`), 2)
	c.made()
	r, result := c.run(t, parse(t, fmt.Sprintf(parent, "inner")), nil)
	require.Equal(t, "failed", string(result.Status))
	require.Equal(t, []string{"a 1", "b 1", "c 1"}, c.made())
	c.fails["c 1"] = false
	next, result, calls := c.again(t, r, coordinator.Rerun{Failed: true})
	require.Equal(t, "completed", string(result.Status))
	require.Equal(t, []string{"c 1", "d <nil>", "e 1"}, calls)
	p, err := next.PreviewRerun(t.Context(), coordinator.Rerun{From: "child/d"})
	require.NoError(t, err)
	require.Equal(t, []coordinator.RerunStep{{Step: "child", Operation: "child"}, {Step: "child/d", Operation: "d"}, {Step: "e", Operation: "e"}}, p.Will)
	require.NoError(t, c.Delete(t.Context(), r.ID()))
	_, _, calls = c.again(t, next, coordinator.Rerun{From: "child/d"})
	require.Equal(t, []string{"d <nil>", "e 1"}, calls)
}

// A step is asked again if a workflow far below it has changed, and only the changed steps of that workflow run.
func TestAChangeFarBelowAStepIsAChangeOfIt(t *testing.T) {
	c, in := newCounted(t), flow.Input[any]()
	op := func(name string) template.Op[any, any] { return template.NewOp[any, any](name, nil) }
	document := func(far string) *template.Workflow {
		x, y, z := flow.Call("x", op("a"), in), flow.Call("y", op(far), in), flow.Call("z", op("d"), in)
		deep := flow.MustNew("deep", in, flow.Output(y), x, y)
		below := flow.Sub("deep", deep, in)
		middle := flow.MustNew("middle", in, flow.Output(z), z, below)
		return flow.MustDefine("top", flow.Sub("middle", middle, flow.Value[any](1)), flow.Call("last", op("e"), flow.Value[any](2)))
	}
	r, _ := c.run(t, document("b"), nil)
	c.made()
	_, _, calls := c.again(t, r, coordinator.Rerun{Workflow: document("b")})
	require.Empty(t, calls)
	_, _, calls = c.again(t, r, coordinator.Rerun{Workflow: document("c")})
	require.Equal(t, []string{"c 1"}, calls)
}

// other reads a document of any kind.
func other(t testing.TB, text string) *template.Workflow {
	nodes, err := document.Parse("", []byte(text), document.Limits{})
	require.NoError(t, err)
	w, err := kinds.ParseNode(nodes[0])
	require.NoError(t, err)
	return w
}

const world = `
kind: World
name: tally
types: {Vote: {record: {poll: text}}}
machines: {poll: {key: text, state: {record: {n: nat}}, event: [Vote], emits: [], lifecycle: entity, rules: [{event: Vote, set: {n: 1}}]}}
routing: {subscriptions: [{event: Vote, machine: poll, key_field: poll}]}
`

func TestWhatCannotBeRerunIsRefusedAndJournalsNothing(t *testing.T) {
	c := newCounted(t)
	r, _ := c.run(t, parse(t, `
kind: Workflow
name: refused
steps:
  - {operation: a, input: 1}
  - {id: gate, operation: b}
  - conditional: {id: which, test: "{{ steps.a.output > 1 }}", then: [{operation: c}], else: [{operation: d}]}
`), nil)
	waiting, err := c.Start(t.Context(), parse(t, `{kind: Workflow, name: waits, operations: {w: {wait: {message: go}}}, steps: [{operation: a}, {operation: w}, {operation: b}]}`), nil)
	require.NoError(t, err)
	for u, err := range waiting.Watch(t.Context(), 1) {
		require.NoError(t, err)
		if u.Event.Type == journal.CallRequested && u.Event.Node == "w" {
			break
		}
	}
	book, err := c.Start(t.Context(), other(t, `{kind: Playbook, apiVersion: sluice/v1, metadata: {name: book, path: book}, workflow: [{step: start, tool: {kind: a}}]}`), nil)
	require.NoError(t, err)
	shop, err := c.Start(t.Context(), other(t, world), nil)
	require.NoError(t, err)
	before := 0
	for range c.Runs(t.Context(), "") {
		before++
	}
	for _, one := range []struct {
		run  *coordinator.Run
		what coordinator.Rerun
		is   error
		text string
	}{
		{r, coordinator.Rerun{}, coordinator.ErrUnclear, "say what runs again"},
		{r, coordinator.Rerun{From: "a", Failed: true}, coordinator.ErrUnclear, "in one way"},
		{r, coordinator.Rerun{From: "gato"}, coordinator.ErrStepNotFound, `"gato": run ` + r.ID() + ` has no such step (did you mean "gate"?)`},
		{r, coordinator.Rerun{From: "a[0]"}, coordinator.ErrStepNotFound, `"a[0]": run`},
		{r, coordinator.Rerun{From: "c"}, coordinator.ErrNotPossible, `step "c" of run ` + r.ID() + ` was skipped: rerun from a step before it`},
		{r, coordinator.Rerun{Failed: true}, coordinator.ErrNotPossible, "has failed"},
		{r, coordinator.Rerun{From: "a", At: 99}, coordinator.ErrNoMoment, "and so no event 99"},
		{r, coordinator.Rerun{From: "gate", Workflow: parse(t, `{kind: Workflow, name: new, steps: [{operation: a}]}`)}, coordinator.ErrStepNotFound, `"gate": run ` + r.ID() + ` has that step, and the new workflow new has not`},
		{waiting, coordinator.Rerun{From: "w"}, coordinator.ErrNotPossible, `step "w" of run ` + waiting.ID() + ` is running: wait for its end, or abort it`},
		{waiting, coordinator.Rerun{From: "b"}, coordinator.ErrNotPossible, `it has not run yet`},
		{book, coordinator.Rerun{From: "start"}, coordinator.ErrNotPossible, `it is rerun from an event on, with --at N, and not by steps`},
		{shop, coordinator.Rerun{From: "order"}, coordinator.ErrNotPossible, `a world is not rerun: retry its failed cells`},
	} {
		_, err := one.run.Rerun(t.Context(), one.what)
		require.ErrorIs(t, err, one.is)
		require.ErrorContains(t, err, one.text)
		_, err = one.run.PreviewRerun(t.Context(), one.what)
		require.ErrorIs(t, err, one.is)
	}
	after := 0
	for range c.Runs(t.Context(), "") {
		after++
	}
	require.Equal(t, before, after)
}

// TestARerunIsMoved: the results or events with which a rerun has begun are no difference, under its own workflow or under one with
// another future.
func TestARerunIsMoved(t *testing.T) {
	c := newCounted(t)
	waits := func(last string) *template.Workflow {
		return parse(t, `{kind: Workflow, name: waits, operations: {m: {wait: {message: go}}}, steps: [{operation: a, input: 1}, {operation: b, input: 2}, {id: m, operation: m}, {operation: `+last+`}]}`)
	}
	book := func(last string) *template.Workflow {
		return other(t, `{kind: Playbook, apiVersion: sluice/v1, metadata: {name: book, path: book}, workflow: [
			{step: start, tool: {kind: a, input: 1}, next: {arcs: [{step: m}]}}, {step: m, tool: {kind: wait, message: go}, next: {arcs: [{step: end}]}},
			{step: end, tool: {kind: `+last+`}}]}`)
	}
	for name, one := range map[string]struct {
		document func(string) *template.Workflow
		what     coordinator.Rerun
		calls    []string
	}{
		"workflow": {waits, coordinator.Rerun{From: "b"}, []string{"b 2", "d <nil>"}},
		"playbook": {book, coordinator.Rerun{At: 3}, []string{"a 1", "d <nil>"}},
	} {
		old, err := c.Start(t.Context(), one.document("c"), nil)
		require.NoError(t, err)
		require.NoError(t, old.Send(t.Context(), "go", nil))
		_, err = old.Wait(t.Context())
		require.NoError(t, err)
		c.made()
		next, err := old.Rerun(t.Context(), one.what)
		require.NoError(t, err)
		report, err := next.Shadow(t.Context(), one.document("c"))
		require.NoError(t, err)
		require.True(t, report.Same(), "%s: %v", name, report.Differences)
		_, err = next.Move(t.Context(), one.document("d"))
		require.NoError(t, err, name)
		require.NoError(t, next.Send(t.Context(), "go", nil))
		result, err := next.Wait(t.Context())
		require.NoError(t, err)
		require.NoError(t, result.Err())
		require.Equal(t, one.calls, c.made(), name)
	}
}

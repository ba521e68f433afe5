package rerun_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

// TestWhatIsAskedWronglyOfAChangeIsRefusedWhole: for any fault of a rerun, a move or a moment, the error has the place, the text and a
// remedy, and the store is unchanged.
func TestWhatIsAskedWronglyOfAChangeIsRefusedWhole(t *testing.T) {
	c := newCounted(t)
	const text = `{kind: Workflow, name: w, operations: {m: {wait: {message: go}}}, steps: [
		{id: first, operation: a, input: {n: 1, of: [1, 2]}}, {conditional: {id: which, test: "{{ steps.first.output.n > 5 }}", then: [{id: no, operation: b}], else: [{id: yes, operation: c}]}},
		{id: held, operation: m}, {id: last, operation: d}]}`
	document := func(old ...string) *template.Workflow { return parse(t, replaced(text, old...)) }
	open, err := c.Start(t.Context(), document(), nil, coordinator.WithID("open"))
	require.NoError(t, err)
	waiting(t, open, "held")
	ended, _ := c.run(t, parse(t, chain), map[string]any{"a": 1})
	end := uint64(0)
	for e, err := range ended.Events(t.Context(), 1) {
		require.NoError(t, err)
		end = e.Seq
	}
	rerun := func(r *coordinator.Run, what coordinator.Rerun) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := r.PreviewRerun(ctx, what)
			_, again := r.Rerun(ctx, what)
			require.EqualError(t, again, err.Error(), "the preview says what the act says")
			return err
		}
	}
	move := func(r *coordinator.Run, to *template.Workflow) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := r.PreviewMove(ctx, to)
			_, again := r.Move(ctx, to)
			require.EqualError(t, again, err.Error(), "the preview says what the act says")
			return err
		}
	}
	show := func(r *coordinator.Run, at coordinator.Moment) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := r.At(at).State(ctx)
			_, why := r.At(at).Explain(ctx, "")
			require.EqualError(t, why, err.Error())
			return err
		}
	}
	for name, one := range map[string]struct {
		ask  func(context.Context) error
		is   error
		text string
	}{
		"from an unknown step": {rerun(open, coordinator.Rerun{From: "frist"}), coordinator.ErrStepNotFound, `"frist": run open has no such step (did you mean "first"?)`},
		"from a skipped step":  {rerun(open, coordinator.Rerun{From: "no"}), coordinator.ErrNotPossible, `step "no" of run open was skipped: rerun from a step before it, or from the conditional that skipped it`},
		"from a running step":  {rerun(open, coordinator.Rerun{From: "held"}), coordinator.ErrNotPossible, `step "held" of run open is running: wait for its end, or abort it`},
		"from a step to come":  {rerun(open, coordinator.Rerun{From: "last"}), coordinator.ErrNotPossible, `step "last" of run open is waiting: it has not run yet`},
		"from a step that is gone": {rerun(open, coordinator.Rerun{From: "first", Workflow: document("id: first", "id: first1", "steps.first", "steps.first1")}), coordinator.ErrStepNotFound,
			`"first": run open has that step, and the new workflow w has not (did you mean "first1"?)`},
		"set no such path":   {rerun(open, coordinator.Rerun{Set: map[string]any{"steps.first.output.m": 1}}), coordinator.ErrNotPossible, `steps.first.output.m is not there: what step "first" has is an object with the keys n, of`},
		"set no such item":   {rerun(open, coordinator.Rerun{Set: map[string]any{"steps.first.input.of.2": 1}}), coordinator.ErrNotPossible, `steps.first.input.of.2 is not there: what step "first" has is a list of 2`},
		"set no such step":   {rerun(open, coordinator.Rerun{Set: map[string]any{"steps.frist.output": 1}}), coordinator.ErrStepNotFound, `steps.frist.output: coordinator: no such step: "frist": run open has no such step (did you mean "first"?)`},
		"set something else": {rerun(open, coordinator.Rerun{Set: map[string]any{"ctx.x": 1}}), coordinator.ErrUnclear, `"ctx.x" cannot be set: write steps.STEP.output or steps.STEP.input, with a path behind it`},
		"at beyond the end":  {rerun(ended, coordinator.Rerun{At: end + 1, From: "a"}), coordinator.ErrNoMoment, fmt.Sprintf("run %s has %d events, and so no event %d", ended.ID(), end, end+1)},
		"nothing":            {rerun(ended, coordinator.Rerun{}), coordinator.ErrUnclear, "say what runs again"},
		"in two ways":        {rerun(ended, coordinator.Rerun{Changed: true, Only: "a"}), coordinator.ErrUnclear, "in one way"},
		"nothing has failed": {rerun(ended, coordinator.Rerun{Failed: true}), coordinator.ErrNotPossible, "nothing of run " + ended.ID() + " has failed: say from which step it runs again"},

		"move to another past":        {move(open, document("operation: a", "operation: e")), coordinator.ErrNotPossible, "the history of run open differs under the new workflow: first"},
		"move to another input":       {move(open, document("n: 1", "n: 2")), coordinator.ErrNotPossible, "`sluice shadow` reports all differences, and `sluice rerun --workflow` begins again"},
		"move a run that has ended":   {move(ended, document()), coordinator.ErrFinished, "run " + ended.ID()},
		"move to the same version":    {move(open, document()), coordinator.ErrNotPossible, "run open follows this version of workflow w already"},
		"move to what is not here":    {move(open, document("operation: d", "operation: f")), nil, `unknown operation "f"`},
		"show what is to come":        {show(ended, coordinator.Moment{Seq: end + 1}), coordinator.ErrNoMoment, fmt.Sprintf("run %s has %d events, and so no event %d", ended.ID(), end, end+1)},
		"show what was before it all": {show(ended, coordinator.Moment{Time: time.Unix(1, 0)}), coordinator.ErrNoMoment, "run " + ended.ID()},
	} {
		t.Run(name, func(t *testing.T) {
			before, err := c.store.Newest(t.Context())
			require.NoError(t, err)
			err = one.ask(t.Context())
			if one.is != nil {
				require.ErrorIs(t, err, one.is)
			}
			require.ErrorContains(t, err, one.text)
			after, err := c.store.Newest(t.Context())
			require.NoError(t, err)
			require.Equal(t, before, after, "something was journaled")
		})
	}
}

// TestPlacesBelowStepsAndSettingsWithoutEffectAreRefused: a key that names no step, or a setting without effect, does not count as a
// similar one.
func TestPlacesBelowStepsAndSettingsWithoutEffectAreRefused(t *testing.T) {
	c := newCounted(t, "e 1")
	_, _ = c.run(t, parse(t, `{kind: Workflow, name: inner, steps: [{id: book, operation: b, input: "{{ input }}"}, {id: label, operation: c}]}`), 2)
	r, _ := c.run(t, parse(t, `{kind: Workflow, name: outer, operations: {child: {workflow: {name: inner}}, late: {sleep: {for: PT1H}}}, steps: [
		{id: price, operation: a, input: {n: 1}}, {map: {id: pack, over: [1, 2], steps: [{id: packit, operation: a, input: "{{ item }}"}]}},
		{id: nap, operation: late, timing: {timeout: PT0.001S, on_timeout: skip}},
		{map: {id: m, over: [1, 2], steps: [{id: ship, operation: child, input: "{{ item }}"}]}}, {id: one, operation: child, input: 1},
		{conditional: {id: which, test: "{{ steps.price.output.n > 5 }}", then: [{id: no, operation: b}], else: [{id: yes, operation: b}]}},
		{id: last, operation: e, input: 1}, {id: never, operation: child}]}`), nil)
	from := func(key string) coordinator.Rerun { return coordinator.Rerun{From: key} }
	set := func(place string, what coordinator.Rerun) coordinator.Rerun {
		what.Set = map[string]any{place: 1}
		return what
	}
	for name, one := range map[string]struct {
		what coordinator.Rerun
		text string
	}{
		"below a step":              {from("price/x"), `"price/x": step "price" starts no run, so nothing is below it (did you mean "price"?)`},
		"only below a step":         {coordinator.Rerun{Only: "price/x"}, `"price/x": step "price" starts no run`},
		"below an item's step":      {from("packit[1]/x"), `step "packit[1]" starts no run`},
		"below a child's step":      {from("one/book/x"), `"one/book/x": step "one/book" starts no run, so nothing is below it (did you mean "one/book"?)`},
		"nothing behind the slash":  {from("one/"), `"one/": no step of the run that "one" starts is named behind the slash (did you mean "one"?)`},
		"a map without an item":     {from("m/label"), `"m" is no step that starts a run (did you mean "ship[0]/label"?)`},
		"a step without an item":    {from("ship/label"), `each item of a map has its own run of step "ship" (did you mean "ship[0]/label"?)`},
		"no step of a child":        {from("one/lable"), `"one/lable": run ` + r.ID() + ` has no such step (did you mean "one/label"?)`},
		"an item of a map":          {from("pack[1]"), `run ` + r.ID() + ` has no such step (did you mean "packit[1]"?)`},
		"an item that is not there": {from("packit[7]"), `"packit[7]": run ` + r.ID() + ` has no such step`},
		"set below a step":          {set("steps.price/x.output", coordinator.Rerun{}), `steps.price/x.output: coordinator: no such step: "price/x": step "price" starts no run`},
		"set what runs again":       {set("steps.price.output", from("price")), `steps.price.output has no effect: --from price has that step run again`},
		"set the only one":          {set("steps.one/book.output", coordinator.Rerun{Only: "one/book"}), `steps.one/book.output has no effect: --only one/book`},
		"set beside the only one":   {set("steps.price.input", coordinator.Rerun{Only: "yes"}), `steps.price.input has no effect: --only yes has no other step run again`},
		"set a skipped one":         {set("steps.no.output", coordinator.Rerun{}), `steps.no.output has no effect: step "no" of run ` + r.ID() + ` was skipped`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := r.PreviewRerun(t.Context(), one.what)
			require.ErrorContains(t, err, one.text)
			require.NotContains(t, err.Error(), "/1", "it names a run that people do not know")
			_, again := r.Rerun(t.Context(), one.what)
			require.EqualError(t, again, err.Error())
		})
	}
	c.fails["e 1"] = false
	p, err := r.PreviewRerun(t.Context(), coordinator.Rerun{Set: map[string]any{"steps.no.output": 1, "steps.price.output.n": 7}})
	require.NoError(t, err, "the branch may be taken")
	require.NotEmpty(t, p.Will)
	p, err = r.PreviewRerun(t.Context(), set("steps.nap.input", coordinator.Rerun{}))
	require.NoError(t, err, "it was not a branch")
	require.Equal(t, "nap", p.Will[0].Step)
}

// A step that its own timing has skipped is repeated like any other ended step.
func TestAStepThatItsTimingHasSkippedRunsAgain(t *testing.T) {
	c := newCounted(t)
	document := func(late string) *template.Workflow {
		return parse(t, `{kind: Workflow, name: w, operations: {late: {`+late+`}}, steps: [{operation: a, input: 1},
			{id: nap, operation: late, timing: {timeout: PT0.001S, on_timeout: skip}}, {operation: b, input: "{{ steps.nap.output ?? 2 }}"}], output: "{{ steps.b.output }}"}`)
	}
	r, result := c.run(t, document("sleep: {for: PT1H}"), nil)
	require.EqualValues(t, 2, result.Output, "it was skipped")
	c.made()
	for _, what := range []coordinator.Rerun{{From: "nap"}, {Only: "nap"}} {
		next, _, _ := c.again(t, r, what)
		state, err := next.State(t.Context())
		require.NoError(t, err)
		require.Equal(t, "skipped", state.Steps[1].Status.String())
		require.Nil(t, state.Steps[1].Adopted, "it has run into its timeout again")
	}
	_, result, calls := c.again(t, r, coordinator.Rerun{From: "nap", Workflow: document("value: 3")})
	require.Equal(t, []string{"b 3"}, calls)
	require.EqualValues(t, 3, result.Output)
	_, result, calls = c.again(t, r, coordinator.Rerun{Only: "nap", Workflow: document("value: 3")})
	require.Empty(t, calls)
	require.EqualValues(t, 2, result.Output, "what follows keeps its result")
}

// TestNullIsAnInput, and a part of the input can be set for a step that the old run never called.
func TestNullIsAnInput(t *testing.T) {
	c := newCounted(t)
	r, _ := c.run(t, parse(t, `{kind: Workflow, name: n, steps: [{id: x, operation: a, input: "{{ input }}"}, {id: y, operation: b, input: {n: 1, of: "{{ steps.x.output }}"}}, {id: z, operation: c}]}`), 3)
	c.made()
	_, _, calls := c.again(t, r, coordinator.Rerun{Null: true})
	require.Equal(t, []string{"a <nil>", "b map[n:1 of:<nil>]"}, calls)
	next, _, _ := c.again(t, r, coordinator.Rerun{From: "z"})
	_, _, calls = c.again(t, next, coordinator.Rerun{Set: map[string]any{"steps.y.input.n": 2}})
	require.Equal(t, []string{"b map[n:2 of:3]", "c <nil>"}, calls)
	_, err := r.Rerun(t.Context(), coordinator.Rerun{Null: true, Input: 1})
	require.ErrorIs(t, err, coordinator.ErrUnclear)
}

// replaced returns a text with others in place of parts of it.
func replaced(text string, old ...string) string {
	return strings.NewReplacer(old...).Replace(text)
}

// waiting returns when a step has been asked.
func waiting(t testing.TB, r *coordinator.Run, step string) {
	for u, err := range r.Watch(t.Context(), 1) {
		require.NoError(t, err)
		if u.Event.Type == journal.CallRequested && u.Event.Node == step {
			return
		}
	}
}

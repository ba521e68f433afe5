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

// TestWhatIsAskedWronglyOfAChangeIsRefusedWhole: whatever is wrong with a rerun, a move or a moment, the error has the place, the text and
// what to do, and the store is as it was.
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
		"set something else": {rerun(open, coordinator.Rerun{Set: map[string]any{"ctx.x": 1}}), coordinator.ErrNotPossible, `"ctx.x" cannot be set: write steps.STEP.output or steps.STEP.input, with a path behind it`},
		"at beyond the end":  {rerun(ended, coordinator.Rerun{At: end + 1, From: "a"}), coordinator.ErrNoMoment, fmt.Sprintf("run %s has %d events, and so no event %d", ended.ID(), end, end+1)},
		"nothing":            {rerun(ended, coordinator.Rerun{}), coordinator.ErrUnclear, "say what runs again"},
		"in two ways":        {rerun(ended, coordinator.Rerun{Changed: true, Only: "a"}), coordinator.ErrUnclear, "in one way"},
		"nothing has failed": {rerun(ended, coordinator.Rerun{Failed: true}), coordinator.ErrNotPossible, "nothing of run " + ended.ID() + " has failed: say from which step it runs again"},

		"move to another past":        {move(open, document("operation: a", "operation: e")), coordinator.ErrNotPossible, "run open has begun what would have gone otherwise: first"},
		"move to another input":       {move(open, document("n: 1", "n: 2")), coordinator.ErrNotPossible, "`sluice shadow` tells all of it, and `sluice rerun --workflow` begins again"},
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

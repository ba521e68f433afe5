package bulk

import (
	"context"
	"fmt"
	"slices"

	"github.com/sluiceflow/sluice/coordinator/commands"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
)

// failedSteps calls found with each step of a run that has failed for good, in the order of the template.
func failedSteps(root *reactive.Root, found func(v int32)) {
	if root.Body() != nil {
		return
	}
	var nodes []int32
	for v := range root.Len() {
		if root.Key(v) != "" {
			nodes = append(nodes, v)
		}
	}
	slices.SortFunc(nodes, root.Compare)
	for _, v := range nodes {
		if root.Place(v).Kind == plan.Step && root.Status(v) == reactive.Failed && !root.Pending(v) {
			found(v)
		}
	}
}

// examineSteps finds the failed steps of a run.
func examineSteps(ctx context.Context, a *acts, _ *Act, run string, x *examined) error {
	_, root, err := a.reader.Replay(ctx, run, nil)
	if err != nil {
		return fmt.Errorf("it cannot be followed: %w", err)
	}
	failedSteps(root, func(v int32) {
		key := root.Key(v)
		x.steps = append(x.steps, key)
		if root.Place(v).Step.NonIdempotent {
			x.again = append(x.again, key)
		}
	})
	if x.will = len(x.steps); x.will == 0 {
		x.outcome = already(noFailure)
	}
	return nil
}

// carryRetry asks the chosen steps again, except those that the act has asked already or that are no longer failed.
func carryRetry(ctx context.Context, a *request) Outcome {
	if len(a.steps) == 0 {
		head, err := a.reader.Head(ctx, a.run)
		if err != nil {
			return a.outcomeOf(ctx, err)
		}
		if o := a.verb.foresee(&a.act, &head, false); o.Result != "" {
			return o
		}
		return already(noFailure)
	}
	_, root, err := a.reader.Replay(ctx, a.run, nil)
	if err != nil {
		return a.outcomeOf(ctx, err)
	}
	failed := map[string]bool{}
	failedSteps(root, func(v int32) { failed[root.Key(v)] = true })
	asked, last := len(a.did), error(nil)
	for _, step := range a.steps {
		if a.did[step] || !failed[step] {
			continue
		}
		if err := a.command(ctx, commands.Retried(step)); err != nil {
			if o := a.outcomeOf(ctx, err); o.Result != Refused {
				return o
			}
			last = fmt.Errorf("step %q: %w", step, err)
			continue
		}
		asked++
	}
	switch {
	case asked == 0 && last != nil:
		return Outcome{Result: Refused, Why: plain(a.run, last)}
	case asked == 0:
		return already("its failed steps were retried meanwhile")
	case asked < len(a.steps) && last != nil:
		return Outcome{Result: Done, Why: fmt.Sprintf("%d of %s retried; %s", asked, counted(len(a.steps), "step"), plain(a.run, last))}
	}
	return Outcome{Result: Done}
}

// marked reports whether the journal of a run has commands of the act, and returns the steps that they are about.
func (d *driver) marked(ctx context.Context, run string) (bool, map[string]bool, error) {
	found, steps := false, map[string]bool{}
	for e, err := range d.store.Read(ctx, run, 1) {
		if err != nil {
			return found, steps, err
		}
		if e.Type == d.verb.kind && e.Detail != nil && e.Detail.ID == d.stream {
			found = true
			if e.Node != "" {
				steps[e.Node] = true
			}
		}
	}
	if found || d.verb.kind != journal.RunResumed {
		return found, steps, nil
	}
	lifted, err := d.engine.Lifted(ctx, run, d.stream)
	return lifted, steps, err
}

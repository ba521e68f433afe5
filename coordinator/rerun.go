package coordinator

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator/rerun"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Rerun selects the steps that run again, and holds the new values: see rerun.Options. RerunPreview has the effect on each RerunStep.
type (
	Rerun        = rerun.Options
	RerunPreview = rerun.Preview
	RerunStep    = rerun.Step
)

// Rerun starts a new run that keeps results of this one and runs the rest again. It has the labels, the identity and the folder of
// this run, unless the options say otherwise. When it returns without an error, the new run is durable with all that it keeps, so
// this one may be deleted. A rerun that is not possible is refused as a whole, with an error, and nothing is journaled.
func (r *Run) Rerun(ctx context.Context, what Rerun, opts ...Option) (*Run, error) {
	return r.rerunFor(ctx, "", &what, opts)
}

// rerunFor is Rerun, for an act on many runs unless that is "".
func (r *Run) rerunFor(ctx context.Context, act string, what *Rerun, opts []Option) (*Run, error) {
	if r.would != nil {
		return nil, errDry
	}
	e := r.engine
	defer e.registry.Use()() // from here on until the new run refers to its workflow
	made, err := e.reruns.Make(ctx, r.id, what)
	if err != nil {
		return nil, err
	}
	o, err := made.Options(r.actor, act, opts)
	if err != nil {
		return nil, err
	}
	next, err := e.startWith(ctx, made.Entry, made.Input, o)
	if errors.Is(err, journal.ErrTooLarge) {
		return nil, fmt.Errorf("%w: a rerun of run %s would keep too much to begin with: have it run from an earlier place on: %w", ErrNotPossible, r.id, err)
	}
	return next, err
}

// PreviewRerun previews a Rerun by the computation that then carries it out, with the same refusals. It starts nothing.
func (r *Run) PreviewRerun(ctx context.Context, what Rerun, opts ...Option) (*RerunPreview, error) {
	return r.engine.reruns.Preview(ctx, r.id, r.actor, &what, opts)
}

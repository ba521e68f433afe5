package sluice

import (
	"context"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/template/flow"
)

// Start begins a run of a workflow whose types are known: an input of another type does not compile. In all else it does
// what coordinator.Engine.Start does, which also takes workflows without types.
func Start[In, Out any](ctx context.Context, e *coordinator.Engine, w flow.Workflow[In, Out], input In, opts ...coordinator.Option) (*Run[Out], error) {
	r, err := e.Start(ctx, w.Tree(), input, opts...)
	if err != nil {
		return nil, err
	}
	return &Run[Out]{r}, nil
}

// Run is a handle of a run whose output has a type. Run[Out]{r} gives the type to a run that was found by its id.
type Run[Out any] struct{ *coordinator.Run }

// Result is how such a run ended.
type Result[Out any] struct {
	*coordinator.Result
	Output Out // as its json tags say; zero unless the run completed
}

// Wait returns when the run has ended, however it did: see coordinator.Run.Wait. It returns the result beside an error when
// the run has completed with an output that is no Out.
func (r *Run[Out]) Wait(ctx context.Context) (*Result[Out], error) {
	ended, err := r.Run.Wait(ctx)
	if err != nil {
		return nil, err
	}
	result := &Result[Out]{Result: ended}
	if ended.Err() != nil {
		return result, nil
	}
	if err := ended.Decode(&result.Output); err != nil {
		return result, fmt.Errorf("output of run %s: %w", r.ID(), err)
	}
	return result, nil
}

package sluice

import (
	"context"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/template/flow"
)

// Start starts a run of a typed workflow: an input of another type does not compile. Otherwise it does the same as
// coordinator.Engine.Start, which also accepts workflows without types.
func Start[In, Out any](ctx context.Context, e *coordinator.Engine, w flow.Workflow[In, Out], input In, opts ...coordinator.Option) (*Run[Out], error) {
	r, err := e.Start(ctx, w.Tree(), input, opts...)
	if err != nil {
		return nil, err
	}
	return &Run[Out]{r}, nil
}

// Run is a run with a typed output. Run[Out]{r} adds the type to a run r that was found by its id.
type Run[Out any] struct{ *coordinator.Run }

// Result is the result of a run with a typed output.
type Result[Out any] struct {
	*coordinator.Result
	Output Out // decoded by its json tags; zero unless the run completed
}

// Wait waits until the run has ended and returns its result: see coordinator.Run.Wait. If the output of a completed run cannot
// be decoded as Out, it returns both the result and an error.
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

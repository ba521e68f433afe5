package reader

import (
	"context"

	"github.com/sluiceflow/sluice/reactive/inspect"
)

// Awaits returns nil if a step of the run's workflow waits for a message of that name, has waited, or may still wait for it; otherwise an
// *UnawaitedError. A name that a document computes matches any message. Other errors mean that the answer is unknown.
func (r *Reader) Awaits(ctx context.Context, run, message string) error {
	start, err := r.Start(ctx, run)
	if err != nil {
		return err
	}
	entry, err := r.registry.Read(ctx, start.Workflow, start.Children)
	if err != nil {
		return err
	}
	return inspect.Unawaited(entry.Plan, message)
}

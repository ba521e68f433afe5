package reader

import (
	"context"
	"slices"

	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/machine"
)

// Awaits returns nil if a step of the run's workflow waits for a message of that name, has waited, or may yet wait for it;
// else an *UnawaitedError. A name that a document computes matches any message. Other errors mean that the answer is unknown.
func (r *Reader) Awaits(ctx context.Context, run, message string) error {
	start, err := r.Start(ctx, run)
	if err != nil {
		return err
	}
	entry, err := r.registry.Read(ctx, start.Workflow, start.Children)
	if err != nil {
		return err
	}
	names, all := inspect.Awaited(entry.Plan)
	if !all || slices.Contains(names, message) {
		return nil
	}
	near, _ := expr.Nearest(message, names)
	_, isWorld := entry.Plan.Workflow.Routing.(*machine.World)
	return &inspect.UnawaitedError{World: isWorld, Workflow: entry.Plan.Workflow.Name, Message: message, Nearest: near, Awaited: names}
}

package coordinator

import (
	"context"
	"errors"
	"slices"

	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/template/expr"
)

// UnawaitedError is returned by Awaits.
type UnawaitedError = inspect.UnawaitedError

// Awaits returns nil when a step of the run's workflow waits for a message of that name, has waited, or may come to it; else an
// *UnawaitedError. A name that a document computes may be any. Other errors say why it cannot be told. Send takes a message
// either way: what nobody waits for, it says in the log.
func (r *Run) Awaits(ctx context.Context, message string) error {
	e := r.engine
	if err := e.down(); err != nil {
		return err
	}
	start, err := e.start(ctx, r.id)
	if err != nil {
		return e.why(ctx, err)
	}
	entry, err := e.registry.Read(ctx, start.Workflow, start.Children)
	if err != nil {
		return e.why(ctx, err)
	}
	names, all := inspect.Awaited(entry.Plan)
	if !all || slices.Contains(names, message) {
		return nil
	}
	near, _ := expr.Nearest(message, names)
	return &UnawaitedError{Workflow: entry.Plan.Workflow.Name, Message: message, Nearest: near, Awaited: names}
}

// tellUnawaited logs that a message was sent that nobody waits for.
func (r *Run) tellUnawaited(ctx context.Context, message string) {
	if e, ok := errors.AsType[*UnawaitedError](r.Awaits(ctx, message)); ok {
		r.engine.config.Logger.Warn("a message that nobody waits for was sent", "run", r.id, "message", message, "reason", e)
	}
}

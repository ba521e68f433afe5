package reader

import (
	"context"
	"errors"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// If no engine goes on with a run, the run stands still, but its timers fall due. The next command for the run, or the next
// engine that goes on with it, journals them before anything else: so their effects are known already, and readers include
// them. Readers change nothing in the store.

// isOverdue reports whether the run does not go on here and an instant at which it is due has passed.
func isOverdue(p Process, id string, due int64) bool {
	if due == 0 || due > p.Now() {
		return false
	}
	return !p.Drives(id)
}

// settle applies timers that have fallen due to the root of a run that does not go on here, passing each event to apply. It
// reports whether there were any.
func (r *Reader) settle(ctx context.Context, root *reactive.Root, apply func(*journal.Event)) (late bool, err error) {
	start := root.Start()
	if start == nil || !isOverdue(r.process, start.Run, root.NextDue()) {
		return false, nil
	}
	entry, err := r.registry.Read(ctx, start.Workflow, start.Children)
	if err != nil {
		return false, err
	}
	return true, r.Derived(start.Run, func() {
		step := decide.NewStepper(root, r.process.Host(start.Run, entry, root))
		step.FoldWith(apply)
		step.Settle(max(root.At(), r.process.Now()))
	})
}

// Current implements coordinator.Engine.Current.
func (r *Reader) Current(ctx context.Context, head journal.Head) (current journal.Head, late bool, err error) {
	if !head.Open || !isOverdue(r.process, head.Run, head.Due) {
		return head, false, nil
	}
	_, root, err := r.Replay(ctx, head.Run, nil)
	if err == nil {
		late, err = r.settle(ctx, root, func(event *journal.Event) { root.Apply(event) })
	}
	switch {
	case err != nil && Lasting(err) && !errors.Is(err, journal.ErrClosed):
		return head, false, nil
	case err != nil:
		return head, false, err
	case !late: // a command has set the instant
		return head, false, nil
	}
	now := decide.HeadOf(root)
	head.Status, head.Open, head.Due = now.Status, now.Open, now.Due
	return head, true, nil
}

// lateEnd returns the result of a run that does not go on here if timers that have fallen due have ended it; otherwise nil and the
// instant at which that may change, 0: never.
func (r *Reader) lateEnd(ctx context.Context, run string) (*inspect.Result, int64, error) {
	s, err := r.Whole(ctx, run)
	switch {
	case err != nil:
		return nil, 0, err
	case s.Finished:
		return &inspect.Result{Run: run, Status: s.Status, Failure: s.Failure, Output: s.Output}, 0, nil
	case s.Parked != nil:
		return nil, 0, nil // this process cannot interpret its timers
	}
	return nil, s.Due, nil
}

package reader

import (
	"context"
	"errors"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// A run that no engine goes on with stands still; its timers do not. What has fallen due is journaled by the next command for the
// run, or by who goes on with it, and before anything else: so it is known by now what the journal will say, and readers are
// told that. They change nothing: their store stays as it is.

// isOverdue reports whether an instant at which a run is to be looked at has passed, and the run does not go on here.
func (r *Reader) isOverdue(id string, due int64) bool {
	if due == 0 || due > r.process.Now() {
		return false
	}
	return !r.process.Drives(id)
}

// settle has a root that was made from the journal of a run that does not go on here take what has fallen due, if anything has:
// every event by apply. It reports whether there was something.
func (r *Reader) settle(ctx context.Context, root *reactive.Root, apply func(*journal.Event)) (late bool, err error) {
	start := root.Start()
	if start == nil || !r.isOverdue(start.Run, root.NextDue()) {
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

// Current gives a head that Runs has yielded as things stand now: of a run that does not go on here, and whose timers have
// fallen due, the status is what the journal will say first when somebody goes on with it, and late is true. Then it costs as
// much as State. Of every other run, also one that cannot be followed, it is the head as it was.
func (r *Reader) Current(ctx context.Context, head journal.Head) (current journal.Head, late bool, err error) {
	if !head.Open || !r.isOverdue(head.Run, head.Due) {
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
	case !late: // it was a command that has set the instant
		return head, false, nil
	}
	now := decide.HeadOf(root)
	head.Status, head.Open, head.Due = now.Status, now.Open, now.Due
	return head, true, nil
}

// lateEnd is how a run that does not go on here has ended by what has fallen due; nil when it has not, with the instant at
// which that may be otherwise, 0: never.
func (r *Reader) lateEnd(ctx context.Context, run string) (*inspect.Result, int64, error) {
	s, err := r.State(ctx, run)
	switch {
	case err != nil:
		return nil, 0, err
	case s.Finished:
		return &inspect.Result{Run: run, Status: s.Status, Failure: s.Failure, Output: s.Output}, 0, nil
	case s.Parked != nil:
		return nil, 0, nil // its timers mean nothing to this process
	}
	return nil, s.Due, nil
}

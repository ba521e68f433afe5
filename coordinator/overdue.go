package coordinator

import (
	"context"
	"errors"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// A run that no engine goes on with stands still; its timers do not. What has fallen due is journaled by the next wish for the
// run, or by who goes on with it, and before anything else: so it is known by now what the journal will say, and readers are
// told that. They change nothing: their store stays as it is.

// isOverdue reports whether an instant at which a run is to be looked at has passed, and the run does not go on here.
func (e *Engine) isOverdue(id string, due int64) bool {
	if due == 0 || due > e.clock.now() {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.drives(id)
}

// settle has a root that was made from the journal of a run that does not go on here take what has fallen due, if anything has:
// every event by apply. It returns the run with that root, or nil where there was nothing.
func (e *Engine) settle(ctx context.Context, root *reactive.Root, apply func(*journal.Event)) (*run, error) {
	start := root.Start()
	if start == nil || !e.isOverdue(start.Run, root.NextDue()) {
		return nil, nil
	}
	entry, err := e.registry.Read(ctx, start.Workflow, start.Children)
	if err != nil {
		return nil, err
	}
	r := newRun(e, start.Run)
	err = e.derived(r.id, func() {
		r.adopt(entry, root, root.At())
		r.step.FoldWith(apply)
		r.step.Settle(r.instant())
	})
	return r, err
}

// Current gives a head that Runs has yielded as things stand now: of a run that does not go on here, and whose timers have
// fallen due, the status is what the journal will say first when somebody goes on with it, and late is true. Then it costs as
// much as State. Of every other run, also one that cannot be followed, it is the head as it was.
func (e *Engine) Current(ctx context.Context, head journal.Head) (current journal.Head, late bool, err error) {
	if err := e.down(); err != nil {
		return head, false, err
	}
	if !head.Open || !e.isOverdue(head.Run, head.Due) {
		return head, false, nil
	}
	_, root, err := e.replay(ctx, head.Run, nil)
	var r *run
	if err == nil {
		r, err = e.settle(ctx, root, func(event *journal.Event) { root.Apply(event) })
	}
	switch {
	case err != nil && lasting(err) && !errors.Is(err, journal.ErrClosed):
		return head, false, nil
	case err != nil:
		return head, false, e.why(ctx, err)
	case r == nil: // it was a wish that has set the instant
		return head, false, nil
	}
	now := r.head()
	head.Status, head.Open, head.Due = now.Status, now.Open, now.Due
	return head, true, nil
}

// lateEnd is how a run that does not go on here has ended by what has fallen due; nil when it has not, with the instant at
// which that may be otherwise, 0: never.
func (r *Run) lateEnd(ctx context.Context) (*Result, int64, error) {
	s, err := r.State(ctx)
	switch {
	case err != nil:
		return nil, 0, err
	case s.Finished:
		return &Result{Run: r.id, Status: s.Status, Failure: s.Failure, Output: s.Output}, 0, nil
	case s.Parked != nil:
		return nil, 0, nil // its timers mean nothing to this process
	}
	return nil, s.Due, nil
}

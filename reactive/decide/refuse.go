package decide

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/cells"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
)

// refuse returns an error if an item would have no effect or would harm the run, and nil if it may be journaled. For a message
// that was taken before, it returns the earlier event.
func (s *Stepper) refuse(it *Item) (earlier *journal.Event, err error) {
	if it.Reply == nil { // a result, see fit
		return nil, s.refuseState(&it.Event)
	}
	return s.refuseCommand(&it.Event)
}

// refuseCommand is refuse for commands.
func (s *Stepper) refuseCommand(e *journal.Event) (earlier *journal.Event, err error) {
	if err := s.refuseState(e); err != nil {
		return nil, err
	}
	if e.Type == journal.MessageReceived {
		if earlier := s.root.Taken(e); earlier != nil {
			return earlier, nil
		}
		switch earlier, err = s.root.Cells().Receive(e); {
		case errors.Is(err, cells.ErrFull):
			return nil, fmt.Errorf("%w: %w", ErrMailboxFull, err)
		case err != nil:
			return nil, fmt.Errorf("%w: %w", ErrInvalidMessage, err)
		case earlier != nil:
			return earlier, nil
		}
	}
	return nil, s.refuseSize(e)
}

// refuseState returns an error if an event has no effect in the current state.
func (s *Stepper) refuseState(e *journal.Event) error {
	switch started := s.root.Started(); {
	case e.Type == journal.RunStarted && !started:
		return nil
	case e.Type == journal.RunStarted:
		return journal.ErrConflict
	case !started:
		return ErrRunNotFound
	}
	if s.root.Finished() != nil && !s.reopens(e) {
		return finished(s.root, e)
	}
	switch e.Type {
	case journal.NodeAborted, journal.NodeRetried:
		return s.refuseStep(e)
	case journal.DecisionReceived, journal.DecisionOverridden:
		if e.Detail.State != "" {
			return s.refuseDecision(e)
		}
	case journal.ContextPatched:
		return s.refusePatch(e)
	case journal.CallReported:
		return s.refuseReport(e)
	case journal.RunCancelled, journal.MessageReceived:
		if s.root.Closed() {
			return ErrFinished
		}
	case journal.RunPaused, journal.RunResumed:
		return s.refusePause(e)
	case journal.CellPaused, journal.CellResumed:
		return s.refuseCellPause(e)
	}
	return nil
}

// refuseCellPause returns an error if a cell cannot be paused or resumed.
func (s *Stepper) refuseCellPause(e *journal.Event) error {
	err := s.root.Cells().RefusePause(e.Node, e.Type == journal.CellPaused)
	switch {
	case errors.Is(err, ErrNotWorld):
		return err
	case s.root.Closed():
		return ErrFinished
	}
	return refused(e.Node, err)
}

// refused returns the error of a command about a key without an open call, from the error of the body.
func refused(key string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, reactive.ErrUnknown):
		return fmt.Errorf("%w: %q", ErrStepNotFound, key)
	case errors.Is(err, cells.ErrUnknown):
		why := strings.TrimPrefix(err.Error(), fmt.Sprintf("no cell %q", key)) // there can be no such cell: no such machine, or no key
		return fmt.Errorf("%w %q%s", ErrCellNotFound, key, why)
	}
	return fmt.Errorf("%w: %w", ErrNotPossible, err)
}

// refusePause returns an error if a run cannot be paused or resumed. The cause of a pause determines the way to end it.
func (s *Stepper) refusePause(e *journal.Event) error {
	cause := ""
	if e.Detail != nil {
		cause = e.Detail.Cause
	}
	stopped := s.root.Stopped()
	if cause != "" {
		stopped = s.root.PausedFromAbove()
	}
	switch {
	case s.root.Closed():
		return ErrFinished
	case e.Type == journal.RunPaused && stopped:
		return fmt.Errorf("%w: it is paused already", ErrNotPossible)
	case e.Type == journal.RunPaused, stopped:
		return nil
	case !s.root.Paused():
		return fmt.Errorf("%w: it is not paused", ErrNotPossible)
	case s.root.PausedFromAbove():
		return fmt.Errorf("%w: the run that started it is paused: resume %s", ErrNotPossible, journal.ParentRun(s.root.Start().Run))
	}
	return fmt.Errorf("%w: the outcome of a step has paused it: decide that step", ErrNotPossible)
}

// reopens reports whether a command resumes a finished run. A retry of a step does, unless the run was closed, which aborted
// everything at once: such a run can only be run again from the start. A child is never reopened alone. A finished playbook has
// no attempt to repeat, and refuseStep returns that error.
func (s *Stepper) reopens(e *journal.Event) bool {
	return e.Type == journal.NodeRetried && !s.root.Closed() && s.root.Start().Parent == ""
}

// finished returns ErrFinished, with the alternative to a retry.
func finished(root *reactive.Root, e *journal.Event) error {
	switch parent := root.Start().Parent; {
	case e.Type != journal.NodeRetried || world.Of(root) != nil:
		return ErrFinished
	case parent != "":
		return fmt.Errorf("%w: retry the step of run %s that started it", ErrFinished, parent)
	}
	return fmt.Errorf("%w, and was ended as a whole: no step of it runs again; `sluice rerun` starts a new run that keeps its results", ErrFinished)
}

func (s *Stepper) refuseStep(e *journal.Event) error {
	v, ok := s.root.Node(e.Node)
	if renews(e) {
		if err := s.root.Cells().RefuseKey(); err != nil {
			return refused(e.Node, err)
		}
	}
	if body := s.root.Body(); !ok && body != nil {
		refuse := body.RefuseAbort
		if e.Type == journal.NodeRetried {
			refuse = body.RefuseRetry
		}
		return refused(e.Node, refuse(e.Node))
	}
	if !ok {
		return fmt.Errorf("%w: %q", ErrStepNotFound, e.Node)
	}
	status := s.root.Status(v)
	switch {
	case s.root.Closed():
		return ErrFinished
	case e.Type == journal.NodeAborted && s.root.Final(v):
		return fmt.Errorf("%w: step %q is %s", ErrNotPossible, e.Node, status)
	case e.Type == journal.NodeRetried:
		return s.refuseRetry(v, e)
	}
	return nil
}

// renews reports whether a command is a retry with a new idempotency key.
func renews(e *journal.Event) bool {
	return e.Type == journal.NodeRetried && e.Detail != nil && e.Detail.Key != ""
}

// refuseRetry returns an error if a step cannot be retried, or its decision cannot be requested again.
func (s *Stepper) refuseRetry(v int32, e *journal.Event) error {
	undecided := s.root.Undecided(v)
	asks := undecided && (e.Detail == nil || !e.Detail.Work)
	switch {
	case asks && renews(e):
		return fmt.Errorf("%w: only the decision about step %q is open, and no call that could get a new key: repeat its work too",
			ErrNotPossible, e.Node)
	case asks && s.root.Reaskable(v):
		return nil
	case asks && s.root.ToBeAsked(v):
		return fmt.Errorf("%w: the decision about step %q is about to be asked for", ErrNotPossible, e.Node)
	case asks:
		return fmt.Errorf("%w: step %q waits for a person's decision, and nothing can be asked again: decide it, or repeat its work",
			ErrNotPossible, e.Node)
	case s.root.Pending(v) && !s.root.Retryable(v):
		return fmt.Errorf("%w: step %q is about to be attempted again", ErrNotPossible, e.Node)
	case !undecided && !s.root.Retryable(v):
		return fmt.Errorf("%w: step %q is %s and has no attempt to repeat%s", ErrNotPossible, e.Node, s.root.Status(v), insteadOf(s.root, v))
	case s.root.BlocksRetry(v):
		return fmt.Errorf("%w: a dependency of step %q has failed, and the failure policy aborts it at once", ErrNotPossible, e.Node)
	}
	return nil
}

// insteadOf names the step to retry in place of a map, or of a step that was aborted because another failed: the step in which
// the failure began. It is empty if there is none.
func insteadOf(root *reactive.Root, v int32) string {
	for f := root.Failure(v); f != nil && f.Step != ""; f = root.Failure(v) {
		u, ok := root.Node(f.Step)
		if !ok || u == v {
			break
		}
		if root.Retryable(u) {
			return fmt.Sprintf(": its failure began in step %q: retry that one", f.Step)
		}
		v = u // a map, whose failure began in an item
	}
	return ""
}

// refuseDecision returns an error if a decision is not possible. It completes a person's decision with its attempt, and marks
// it if it overrides an earlier one.
func (s *Stepper) refuseDecision(e *journal.Event) error {
	v, ok := s.root.Node(e.Node)
	switch {
	case !ok:
		return fmt.Errorf("%w: %q%s", ErrStepNotFound, e.Node, undecided(s.root))
	case !s.root.Undecided(v):
		return fmt.Errorf("%w: step %q waits for no decision", ErrNotPossible, e.Node)
	}
	e.Attempt = s.root.Attempt(v)
	if s.root.Fulfillment(v) != call.Undecided {
		e.Type = journal.DecisionOverridden
	}
	return nil
}

// undecided lists at most three steps with open decisions, for the error of a command that names another step.
func undecided(root *reactive.Root) string {
	var open []string
	for v := range root.Len() {
		if len(open) < 3 && root.Undecided(v) {
			open = append(open, root.Key(v))
		}
	}
	if len(open) == 0 {
		return ": no decision is open"
	}
	return ": a decision is open about " + strings.Join(open, ", ")
}

// refusePatch returns an error if the context cannot be written.
func (s *Stepper) refusePatch(e *journal.Event) error {
	steps := s.root.Steps()
	changes, _ := e.Value.(map[string]any)
	switch {
	case s.root.Closed():
		return ErrFinished
	case steps == nil:
		return fmt.Errorf("%w: only playbooks have a context", ErrNotPossible)
	case len(changes) == 0:
		return fmt.Errorf("%w: there is nothing to write", ErrNotPossible)
	}
	if err := steps.RefusePatch(changes); err != nil {
		return fmt.Errorf("%w: %w", ErrNotPossible, err)
	}
	return nil
}

// refuseReport returns an error if a report must not be journaled: its call has ended, or has too many reports.
func (s *Stepper) refuseReport(e *journal.Event) error {
	v, ok := s.root.Node(e.Node)
	if !ok {
		return fmt.Errorf("%w: %q", ErrStepNotFound, e.Node)
	}
	req := s.root.Request(v, e.Attempt)
	req.Participant = e.Detail.Participant
	switch {
	case s.root.Closed() || !s.root.Open(req):
		return ErrEnded
	case s.root.Reported(req) >= reactive.ReportsMax:
		return fmt.Errorf("%w: the call has reported %d times", ErrLimit, reactive.ReportsMax)
	}
	return nil
}

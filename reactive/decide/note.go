package decide

import (
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Note returns the events that a command adds to the journal of a run that no engine drives: due timers, the command, and the
// run's end if nothing is left to do. The engine that continues the run decides everything else. A refused command adds no
// event, and the stepper must not be used after it. A message that was taken before adds no event either: taken is then its
// earlier event, and otherwise the event of the command.
func (s *Stepper) Note(now int64, command journal.Event) (events []journal.Event, taken journal.Event, err error) {
	s.Settle(now)
	earlier, err := s.refuseCommand(&command)
	if err != nil {
		return nil, taken, err
	}
	if earlier != nil {
		return nil, *earlier, nil
	}
	command.At = now
	s.applyCommand(command)
	taken = s.batch[len(s.batch)-1]
	s.end()
	return s.batch, taken, s.root.Cells().Err()
}

// Settle returns the events of due timers of a run that no engine drives, up to the bounds of one step, and the run's end if
// nothing is left to do.
func (s *Stepper) Settle(now int64) []journal.Event {
	s.now, s.batch = now, s.batch[:0]
	if s.root.Started() && s.root.Finished() == nil {
		s.budget()
		s.fire(now)
		s.end()
	}
	return s.batch
}

// HeadOf returns the head of a run from its root.
func HeadOf(root *reactive.Root) journal.Head {
	s := root.Start()
	h := journal.Head{
		Run: s.Run, Workflow: s.Workflow, Name: s.Name, Status: string(root.RunStatus()), Labels: s.Labels,
		Started: root.MadeAt(), Updated: root.At(), Due: root.NextDue(), Open: root.Finished() == nil, Moved: root.Moved(),
	}
	h.Snapshot, _ = root.Cells().Snapshot(false)
	describe(&h, root)
	return h
}

// HeadAfter returns the head to store for a run whose root has applied the events up to last; the store sets Last. Decisions
// that a command has left open are due at once, see Run.Driven.
func HeadAfter(root *reactive.Root, last *journal.Event) journal.Head {
	h := HeadOf(root)
	if h.Open && Noted(last) {
		h.Due = last.At
	}
	return h
}

// Unfinished returns the head that is stored while the rest of a batch is missing: an engine that finds it continues the run
// at once.
func Unfinished(head journal.Head) journal.Head {
	head.Due = head.Updated
	if !head.Open {
		head.Open, head.Status = true, string(reactive.RunRunning)
		head.Code, head.Ended = "", 0
	}
	return head
}

// Noted reports whether an event is a command that may have been journaled while no engine drove the run. An engine that drives
// a run records the arrival of a command.
func Noted(e *journal.Event) bool {
	if e.Detail != nil && e.Detail.Received != 0 {
		return false
	}
	switch e.Type {
	case journal.MessageReceived, journal.NodeAborted, journal.NodeRetried, journal.ContextPatched, journal.RunPaused,
		journal.RunResumed, journal.RunCancelled, journal.RunMoved, journal.CellPaused, journal.CellResumed, journal.CellReset:
		return true
	case journal.CellFailed: // by a person, not by the cell's machine
		return e.Detail != nil && e.Detail.Failure != nil && e.Detail.Failure.Code == reactive.CodeAborted
	case journal.DecisionReceived, journal.DecisionOverridden:
		return e.Detail != nil && e.Detail.State != ""
	}
	return false
}

package coordinator

import (
	"errors"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// head is what a list of runs shows of this one.
func (r *run) head() journal.Head { return headOf(r.step.root) }

// headOf is the head of a run whose events a root has been given. It follows from them alone.
func headOf(root *reactive.Root) journal.Head {
	s := root.Start()
	return journal.Head{
		Run: s.Run, Workflow: s.Workflow, Name: s.Name, Status: string(root.RunStatus()), Labels: s.Labels,
		Started: root.StartedAt(), Updated: root.At(), Due: root.NextDue(), Open: root.Finished() == nil,
	}
}

// HeadAfter is the head that the store has of a run whose events the root has been given, the last of which is last; Last is
// left to the store. What a command has left to be decided is due at once, see Run.Driven.
func HeadAfter(root *reactive.Root, last *journal.Event) journal.Head {
	h := headOf(root)
	if h.Open && Noted(last) {
		h.Due = last.At
	}
	return h
}

// Noted reports whether an event is a command that may have been journaled while no engine went on with the run: an engine
// that does notes when it came in.
func Noted(e *journal.Event) bool {
	if e.Detail != nil && e.Detail.Received != 0 {
		return false
	}
	switch e.Type {
	case journal.MessageReceived, journal.NodeAborted, journal.NodeRetried, journal.ContextPatched, journal.RunPaused,
		journal.RunResumed, journal.RunCanceled:
		return true
	case journal.DecisionReceived, journal.DecisionOverridden:
		return e.Detail != nil && e.Detail.State != ""
	}
	return false
}

// StatusDamaged is what a list of runs shows as the status of one whose head cannot be read.
const StatusDamaged = "damaged"

// unreadable reports whether an error is about one head alone, whose run is named: others can be read.
func unreadable(head *journal.Head, err error) bool {
	return head.Run != "" && (errors.Is(err, journal.ErrDamaged) || errors.Is(err, journal.ErrVersion))
}

// damagedHead stands for the head of a run that cannot be read. Whether the run has finished is not known.
func damagedHead(id string) journal.Head {
	return journal.Head{Run: id, Status: StatusDamaged, Open: true}
}

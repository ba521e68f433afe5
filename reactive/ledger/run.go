package ledger

import (
	"math"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// run is the state of the run itself.
type run struct {
	start    *journal.Start
	input    any
	started  int64 // Unix nanoseconds
	made     int64 // Unix nanoseconds
	moved    uint64
	deadline int64 // Unix nanoseconds; 0: none, or no call yet
	closed   *journal.Event
	finished *journal.Event
	stopped  bool // paused by a person, until a person resumes it
	above    bool // paused because the parent run is paused, until that is resumed
}

// Started reports whether the run has its first event.
func (l *Ledger) Started() bool { return l.run.start != nil }

// Start returns the parameters of the run.
func (l *Ledger) Start() *journal.Start { return l.run.start }

// Finished returns the event that finished the run, or nil.
func (l *Ledger) Finished() *journal.Event { return l.run.finished }

// Moved returns the sequence of the event that moved the run to its workflow or its child workflows, or 0 if it was started with
// them.
func (l *Ledger) Moved() uint64 { return l.run.moved }

// RunInput returns the input of the run, as in the event.
func (l *Ledger) RunInput() any { return l.run.input }

// StartedAt returns the instant of the run's start, Unix nanoseconds.
func (l *Ledger) StartedAt() int64 { return l.run.started }

// MadeAt returns the instant at which the run was made, Unix nanoseconds: the instant of its start or, for a run that begins with
// the past of another, of the last event of that past.
func (l *Ledger) MadeAt() int64 { return l.run.made }

// At returns the instant of the event applied last, Unix nanoseconds.
func (l *Ledger) At() int64 { return l.at }

// Seq returns the sequence of the event applied last.
func (l *Ledger) Seq() uint64 { return l.seq }

// Tail returns the number of events since the newest snapshot, or of all events if there is none.
func (l *Ledger) Tail() uint64 { return l.seq - l.base }

// Bytes returns the encoded size of the values of all events since the newest snapshot, in bytes.
func (l *Ledger) Bytes() int { return l.bytes }

// Deadline returns the instant of the run's deadline, Unix nanoseconds, or 0 if it has none, or no call yet.
func (l *Ledger) Deadline() int64 { return l.run.deadline }

// Closed reports whether the run was cancelled, closed or exceeded its deadline; later events change nothing.
func (l *Ledger) Closed() bool { return l.run.closed != nil }

// ClosedBy returns the event that closed the run, or nil.
func (l *Ledger) ClosedBy() *journal.Event { return l.run.closed }

// Paused reports whether nothing new may start: a person has paused the run, its parent run is paused, or the outcome of a
// task pauses it.
func (l *Ledger) Paused() bool { return l.run.stopped || l.run.above || l.tasks.pauses > 0 }

// Stopped reports whether a person has paused the run. Only a person ends such a pause.
func (l *Ledger) Stopped() bool { return l.run.stopped }

// PausedFromAbove reports whether the run is paused because its parent run is paused.
func (l *Ledger) PausedFromAbove() bool { return l.run.above }

// foldPause begins or ends one cause of a pause.
func (l *Ledger) foldPause(e *journal.Event) Effect {
	cause := &l.run.stopped
	if e.Detail != nil && e.Detail.Cause != "" {
		cause = &l.run.above
	}
	paused := e.Type == journal.RunPaused
	if *cause == paused || l.run.closed != nil {
		return Late
	}
	*cause = paused
	return Applied
}

// foldReopened resumes a finished run.
func (l *Ledger) foldReopened() Effect {
	if l.run.closed != nil || l.run.finished == nil {
		return Late
	}
	l.run.finished, l.run.deadline = nil, 0
	return Applied
}

func bytesOf(e *journal.Event) int {
	size := sizeOf(e.Value)
	if d := e.Detail; d != nil {
		size += sizeOf(d.About)
		if d.Failure != nil {
			size += sizeOf(d.Failure.Details)
		}
	}
	return size
}

// sizeOf returns the encoded size of a value, or 0 if v is not a valid value: reading it fails later.
func sizeOf(v any) int {
	if v == nil {
		return 0
	}
	size, err := value.Size(v, math.MaxInt)
	if err != nil {
		return 0
	}
	return size
}

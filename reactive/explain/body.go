package explain

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
)

// Body explains the decisions of a reactive.Body. It belongs to one inspect.Explainer.
type Body interface {
	// CallEnded records that a call has ended with the current event.
	CallEnded(key string, status ledger.Status, f *journal.Failure)

	// Waiting returns the waits of a run that has not ended.
	Waiting() []Reason

	// Ending returns the reasons for the failure of a run that no event has closed.
	Ending(f *journal.Failure) []Reason

	// Explain explains a step, or a part of a step that is not an open call. It returns nil if the body has no such name.
	Explain(name string) *Explanation
}

// Tracer is a Body that can trace the consequences of an event of the journal.
type Tracer interface {
	// Trace makes Explain explain the consequences of the event with a sequence under the name `#<seq>`. It must be called before
	// the first event.
	Trace(seq uint64)

	// Trimmed takes an event at which the state of the run is unknown, so that it has no consequences.
	Trimmed(e *journal.Event)
}

// Run describes the run to a Body.
type Run interface {
	// Event returns the current event, or the last one applied.
	Event() *Event

	// At returns the event with a sequence, or nil.
	At(seq uint64) *Event

	// Call returns the reason to wait for an open call.
	Call(node int32) Reason

	// Pause returns the reasons for a pause of the run, or nil.
	Pause() []Reason
}

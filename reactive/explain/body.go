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

	// Ending returns why a run that no event has closed has ended with a failure.
	Ending(f *journal.Failure) []Reason

	// Explain explains a step, or a part of a step that is not an open call; nil when the body has none of that name.
	Explain(name string) *Explanation
}

// Tracer is a Body that can trace the consequences of an event of the journal.
type Tracer interface {
	// Trace makes Explain explain, under the name `#<seq>`, the consequences of the event with a sequence. It is called before the
	// first event.
	Trace(seq uint64)

	// Trimmed takes an event at which the state of the run is unknown: only the event itself counts.
	Trimmed(e *journal.Event)
}

// Run tells a Body about the run.
type Run interface {
	// Event returns the event that is being applied, or was applied last.
	Event() *Event

	// At returns the event with a sequence; nil when there is none.
	At(seq uint64) *Event

	// Call returns the reason to wait for an open call.
	Call(node int32) Reason

	// Pause returns the reasons why nothing new may start; none when it may.
	Pause() []Reason
}

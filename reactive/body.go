package reactive

import (
	"io"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Body decides which calls a run makes, and when it is done, where a workflow's tree does not: the routed steps of a
// playbook. The root keeps the calls themselves: attempts, timing, participants, fulfillment, slots. Like the root it is
// a pure function of the journal.
type Body interface {
	// Apply takes an event after the root has. It opens and closes calls and calls Calls.Derive after that, until nothing
	// follows any more.
	Apply(e *journal.Event)

	// Input is what the next attempt of a call is made with.
	Input(v int32) (any, *journal.Failure)

	// NextFiring is the key of the step-run that is to be scheduled next; it stays the next until it was. It reports false
	// when there is none.
	NextFiring() (string, bool)

	// NextDue is when the body's next timer is due, Unix nanoseconds, and whether something is then tried again; 0: it has
	// none.
	NextDue() (due int64, retry bool)

	// Fire returns the event of that timer.
	Fire(now int64) journal.Event

	// Done reports whether nothing is left to do.
	Done() bool

	// Verdict says how a run that is done ends.
	Verdict() Verdict
}

// Digester is a Body that can say what it holds.
type Digester interface {
	// Digest writes everything that what it does next depends on. Instants are written relative to now.
	Digest(w io.Writer, now int64)
}

// StepReader is a Body that has steps of its own, beside the calls.
type StepReader interface {
	// StepNow is where a step stands, and what it has returned last. It reports false when there is no such step.
	StepNow(name string) (Status, any, bool)
}

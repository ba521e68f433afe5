package reactive

import (
	"errors"
	"io"

	"github.com/sluiceflow/sluice/reactive/explain"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/routed"
	"github.com/sluiceflow/sluice/template/value"
)

// Body decides which calls a run makes, and when it is done, where a workflow's tree does not: the routed steps of a
// playbook. The root keeps the calls themselves: attempts, timing, participants, fulfillment, slots. Like the root it is
// a pure function of the journal.
type Body interface {
	// Apply takes an event after the root has. It opens and closes calls and calls Calls.Derive after that, until nothing
	// follows any more.
	Apply(e *journal.Event)

	// Input returns what the next attempt of a call is made with.
	Input(v int32) (any, *journal.Failure)

	// NextFiring returns the key of the step-run that is to be scheduled next; it stays the next until it was. It reports false
	// when there is none.
	NextFiring() (string, bool)

	// NextDue returns when the body's next timer is due, Unix nanoseconds, and whether something is then tried again; 0: it has
	// none.
	NextDue() (due int64, retry bool)

	// Fire returns the event of that timer.
	Fire(now int64) journal.Event

	// Done reports whether nothing is left to do.
	Done() bool

	// Verdict returns how a run ends that is done.
	Verdict() Verdict

	// Digest writes all state that the body's future depends on. Instants are written relative to now.
	Digest(w io.Writer, now int64)

	// Secrets returns the marks of the secrets that a call is made with; none when it is not open.
	Secrets(v int32) []string

	Refuser
	Teller
}

// Refuser returns why a command that concerns a Body and no open call would be without effect; nil when it may be journaled.
type Refuser interface {
	// RefuseAbort concerns a key that names no open call. Errors wrap ErrUnknown, where the key names nothing.
	RefuseAbort(key string) error

	// RefuseRetry concerns a key that names no open call. Errors wrap ErrUnknown, where the key names nothing.
	RefuseRetry(key string) error

	// RefusePatch concerns values that are to be written to the context, by path.
	RefusePatch(changes map[string]any) error
}

// ErrUnknown means that a key names nothing in a body.
var ErrUnknown = errors.New("no such step")

// Teller reports the state of a body.
type Teller interface {
	// Workload returns the run's input, completed by the document's defaults. It must not be changed.
	Workload() map[string]value.Value

	// Context returns the run's context. It must not be changed.
	Context() map[string]value.Value

	// Counts returns the body's counts.
	Counts() routed.Counts

	// Steps returns the names of the steps, in the order written.
	Steps() []string

	// Tasks returns the labels of a step's tasks; nil when there is no such step.
	Tasks(step string) []string

	// StepNow returns the state of a step; false when there is no such step.
	StepNow(name string) (routed.StepState, bool)

	// Place returns the task that a call belongs to; false when it is not open.
	Place(v int32) (routed.Place, bool)

	// Waits returns the waits of the run: tokens first, oldest first, then step-runs in the order of scheduling.
	Waits() []routed.Wait

	// Watch calls f with everything that happens in the body from now on, within Apply and in order. There is one f at most.
	Watch(f func(routed.View))

	// Changes returns the changes of the body's steps from now on. It watches the body.
	Changes() routed.Changes

	// Explain returns what explains the body, which it watches. It asks run about the rest of the run.
	Explain(run explain.Run) explain.Body
}

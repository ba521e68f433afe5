package reactive

import (
	"errors"
	"io"

	"github.com/sluiceflow/sluice/reactive/explain"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/routed"
	"github.com/sluiceflow/sluice/template/value"
)

// Body decides the calls of a run and the end of the run, in place of a workflow's tree. There are two kinds: the routed steps
// of a playbook and the cells of a world. The root manages the calls themselves: attempts, timing, participants, fulfillment,
// slots. Like the root, a Body is a pure function of the journal. A body with routed steps implements Steps as well, and one
// with cells cells.Cells.
type Body interface {
	// Apply takes an event after the root has taken it. It opens and closes calls and then calls Calls.Derive, until nothing
	// changes any more.
	Apply(e *journal.Event)

	// Input returns the input of a call's next attempt.
	Input(v int32) (any, *journal.Failure)

	// Ready reports whether Next has an event.
	Ready() bool

	// Next returns the event of the body's next move at an instant: a step-run to be scheduled, or an activation of a cell. It
	// reports false if there is none. It may evaluate expressions; their results are in the event, so that Apply need not
	// evaluate them again.
	Next(now int64) (journal.Event, bool)

	// NextDue returns the instant of the body's next timer in Unix nanoseconds, or 0, and reports whether the timer is for a
	// retry.
	NextDue() (due int64, retry bool)

	// Fire returns the event of the timer that NextDue describes.
	Fire(now int64) journal.Event

	// Done reports whether nothing is left to do.
	Done() bool

	// Verdict returns the end of a run that is done.
	Verdict() Verdict

	// Digest writes all state that determines the body's future. Instants are relative to now.
	Digest(w io.Writer, now int64)

	// Secrets returns the marks of the secrets in the input of a call; none if the call is not open.
	Secrets(v int32) []string

	// Explain returns the explainer of the body. The explainer queries run about the rest of the run.
	Explain(run explain.Run) explain.Body

	Refuser
}

// Refuser judges commands to a Body that concern no open call. A method returns an error if the command would have no effect,
// nil if the command may be journaled.
type Refuser interface {
	// RefuseAbort judges an abort of a key without an open call. Its errors wrap ErrUnknown if the body does not have the key.
	RefuseAbort(key string) error

	// RefuseRetry judges a retry of a key without an open call. Its errors wrap ErrUnknown if the body does not have the key.
	RefuseRetry(key string) error
}

// ErrUnknown means that a body does not have a key.
var ErrUnknown = errors.New("no such step")

// Steps is a Body with routed steps: it reports their state.
type Steps interface {
	// Workload returns the run's input, completed by the document's defaults. It must not be changed.
	Workload() map[string]value.Value

	// Context returns the run's context. It must not be changed.
	Context() map[string]value.Value

	// RefusePatch judges a write of values to the context, by path. It returns nil if the write may be journaled.
	RefusePatch(changes map[string]any) error

	// Counts returns the body's counts.
	Counts() routed.Counts

	// Names returns the names of the steps, in the order written.
	Names() []string

	// Tasks returns the labels of a step's tasks; nil if there is no such step.
	Tasks(step string) []string

	// StepNow returns the state of a step. It reports false if there is no such step.
	StepNow(name string) (routed.StepState, bool)

	// Place returns the task that a call belongs to. It reports false if the call is not open.
	Place(v int32) (routed.Place, bool)

	// Waits returns the waits of the run: tokens first, oldest first, then step-runs in the order of scheduling.
	Waits() []routed.Wait

	// Watch makes the body call f, within Apply and in order, for each later change of the body. It replaces an earlier f.
	Watch(f func(routed.View))

	// Changes returns a recorder of the later changes of the body's steps. It calls Watch.
	Changes() routed.Changes
}

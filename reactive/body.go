package reactive

import (
	"errors"
	"io"

	"github.com/sluiceflow/sluice/reactive/explain"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/routed"
	"github.com/sluiceflow/sluice/template/value"
)

// Body decides which calls a run makes and when the run is done, in place of a workflow's tree: the routed steps of a
// playbook, the cells of a world. The root keeps the calls themselves: attempts, timing, participants, fulfillment, slots.
// Like the root, a Body is a pure function of the journal. A body with routed steps implements Steps as well, and one
// with cells Cells.
type Body interface {
	// Apply takes an event after the root has taken it. It opens and closes calls, and calls Calls.Derive after that, until
	// nothing changes any more.
	Apply(e *journal.Event)

	// Input returns the input of a call's next attempt.
	Input(v int32) (any, *journal.Failure)

	// Ready reports whether Next has an event.
	Ready() bool

	// Next returns the event of the body's next move at an instant: a step-run to be scheduled, an activation of a cell. It
	// reports false when there is none. It may evaluate expressions; their results are in the event, so that Apply need not
	// evaluate them again.
	Next(now int64) (journal.Event, bool)

	// NextDue returns the instant of the body's next timer in Unix nanoseconds, 0 if it has none, and whether that timer
	// retries something.
	NextDue() (due int64, retry bool)

	// Fire returns the event of the timer that NextDue describes.
	Fire(now int64) journal.Event

	// Done reports whether nothing is left to do.
	Done() bool

	// Verdict returns how a run that is done ends.
	Verdict() Verdict

	// Digest writes all state that the body's future depends on. Instants are written relative to now.
	Digest(w io.Writer, now int64)

	// Secrets returns the marks of the secrets in the input of a call; none when the call is not open.
	Secrets(v int32) []string

	// Explain returns the explainer of the body. It asks run about the rest of the run.
	Explain(run explain.Run) explain.Body

	Refuser
}

// Cells is a Body with cells, which take the messages of the run and make its calls: a world.
type Cells interface {
	// Receive completes the event of a message that is to be journaled: it brings the payload into its normal form and adds
	// the cells that the message goes to. Its error says why the message cannot be taken; one that wraps ErrFull means that
	// it may be later. If a message of the same id was taken before, Receive returns the event of that one, without its
	// payload, and nothing is to be journaled.
	Receive(e *journal.Event) (earlier *journal.Event, err error)

	// Settle replaces the output in the event of a call's result by the part that a cell takes, in its normal form. If that
	// is impossible, it adds the failure to the event.
	Settle(v int32, e *journal.Event)

	// Asked returns the idempotency key that was asked for a call; "": none.
	Asked(v int32) string

	// RefusePause judges a pause of a cell, or the end of one.
	RefusePause(cell string, paused bool) error

	// Snapshot returns the sequence of the event of the newest snapshot, 0 if there is none, and whether another is due, if leaves
	// before the run leaves memory, or states take so much memory that they are to become content.
	Snapshot(leaves bool) (seq uint64, due bool)

	// Serve has the host of the run's stepper run Go functions, if it can.
	Serve(host any)

	// Err returns why the cells cannot go on: the content that a snapshot keeps is damaged. Nothing that they have returned
	// since counts.
	Err() error
}

// ErrFull means that too many messages wait for a cell.
var ErrFull = errors.New("the mailbox is full")

// Refuser returns why a command that concerns a Body, and no open call, would have no effect; nil when the command may be
// journaled.
type Refuser interface {
	// RefuseAbort judges an abort of a key that is not an open call's. Its errors wrap ErrUnknown if the body does not have
	// the key.
	RefuseAbort(key string) error

	// RefuseRetry judges a retry of a key that is not an open call's. Its errors wrap ErrUnknown if the body does not have
	// the key.
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

	// RefusePatch judges a write of values to the context, by path: nil when it may be journaled.
	RefusePatch(changes map[string]any) error

	// Counts returns the body's counts.
	Counts() routed.Counts

	// Names returns the names of the steps, in the order written.
	Names() []string

	// Tasks returns the labels of a step's tasks; nil if there is no such step.
	Tasks(step string) []string

	// StepNow returns the state of a step. It reports false if there is no such step.
	StepNow(name string) (routed.StepState, bool)

	// Place returns the task that a call belongs to. It reports false when the call is not open.
	Place(v int32) (routed.Place, bool)

	// Waits returns the waits of the run: tokens first, oldest first, then step-runs in the order of scheduling.
	Waits() []routed.Wait

	// Watch makes the body call f, within Apply and in order, for everything that happens in it from now on. It replaces an
	// earlier f.
	Watch(f func(routed.View))

	// Changes returns the changes of the body's steps from now on. It watches the body.
	Changes() routed.Changes
}

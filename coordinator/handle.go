package coordinator

import (
	"context"
	"crypto/rand"

	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/commands"
	"github.com/sluiceflow/sluice/coordinator/lists"
	"github.com/sluiceflow/sluice/coordinator/moving"
	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Run is a handle of one run: to wait for it, to watch it, and to send it commands. It is a small value without resources; it
// is safe for concurrent use.
//
// A command is journaled, or refused with an error: ErrFinished if the run has ended, ErrStepNotFound, or ErrNotPossible if it
// would have no effect. A refused command does not change the journal.
type Run struct {
	lists.Reading     // its state and past: see there
	commands.Commands // that change it: see there
	cells.Handle      // of a world's run: see there
	moving.Moves      // to other workflows: see there

	engine *Engine
	id     string
	actor  string              // the actor of its commands; "": none
	would  func(journal.Event) // takes the events that its commands would journal; nil: they are journaled. See Dry
}

// ID returns the run's id.
func (r *Run) ID() string { return r.id }

// As returns a handle of the same run. Its commands record actor, a person or a program. If the name has more than ActorMax bytes, each
// command is refused.
func (r *Run) As(actor string) *Run {
	as := r.engine.handle(r.id, actor)
	as.would = r.would
	return as
}

// Driven reports whether this engine goes on with the run: see Config.PickUp. If not, commands are journaled and take effect
// when an engine goes on with it.
func (r *Run) Driven() bool {
	return process{r.engine}.Driven(r.id)
}

// Wait waits until the run has ended and returns its result, with any status: see Result.Err. The error of Wait itself
// means that the result is unknown: ctx has ended, ErrShutdown, or ErrParked with the reason. A run that this engine does not drive has
// ended when its journal records its end, or if a timer that has fallen due will end it: see State.Late.
func (r *Run) Wait(ctx context.Context) (*Result, error) {
	e := r.engine
	for {
		if err := e.checkOpen(); err != nil {
			return nil, err
		}
		active := e.active(r.id)
		if active == nil {
			result, err := e.parked.Await(ctx, r.id)
			if result != nil || err != nil {
				return result, err
			}
			continue
		}
		select {
		case <-ctx.Done():
			return nil, cancelled.Error(ctx)
		case <-active.unloaded:
		case <-e.end.Shut():
		}
		if !cancelled.Closed(active.unloaded) { // the loop does not return
			return nil, ErrShutdown
		}
		switch {
		case active.result != nil:
			return active.result, nil
		case active.err != nil:
			return nil, active.err
		case !active.idle:
			return nil, ErrShutdown
		}
	}
}

// A PayloadOption is an option of Run.Decide.
type PayloadOption = commands.PayloadOption

// WithPayload adds a value to a decision, such as its evidence. The journal keeps it.
func WithPayload(v any) PayloadOption { return PayloadOption{Payload: v} }

// A RetryOption changes how Retry repeats a step.
type RetryOption = commands.RetryOption

// RepeatWork makes Retry repeat the work of a step whose decision is open, and not only ask for the decision again.
func RepeatWork() RetryOption { return func(d *journal.Detail) { d.Work = true } }

// NewKey makes Retry run the attempt, and those that follow it, with an idempotency key that no call had before: an operation that
// honours keys then does the work again. It is not possible in a world, nor where a retry would only ask for a decision.
func NewKey() RetryOption { return func(d *journal.Detail) { d.Key = rand.Text() } }

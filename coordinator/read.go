package coordinator

import (
	"context"
	"errors"
	"iter"

	"github.com/sluiceflow/sluice/reactive/routed"

	"github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// What people read of a run: see packages inspect and reader.
type (
	Result         = inspect.Result
	State          = inspect.State
	StepState      = inspect.StepState
	Routed         = inspect.Routed
	Update         = inspect.Update
	StepChange     = inspect.StepChange
	TaskChange     = inspect.TaskChange
	LoopChange     = inspect.LoopChange
	Explanation    = inspect.Explanation
	Reason         = inspect.Reason
	DecidingEvent  = inspect.DecidingEvent
	UnawaitedError = inspect.UnawaitedError
	CallGraph      = reader.CallGraph
)

// StatusDamaged is what a list of runs shows as the status of one whose head cannot be read.
const StatusDamaged = reader.StatusDamaged

// ParkedReason is an error that wraps ErrParked as a text for people: why the run is parked, without the names of packages;
// "" for nil. Of damage it says who looks into it.
func ParkedReason(err error) string { return reader.ParkedReason(err) }

// read asks the reader, with errors that say why it has no answer.
func read[T any](ctx context.Context, e *Engine, ask func(*reader.Reader) (T, error)) (T, error) {
	if err := e.down(); err != nil {
		var none T
		return none, err
	}
	answer, err := ask(e.reader)
	return answer, e.why(ctx, err)
}

// readAll passes on what a reader yields, with errors that say why it has ended.
func readAll[T any](ctx context.Context, e *Engine, from iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if err := e.down(); err != nil {
			var none T
			yield(none, err)
			return
		}
		for one, err := range from {
			if !yield(one, e.why(ctx, err)) {
				return
			}
		}
	}
}

// Runs yields the heads of all runs in the store whose id is greater than after, in order of id, child runs included. They say
// what the journals say: see Current for runs that nobody goes on with. Of a run whose head cannot be read there is the id, with
// StatusDamaged; Parked says what is wrong.
func (e *Engine) Runs(ctx context.Context, after string) iter.Seq2[journal.Head, error] {
	return readAll(ctx, e, e.reader.Runs(ctx, after))
}

// Current returns a head that Runs has yielded as things stand now: of a run that does not go on here, and whose timers have
// fallen due, the status is what the journal will say first when somebody goes on with it, and late is true. Then it costs as
// much as State. Of every other run, also one that cannot be followed, it is the head as it was.
func (e *Engine) Current(ctx context.Context, head journal.Head) (current journal.Head, late bool, err error) {
	if err := e.down(); err != nil {
		return head, false, err
	}
	current, late, err = e.reader.Current(ctx, head)
	return current, late, e.why(ctx, err)
}

// Events yields what the run's journal holds now, from the event with sequence from (1: the start). Nothing is derived,
// so it also reads the runs that this program cannot follow.
func (r *Run) Events(ctx context.Context, from uint64) iter.Seq2[journal.Event, error] {
	return readAll(ctx, r.engine, r.engine.store.Read(ctx, r.id, from))
}

// State reads where the run stands. It follows the whole journal: its cost is proportional to the number of events, and the
// run itself is not held up. Timers of a run that does not go on here count when they have fallen due, though that is journaled
// only by who goes on with it: see State.Late. Of a run that cannot be followed, because it was started under rules of another
// version or is damaged, it reads what its events and its head say, without its steps.
func (r *Run) State(ctx context.Context) (*State, error) {
	return read(ctx, r.engine, func(from *reader.Reader) (*State, error) { return from.State(ctx, r.id) })
}

// Output reads what a step has returned, whole; "" is the run. A participant names one of those whom the step has asked: it
// is what that one has answered last. Where there is none, the error says how things stand: ErrNotPossible. It follows the
// whole journal, as State does.
func (r *Run) Output(ctx context.Context, step, participant string) (any, error) {
	s, err := r.State(ctx)
	if err != nil {
		return nil, err
	}
	return s.OutputOf(step, participant)
}

// Last is the sequence of the run's newest event.
func (r *Run) Last(ctx context.Context) (uint64, error) {
	head, err := read(ctx, r.engine, func(from *reader.Reader) (journal.Head, error) { return from.Head(ctx, r.id) })
	return head.Last, err
}

// Explain says what the run, or one of its steps, waits for, or why it has ended as it has. The step is named by its key;
// of a playbook also by the step's name or that of one of its runs; "" is the run. It follows the whole journal, as State
// does, with what has fallen due as there, and does not hold up the run. Of a parked run the first reason says why it is; where
// its journal cannot be followed that is all there is to say, also of a step.
func (r *Run) Explain(ctx context.Context, step string) (*Explanation, error) {
	return read(ctx, r.engine, func(from *reader.Reader) (*Explanation, error) { return from.Explain(ctx, r.id, step) })
}

// CallGraph reads which calls were made in the run, which of them have waited for which (edges of type depends_on), and which
// was made by which (triggered): a call asks participants and decision sources and starts child runs. The calls of all runs
// below this one are among the nodes, however deep, and those that have led to this one, so that the lineage of every call
// ends at the run that is nobody's child. It follows the journals of all these runs from their beginning: its cost is
// proportional to the number of their events, and none of them is held up. Of a run that this program cannot follow it shows
// the calls, without operations and without what has waited for what.
func (r *Run) CallGraph(ctx context.Context) (*CallGraph, error) {
	return read(ctx, r.engine, func(from *reader.Reader) (*CallGraph, error) { return from.CallGraph(ctx, r.id) })
}

// Watch yields everything that has happened to the run since the event with sequence from (0 and 1: from the start), and
// then what happens, as soon as it is durable. It ends after the run has, or with ctx's error.
//
// It reads the journal and derives the changes for itself: it sees every event once and in order, starts anywhere, and
// however slow it is, the run is not. A run that is not in memory is only read, and one that is parked is waited for.
func (r *Run) Watch(ctx context.Context, from uint64) iter.Seq2[Update, error] {
	return readAll(ctx, r.engine, r.engine.reader.Watch(ctx, r.id, from))
}

// History yields what Watch does, as far as the journal goes now.
func (r *Run) History(ctx context.Context, from uint64) iter.Seq2[Update, error] {
	return readAll(ctx, r.engine, r.engine.reader.History(ctx, r.id, from))
}

// Roots yields what the run's journal means, after each of its events: those that are there and those that come, until the
// run ends. The root is the caller's to read between two steps of the iteration, its signals to subscribe to; the journal
// alone changes it.
func (r *Run) Roots(ctx context.Context) iter.Seq2[*reactive.Root, error] {
	return readAll(ctx, r.engine, r.engine.reader.Roots(ctx, r.id))
}

// Views yields what has happened in the net of a playbook's run, in order, from the event with sequence from (1: the start) as
// far as its journal goes: admission, tasks, rules, arcs and tokens, none of which the journal holds. They follow from it, and
// are derived again each time. A run of anything else is ErrNotPossible.
func (r *Run) Views(ctx context.Context, from uint64) iter.Seq2[routed.View, error] {
	return readAll(ctx, r.engine, r.engine.reader.Views(ctx, r.id, from))
}

// Awaits returns nil when a step of the run's workflow waits for a message of that name, has waited, or may come to it; else an
// *UnawaitedError. A name that a document computes may be any. Other errors say why it cannot be told. Send takes a message
// either way: what nobody waits for, it says in the log.
func (r *Run) Awaits(ctx context.Context, message string) error {
	_, err := read(ctx, r.engine, func(from *reader.Reader) (struct{}, error) { return struct{}{}, from.Awaits(ctx, r.id, message) })
	return err
}

// tellUnawaited logs that a message was sent that nobody waits for.
func (r *Run) tellUnawaited(ctx context.Context, message string) {
	if e, ok := errors.AsType[*UnawaitedError](r.Awaits(ctx, message)); ok {
		r.engine.config.Logger.Warn("a message that nobody waits for was sent", "run", r.id, "message", message, "reason", e)
	}
}

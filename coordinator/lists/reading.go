package lists

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/explain"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/routed"
)

// Reading reads one run. Its methods are a part of coordinator.Run.
type Reading struct {
	in Lists
	id string
}

// Of returns the reading of a run.
func Of(l Lists, run string) Reading { return Reading{l, run} }

// read asks the reader, and completes its errors.
func read[T any](ctx context.Context, r Reading, ask func(*reader.Reader) (T, error)) (T, error) {
	if err := r.in.engine.CheckOpen(); err != nil {
		var none T
		return none, err
	}
	answer, err := ask(r.in.reader)
	return answer, r.in.engine.ReadError(ctx, err)
}

// Events yields the run's journal as it is now, beginning with the event with sequence from (1: the start). It derives
// nothing, so it also reads runs that this program cannot follow.
func (r Reading) Events(ctx context.Context, from uint64) iter.Seq2[journal.Event, error] {
	return Completed(ctx, r.in.engine, journal.Remaining(ctx, r.in.store, r.id, from))
}

// State reads the state of the run. It does not read a large value, of more than 32 KiB, from which no status follows: in its place is a
// value.Large, and Output reads the value. It follows the whole journal: its cost is proportional to the number of events, and it does
// not delay the run. If this engine does not go on with the run, timers that have fallen due count, though they are not journaled yet:
// see State.Late. For a run that cannot be followed, because it is damaged or was started under the rules of another version, the state
// comes from its events and head, without steps.
func (r Reading) State(ctx context.Context) (*inspect.State, error) {
	return read(ctx, r, func(from *reader.Reader) (*inspect.State, error) { return from.State(ctx, r.id) })
}

// Output reads the whole output of a step; "" is the run. If participant names one that the step has asked, Output returns its last
// answer. If there is none, the error wraps ErrNotPossible and describes the status. It follows the whole journal, as State does.
func (r Reading) Output(ctx context.Context, step, participant string) (any, error) {
	s, err := read(ctx, r, func(from *reader.Reader) (*inspect.State, error) { return from.Whole(ctx, r.id) })
	if err != nil {
		return nil, err
	}
	return s.OutputOf(step, participant)
}

// Last returns the sequence of the run's newest event.
func (r Reading) Last(ctx context.Context) (uint64, error) {
	head, err := read(ctx, r, func(from *reader.Reader) (journal.Head, error) { return from.Head(ctx, r.id) })
	return head.Last, err
}

// Explain explains the waits of the run or of one of its steps, or its end. The step is named by its key; in a playbook also by the name
// of the step or of one of its runs; "" is the run. It follows the whole journal, as State does, counts due timers as State does, and
// does not delay the run. For a parked run the first reason is the reason of the parking; if its journal cannot be followed, that is the
// only reason, also for a step.
func (r Reading) Explain(ctx context.Context, step string) (*explain.Explanation, error) {
	x, err := read(ctx, r, func(from *reader.Reader) (*explain.Explanation, error) { return from.Explain(ctx, r.id, step) })
	if err == nil && r.Held() && !x.Over() {
		held := explain.Reason{Kind: "held", Text: "the run is held since it was imported; once no other process goes on with it, resume it here"}
		if r.in.Incomplete(r.id) {
			held.Text = "not all of the run is here: its import goes on, or was interrupted; import the file again, or delete the run"
		}
		x.Reasons = append([]explain.Reason{held}, slices.DeleteFunc(x.Reasons, func(r explain.Reason) bool { return r.Kind == "nobody" })...)
	}
	return x, err
}

// CheckStep refuses a step that the run does not have. If the run follows the rules of another version, its steps are unknown, and
// CheckStep refuses none.
func (r Reading) CheckStep(ctx context.Context, step string) error {
	if step == "" {
		return r.in.engine.CheckOpen()
	}
	_, err := r.Explain(ctx, step)
	if errors.Is(err, decide.ErrMissing) {
		return nil
	}
	return err
}

// Held reports whether the run, or the run to which it belongs, is held since it was imported: no engine drives it before that run is
// resumed.
func (r Reading) Held() bool { return r.in.Held(r.id) }

// Incomplete reports whether the run is held because its import goes on, or was interrupted: importing the file again completes it.
func (r Reading) Incomplete() bool { return r.in.Incomplete(r.id) }

// CallGraph reads the calls of the run and the edges that lead to each: of type depends_on from the calls that it waited for, and of type
// triggered from the call that made it: a call asks participants and decision sources and starts child runs. The nodes include the calls
// of all runs below this one, and those that led to this one, so that the lineage of every call ends at a run without a parent. It
// follows the journals of all these runs: its cost is proportional to the number of their events, and it does not delay them. For a run
// that this program cannot follow it shows the calls without operations and without depends_on edges.
func (r Reading) CallGraph(ctx context.Context) (*reader.CallGraph, error) {
	return read(ctx, r, func(from *reader.Reader) (*reader.CallGraph, error) { return from.CallGraph(ctx, r.id) })
}

// At returns a reading of the run's past.
func (r Reading) At(m reader.Moment) Past { return Past{r, m} }

// Past reads one run as it was at a moment: after an event, or at an instant. Timers that have fallen due since then, and later
// events, do not count, and the process that drives the run is not reported. All methods return decide.ErrNoMoment for a moment before
// the run's start, behind its last event or yet to come, and an error that wraps journal.ErrTrimmed for a moment at which a world's state
// is no longer known. They cost as much as those of Reading, and need only the events up to the moment.
type Past struct {
	of Reading
	at reader.Moment
}

// State reads the state of the run as it was.
func (p Past) State(ctx context.Context) (*inspect.State, error) {
	return read(ctx, p.of, func(from *reader.Reader) (*inspect.State, error) { return from.StateAt(ctx, p.of.id, p.at) })
}

// Cell reads the state of a world's cell as it was. The error wraps decide.ErrCellNotFound if there was none.
func (p Past) Cell(ctx context.Context, address string) (reader.Cell, error) {
	return read(ctx, p.of, func(from *reader.Reader) (reader.Cell, error) {
		cell, _, err := from.CellAt(ctx, p.of.id, address, p.at)
		return cell, err
	})
}

// CellWaits reads the waits of a world's cell, after those that held the world as a whole. The error wraps decide.ErrCellNotFound if there
// was no such cell.
func (p Past) CellWaits(ctx context.Context, address string) ([]inspect.Wait, error) {
	return read(ctx, p.of, func(from *reader.Reader) ([]inspect.Wait, error) {
		_, waits, err := from.CellAt(ctx, p.of.id, address, p.at)
		return waits, err
	})
}

// Explain explains the waits of the run or of one of its steps at that moment, or its status; see Reading.Explain.
func (p Past) Explain(ctx context.Context, step string) (*explain.Explanation, error) {
	return read(ctx, p.of, func(from *reader.Reader) (*explain.Explanation, error) {
		return from.ExplainAt(ctx, p.of.id, step, p.at)
	})
}

// CallGraph reads the calls that the run had made, and the runs around it, at that instant; see Reading.CallGraph.
func (p Past) CallGraph(ctx context.Context) (*reader.CallGraph, error) {
	return read(ctx, p.of, func(from *reader.Reader) (*reader.CallGraph, error) { return from.CallGraphAt(ctx, p.of.id, p.at) })
}

// Watch yields every change of the run since the event with sequence from (0 and 1: from the start), and then each new one as
// soon as it is durable. It ends after the run has, or with ctx's error.
//
// Of large values it reads those from which statuses follow; any other is a value.Large, and History and Output read it.
//
// It reads the journal and derives the changes itself: it yields every event once and in order, starts anywhere, and never slows the run,
// even if the caller is slow. It waits for parked runs and does not load any run into memory.
func (r Reading) Watch(ctx context.Context, from uint64) iter.Seq2[inspect.Update, error] {
	return Completed(ctx, r.in.engine, r.in.reader.Watch(ctx, r.id, from))
}

// History yields the updates of Watch, with all values, up to the end of the journal as it is now.
func (r Reading) History(ctx context.Context, from uint64) iter.Seq2[inspect.Update, error] {
	return Completed(ctx, r.in.engine, r.in.reader.History(ctx, r.id, from))
}

// Roots yields the run's root after each of its events, present and future, until the run ends. Between two steps of the
// iteration the caller may read the root and subscribe to its signals; only the journal changes it.
func (r Reading) Roots(ctx context.Context) iter.Seq2[*reactive.Root, error] {
	return Completed(ctx, r.in.engine, r.in.reader.Roots(ctx, r.id))
}

// Views yields the changes of the net of a playbook's run, in order, from the event with sequence from (1: the start) to
// the end of the journal: admission, tasks, rules, arcs and tokens. The journal does not hold these; they are derived on each
// call. For a run of any other kind it yields ErrNotPossible.
func (r Reading) Views(ctx context.Context, from uint64) iter.Seq2[routed.View, error] {
	return Completed(ctx, r.in.engine, r.in.reader.Views(ctx, r.id, from))
}

// Awaits returns nil if a step of the run's workflow waits for a message of that name, has waited, or may still wait for it; otherwise an
// *inspect.UnawaitedError. A name that a document computes matches any message. Other errors mean that the answer is unknown. Send
// accepts a message either way, and logs one that is not awaited.
func (r Reading) Awaits(ctx context.Context, message string) error {
	_, err := read(ctx, r, func(from *reader.Reader) (struct{}, error) { return struct{}{}, from.Awaits(ctx, r.id, message) })
	return err
}

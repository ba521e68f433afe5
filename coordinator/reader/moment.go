package reader

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/callgraph"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/explain"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
)

// Moment is a point in the journal of a run.
type Moment struct {
	Seq  uint64    // of the last event that counts; 0: see Time
	Time time.Time // the events up to it count; only used if Seq is 0
}

// Cell is the state of a cell of a world.
type Cell = world.CellState

// StateAt is State as of a moment: as the journal was then, without timers that have fallen due since.
func (r *Reader) StateAt(ctx context.Context, run string, m Moment) (s *inspect.State, err error) {
	seq, err := r.locate(ctx, run, m)
	if err != nil {
		return nil, err
	}
	var states *inspect.States
	_, err = r.past(ctx, run, seq, seq, r.lean, func(root *reactive.Root) follower {
		states = inspect.NewStates(root)
		return follower{apply: states.Apply, restored: states.Restored}
	})
	if err != nil {
		return nil, err
	}
	return s, r.Derived(run, func() { s = states.State(run) })
}

// CellAt returns a cell of a world as of a moment, and its waits.
func (r *Reader) CellAt(ctx context.Context, run, address string, m Moment) (cell Cell, waits []inspect.Wait, err error) {
	seq, err := r.locate(ctx, run, m)
	if err != nil {
		return cell, nil, err
	}
	root, err := r.past(ctx, run, seq, seq, r.lean, replaying)
	if err != nil {
		return cell, nil, err
	}
	of := world.Of(root)
	if of == nil {
		return cell, nil, fmt.Errorf("run %s: %w", run, decide.ErrNotWorld)
	}
	found := false
	err = r.Derived(run, func() { cell, found = of.Cell(address); waits = inspect.CellWaits(root, address) })
	if err == nil && !found {
		err = fmt.Errorf("%w: %q", decide.ErrCellNotFound, address)
	}
	return cell, waits, errors.Join(err, of.Err())
}

// ExplainAt is Explain as of a moment.
func (r *Reader) ExplainAt(ctx context.Context, run, step string, m Moment) (out *explain.Explanation, err error) {
	seq, err := r.locate(ctx, run, m)
	if err != nil {
		return nil, err
	}
	var x *inspect.Explainer
	root, err := r.past(ctx, run, 1, seq, r.lean, func(root *reactive.Root) follower {
		x = inspect.NewExplainer(run, step, root)
		return follower{apply: x.Apply, trimmed: x.Trimmed, restored: x.Restored}
	})
	if err != nil {
		return nil, err
	}
	panicked := r.Derived(run, func() { out, err = x.Explain(step) })
	return out, errors.Join(panicked, err, root.Cells().Err())
}

// locate returns the sequence of the last event that counts at a moment.
func (r *Reader) locate(ctx context.Context, run string, m Moment) (seq uint64, err error) {
	if m.Seq > 0 {
		return m.Seq, nil
	}
	if m.Time.After(time.Unix(0, r.process.Now())) {
		return 0, fmt.Errorf("%w: %s is yet to come", decide.ErrNoMoment, text(m.Time))
	}
	for e, err := range journal.Remaining(ctx, instants{r}, run, 1) {
		if err != nil {
			return 0, fmt.Errorf("read run %s: %w", run, err)
		}
		if at := time.Unix(0, e.At); m.Time.Before(at) {
			switch {
			case seq == 0:
				err = fmt.Errorf("%w: run %s was started at %s, after %s", decide.ErrNoMoment, run, text(at), text(m.Time))
			case seq+1 < e.Seq:
				err = fmt.Errorf("run %s at %s: %w", run, text(m.Time), &journal.TrimmedError{First: e.Seq})
			}
			return seq, err
		}
		seq = e.Seq
	}
	if seq == 0 {
		return 0, fmt.Errorf("%w: %s", decide.ErrRunNotFound, run)
	}
	return seq, nil
}

// instants reads events without their large values.
type instants struct{ *Reader }

// Read implements journal.Source.
func (r instants) Read(ctx context.Context, run string, from uint64) iter.Seq2[journal.Event, error] {
	return r.lean(ctx, run, from, journal.Beginnings)
}

// CallGraphAt is CallGraph as of a moment of the run; the runs around it are as of that instant.
func (r *Reader) CallGraphAt(ctx context.Context, run string, m Moment) (*CallGraph, error) {
	seq, err := r.locate(ctx, run, m)
	if err != nil {
		return nil, err
	}
	var own *callgraph.Graph
	root, err := r.past(ctx, run, 1, seq, r.whole, func(root *reactive.Root) follower {
		own = callgraph.New(root)
		return follower{apply: own.Apply, trimmed: own.Trimmed}
	})
	if err != nil {
		return nil, err
	}
	now := root.At()
	then := before(r.whole, func(e *journal.Event) bool { return e.At > now })
	return r.callGraphs(ctx, run, func(id string) (*callgraph.Graph, error) {
		if id == run {
			return own, nil
		}
		g, err := r.anyCallGraph(ctx, id, then)
		if errors.Is(err, decide.ErrRunNotFound) { // it was started later
			return nil, nil
		}
		return g, err
	})
}

func text(at time.Time) string { return at.Format(time.RFC3339Nano) }

// past follows a run up to the event seq, and returns its root. The events from sequence from on are passed to the follower, if it
// needs no state before them. A trimmed world has states from the older of its two snapshots on.
func (r *Reader) past(
	ctx context.Context, run string, from, seq uint64, read reading, begin func(*reactive.Root) follower,
) (*reactive.Root, error) {
	way := func() (route, error) {
		way, err := r.since(ctx, run, from)
		if err == nil && way.snapshot != nil && world.Upto(way.snapshot) > seq {
			err = fmt.Errorf("run %s at event %d: the state is known from event %d on: %w", run, seq, world.Upto(way.snapshot), journal.ErrTrimmed)
		}
		return way, err
	}
	root, err := r.followTo(ctx, run, way, before(read, func(e *journal.Event) bool { return e.Seq > seq }), begin)
	if err == nil && root.Seq() < seq {
		return nil, fmt.Errorf("%w: run %s has %d events, and so no event %d", decide.ErrNoMoment, run, root.Seq(), seq)
	}
	return root, err
}

// before returns a reading that ends before the first event that is beyond a moment.
func before(read reading, beyond func(*journal.Event) bool) reading {
	return func(ctx context.Context, run string, from uint64, needed func(*journal.Event) bool) iter.Seq2[journal.Event, error] {
		return func(yield func(journal.Event, error) bool) {
			for e, err := range read(ctx, run, from, needed) {
				if err == nil && beyond(&e) || !yield(e, err) {
					return
				}
			}
		}
	}
}

package reader

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
)

// route is how the journal of a run is read. The state of a world is known from event 1 on, or from a snapshot on: then the events
// before that are only told, as far as they are still there.
//
//	event 1 ─▶ 2 ─▶ 3 ─▶ …                                         snapshot is nil
//	event 1 ─▶ [told … upto] ─▶ snapshot ─▶ upto+1 ─▶ upto+2 ─▶ …
type route struct {
	snapshot *journal.Event // that the state is restored from; nil: none
	told     uint64         // the first event before it that is read; 0: none
	content  bool           // the state is read from the content of the newest snapshot as it is needed
}

// stop is an event on a route.
type stop struct {
	journal.Event
	kind stopKind
}

type stopKind uint8

const (
	stopNext    stopKind = iota // the event follows the one before, and changes the state
	stopTold                    // the state at the event is not known
	stopRestore                 // the state is that of the event's snapshot; the event itself is still to come
)

// newest returns the route of least work: from the newest snapshot of a run, if it has one.
func (r *Reader) newest(ctx context.Context, id string) (route, error) {
	snapshot, _, err := r.snapshots(ctx, id)
	return route{snapshot: snapshot, content: true}, err
}

// since returns the route that knows the state at the events from a sequence on, as far as the two snapshots that are kept
// allow. Of a run that is not trimmed it knows all of them.
func (r *Reader) since(ctx context.Context, id string, from uint64) (route, error) {
	newest, head, err := r.snapshots(ctx, id)
	if err != nil || newest == nil {
		return route{}, err
	}
	if from > world.Upto(newest) {
		return route{snapshot: newest, content: true}, nil
	}
	before := world.Before(newest)
	if before == 0 || head.First == 0 && from <= 1 {
		return route{}, nil
	}
	older, err := r.event(ctx, id, before)
	switch {
	case err != nil:
		return route{}, err
	case from > world.Upto(older):
		return route{snapshot: older, content: true}, nil
	case head.First == 0:
		return route{}, nil
	}
	return route{snapshot: older, content: true, told: max(head.First, from)}, nil
}

// snapshots returns the event of the newest snapshot of a run, and the run's head; nil if there is none, or if the store keeps no
// content.
func (r *Reader) snapshots(ctx context.Context, id string) (newest *journal.Event, head journal.Head, err error) {
	content, ok := r.store.(journal.ContentStore)
	if !ok {
		return nil, head, nil
	}
	if head, err = content.Head(ctx, id); err != nil || head.Snapshot == 0 {
		return nil, head, nil // a damaged head is no reason not to read the events
	}
	newest, err = r.event(ctx, id, head.Snapshot)
	return newest, head, err
}

// event reads one event of a run.
func (r *Reader) event(ctx context.Context, id string, seq uint64) (*journal.Event, error) {
	for e, err := range r.store.Read(ctx, id, seq) {
		if err != nil {
			return nil, fmt.Errorf("read run %s: %w", id, err)
		}
		return &e, nil
	}
	return nil, fmt.Errorf("read run %s: %w: event %d is missing", id, journal.ErrDamaged, seq)
}

// along yields the events of a run on a route. The last part of it, and of a run without snapshots all, is what read yields.
func (r *Reader) along(ctx context.Context, id string, way route, read reading) iter.Seq2[stop, error] {
	return func(yield func(stop, error) bool) {
		pass := func(events iter.Seq2[journal.Event, error], kind stopKind, last uint64) bool {
			for e, err := range events {
				if err == nil && e.Seq > last {
					return true
				}
				if !yield(stop{e, kind}, err) || err != nil {
					return false
				}
				if e.Seq == last {
					return true
				}
			}
			return true
		}
		if way.snapshot == nil {
			pass(read(ctx, id, 1), stopNext, ^uint64(0))
			return
		}
		upto := world.Upto(way.snapshot)
		if !pass(r.store.Read(ctx, id, 1), stopNext, 1) {
			return
		}
		if way.told > 0 && !pass(journal.Remaining(ctx, r.store, id, way.told), stopTold, upto) {
			return
		}
		if yield(stop{*way.snapshot, stopRestore}, nil) {
			pass(read(ctx, id, upto+1), stopNext, ^uint64(0))
		}
	}
}

// reading yields the events of a run from a sequence on.
type reading func(ctx context.Context, run string, from uint64) iter.Seq2[journal.Event, error]

// Read implements journal.Source.
func (f reading) Read(ctx context.Context, run string, from uint64) iter.Seq2[journal.Event, error] {
	return f(ctx, run, from)
}

// overtaken reports whether reading has failed because the world has gone on: there are snapshots by which those that were used, or
// the events behind them, have been replaced. now is a route that was found since.
func (way *route) overtaken(now *route, err error) bool {
	if !errors.Is(err, journal.ErrDamaged) && !errors.Is(err, journal.ErrTrimmed) {
		return false
	}
	return now.snapshot != nil && (way.snapshot == nil || way.snapshot.Seq < now.snapshot.Seq)
}

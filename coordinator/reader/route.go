package reader

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
)

// route describes the reading of a run's journal. The state of a world is known from event 1 on, or from a snapshot on: then those
// earlier events that still exist are read without a state.
//
//	event 1 ─▶ 2 ─▶ 3 ─▶ …                                         snapshot is nil
//	event 1 ─▶ [no state … upto] ─▶ snapshot ─▶ upto+1 ─▶ upto+2 ─▶ …
type route struct {
	snapshot *journal.Event // that the state is restored from; nil: none
	trimmed  uint64         // the first event before it that is read; 0: none
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
	stopTrimmed                 // the state at the event is not available
	stopRestore                 // the state comes from the event's snapshot; the event itself is still to come
)

// newest returns the route of least work: from the newest snapshot of a run, if it has one.
func (r *Reader) newest(ctx context.Context, id string) (route, error) {
	snapshot, _, err := r.snapshots(ctx, id)
	return route{snapshot: snapshot, content: true}, err
}

// since returns the route that has the state at the events from a sequence on. If the run is trimmed, the state may begin only at the
// older of its two snapshots.
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
	return route{snapshot: older, content: true, trimmed: max(head.First, from)}, nil
}

// snapshots returns the event of the newest snapshot of a run, and the run's head; nil if there is none, or if the store keeps no
// content.
func (r *Reader) snapshots(ctx context.Context, id string) (newest *journal.Event, head journal.Head, err error) {
	content, ok := r.store.(journal.ContentStore)
	if !ok {
		return nil, head, nil
	}
	if head, err = content.Head(ctx, id); err != nil || head.Snapshot == 0 {
		return nil, head, nil // the events can be read even if the head is damaged
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

// along yields the events of a run on a route. The last part of it comes from read, and all of a run without snapshots.
func (r *Reader) along(ctx context.Context, id string, way route, read func(from uint64) iter.Seq2[journal.Event, error]) iter.Seq2[stop, error] {
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
			pass(read(1), stopNext, ^uint64(0))
			return
		}
		upto := world.Upto(way.snapshot)
		if !pass(r.store.Read(ctx, id, 1), stopNext, 1) {
			return
		}
		if way.trimmed > 0 && !pass(journal.Remaining(ctx, r.store, id, way.trimmed), stopTrimmed, upto) {
			return
		}
		if yield(stop{*way.snapshot, stopRestore}, nil) {
			pass(read(upto+1), stopNext, ^uint64(0))
		}
	}
}

// reading yields the events of a run from a sequence on. It may skip large values if needed returns false for their events.
type reading func(ctx context.Context, run string, from uint64, needed func(*journal.Event) bool) iter.Seq2[journal.Event, error]

// whole is the reading of all values.
func (r *Reader) whole(ctx context.Context, run string, from uint64, _ func(*journal.Event) bool) iter.Seq2[journal.Event, error] {
	return r.store.Read(ctx, run, from)
}

// lean is the reading of the needed values.
func (r *Reader) lean(ctx context.Context, run string, from uint64, needed func(*journal.Event) bool) iter.Seq2[journal.Event, error] {
	return journal.ReadLean(ctx, r.store, run, from, needed)
}

// Read implements journal.Source, with all values.
func (f reading) Read(ctx context.Context, run string, from uint64) iter.Seq2[journal.Event, error] {
	return f(ctx, run, from, func(*journal.Event) bool { return true })
}

// overtaken reports whether reading has failed because the world has gone on: newer snapshots have replaced the used ones, or the events
// behind them. now is a route that was found since.
func (way *route) overtaken(now *route, err error) bool {
	if !errors.Is(err, journal.ErrDamaged) && !errors.Is(err, journal.ErrTrimmed) {
		return false
	}
	return now.snapshot != nil && (way.snapshot == nil || way.snapshot.Seq < now.snapshot.Seq)
}

package cells

import (
	"context"
	"fmt"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/world"
)

// errNoContent is the error where a store does not keep content.
var errNoContent = fmt.Errorf("%w: the store keeps no content", decide.ErrNotPossible)

// Snapshot keeps the state of the world as content, so that it is recovered from there and from the events that follow. It
// returns the sequence of the event that makes the snapshot count. The world goes on meanwhile. The error wraps
// decide.ErrNotPossible if the run's store keeps no content.
func (h Handle) Snapshot(ctx context.Context) (seq uint64, err error) {
	seq, _, err = h.snapshot(ctx)
	return seq, err
}

// snapshot is Snapshot. It also returns the number of blobs that it has put.
func (h Handle) snapshot(ctx context.Context) (seq uint64, put int, err error) {
	storage := h.run.Storage()
	storage.Lock.RLock()
	defer storage.Lock.RUnlock()
	var ended bool
	s, err := look(ctx, h.run, func(w *world.World) *world.Snapshot {
		ended = w.Ended()
		return w.Freeze()
	})
	switch {
	case err != nil:
		return 0, 0, err
	case storage.Content == nil:
		return 0, 0, errNoContent
	case ended: // it would be refused, and its content left behind
		return 0, 0, decide.ErrFinished
	}
	e, err := s.Write(func(blobs [][]byte) error {
		if storage.Dry {
			return nil
		}
		put += len(blobs)
		return storage.Content.PutContent(ctx, h.run.ID(), blobs)
	})
	if err != nil {
		return 0, put, err
	}
	e, err = h.run.Take(ctx, e)
	return e.Seq, put, err
}

// spill puts states of the world that take too much memory into content. It returns the number of blobs that it has put, and whether a
// snapshot is due; leaves means that the run is to leave memory.
func (h Handle) spill(ctx context.Context, leaves bool) (put int, due bool, err error) {
	storage := h.run.Storage()
	storage.Lock.RLock()
	defer storage.Lock.RUnlock()
	s, err := look(ctx, h.run, func(w *world.World) *world.Spill {
		_, due = w.Snapshot(leaves)
		return w.Spill()
	})
	if err != nil || s == nil {
		return 0, due, err
	}
	err = s.Write(func(blobs [][]byte) error {
		put += len(blobs)
		return storage.Content.PutContent(ctx, h.run.ID(), blobs)
	})
	if err != nil {
		return put, due, err
	}
	due, err = look(ctx, h.run, func(w *world.World) bool {
		w.Spilled(s)
		_, due := w.Snapshot(leaves)
		return due
	})
	return put, due, err
}

// look asks the world of a run.
func look[T any](ctx context.Context, run Run, ask func(*world.World) T) (answer T, err error) {
	var of *world.World
	var found T
	if err := run.Look(ctx, func(root *reactive.Root) {
		if of = world.Of(root); of != nil {
			found = ask(of)
		}
	}); err != nil {
		return answer, err
	}
	if of == nil {
		return answer, fmt.Errorf("%w and snapshots", decide.ErrNotWorld)
	}
	return found, nil
}

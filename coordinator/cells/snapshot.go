package cells

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
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

// snapshot is Snapshot. It also returns how many blobs it has put.
func (h Handle) snapshot(ctx context.Context) (seq uint64, put int, err error) {
	content, lock := h.run.Content()
	lock.RLock()
	defer lock.RUnlock()
	s, err := look(ctx, h.run, (*world.World).Freeze)
	switch {
	case err != nil:
		return 0, 0, err
	case content == nil:
		return 0, 0, errNoContent
	}
	e, err := s.Write(func(blobs [][]byte) error {
		put += len(blobs)
		return content.PutContent(ctx, h.run.ID(), blobs)
	})
	if err != nil {
		return 0, put, err
	}
	e, err = h.run.Take(ctx, e)
	return e.Seq, put, err
}

// spill puts states of the world into content that take too much memory. It returns how many blobs it has put, and whether a snapshot
// is due.
func (h Handle) spill(ctx context.Context) (put int, due bool, err error) {
	content, lock := h.run.Content()
	lock.RLock()
	defer lock.RUnlock()
	s, err := look(ctx, h.run, func(w *world.World) *world.Spill {
		_, due = w.Snapshot()
		return w.Spill()
	})
	if err != nil || s == nil {
		return 0, due, err
	}
	err = s.Write(func(blobs [][]byte) error {
		put += len(blobs)
		return content.PutContent(ctx, h.run.ID(), blobs)
	})
	if err != nil {
		return put, due, err
	}
	due, err = look(ctx, h.run, func(w *world.World) bool {
		w.Spilled(s)
		_, due := w.Snapshot()
		return due
	})
	return put, due, err
}

// Keeper makes the snapshots of a run that are due, one at a time, and deletes content that they have replaced.
type Keeper struct {
	busy atomic.Bool
	put  int       // blobs since the last sweep
	kept int       // blobs that the last sweep has kept
	next time.Time // after a failure: when it is tried again
}

// keepAgain is how long after a failure the next snapshot is tried.
const keepAgain = time.Minute

// sweepMin is how many blobs are put at least between two sweeps. There are as many as the last sweep has kept, so that the
// sweeps cost no more than what is put.
const sweepMin = 10_000

// Begin reports whether the caller is to call Keep: no one does yet, and the last failure was long enough ago.
func (k *Keeper) Begin() bool {
	if k.busy.Swap(true) {
		return false
	}
	ready := !time.Now().Before(k.next)
	k.busy.Store(ready)
	return ready
}

// Keep puts what is due into content: states that take too much memory, and a snapshot. It sweeps if enough was put since the last sweep.
func (k *Keeper) Keep(ctx context.Context, h Handle) error {
	defer k.busy.Store(false)
	put, due, err := h.spill(ctx)
	if err == nil && due {
		var more int
		_, more, err = h.snapshot(ctx)
		put += more
	}
	if k.put += put; err == nil && k.put >= max(sweepMin, k.kept) {
		k.put = 0
		k.kept, _, err = h.Sweep(ctx, false)
	}
	if err != nil {
		k.next = time.Now().Add(keepAgain)
	}
	return err
}

// Sweep deletes the content of the run that its newest snapshot does not need. If dry is true, it only counts. It returns how
// much it has kept, and deleted or would have deleted. The world goes on meanwhile, but makes no snapshot.
func (h Handle) Sweep(ctx context.Context, dry bool) (kept, deleted int, err error) {
	content, lock := h.run.Content()
	lock.Lock()
	defer lock.Unlock()
	newest, err := look(ctx, h.run, (*world.World).Kept)
	switch {
	case err != nil:
		return 0, 0, err
	case content == nil:
		return 0, 0, errNoContent
	}
	needed := map[journal.Hash]bool{}
	if newest != nil {
		if needed, err = newest.Mark(); err != nil {
			return 0, 0, err
		}
	}
	err = content.SweepContent(ctx, h.run.ID(), func(hash journal.Hash) bool {
		if needed[hash] {
			kept++
			return true
		}
		deleted++
		return dry
	})
	return kept, deleted, err
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
		return answer, decide.ErrNotWorld
	}
	return found, nil
}

package cells

import (
	"context"
	"sync/atomic"
	"time"
)

// Keeper makes the snapshots of a run that are due, one at a time, and deletes the content and the events that they have replaced.
type Keeper struct {
	busy atomic.Bool
	put  int       // blobs since the last sweep
	kept int       // blobs that the last sweep has kept
	next time.Time // after a failure: when it is tried again
}

// keepAgain is the time from a failure to the next attempt.
const keepAgain = time.Minute

// sweepMin is the minimum number of blobs put between two sweeps. They are also at least as many as the last sweep has kept, so that the
// sweeps cost no more than the puts.
const sweepMin = 10_000

// Begin reports whether the caller is to call Keep: no call is in progress, and the last failure was long enough ago.
func (k *Keeper) Begin() bool {
	if k.busy.Swap(true) {
		return false
	}
	ready := !time.Now().Before(k.next)
	k.busy.Store(ready)
	return ready
}

// Busy reports whether a call of Keep is in progress.
func (k *Keeper) Busy() bool { return k.busy.Load() }

// Keep puts states that take too much memory into content. If a snapshot is due, it makes one, and trims the journal. leaves means that
// the run is to leave memory. It sweeps if enough was put since the last sweep.
func (k *Keeper) Keep(ctx context.Context, h Handle, leaves bool) error {
	defer k.busy.Store(false)
	put, due, err := h.spill(ctx, leaves)
	if err == nil && due {
		var more int
		if _, more, err = h.snapshot(ctx); err == nil {
			_, err = h.Trim(ctx, 0, false)
		}
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

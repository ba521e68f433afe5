package bulk

import (
	"context"
	"errors"
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Forget deletes the outcomes of acts that ended at or before an instant, in Unix nanoseconds, or KeptTime ago, or before KeptMax others.
// It calls found with each of these acts and the approximate number of bytes of its stream. If dry is true, it deletes nothing.
func Forget(ctx context.Context, a Acts, before int64, dry bool, found func(id uint64, bytes int64) error) error {
	if _, err := a.statuses(ctx); err != nil {
		return err
	}
	return a.forget(ctx, before, dry, found)
}

func (a *acts) forget(ctx context.Context, before int64, dry bool, found func(id uint64, bytes int64) error) error {
	now := a.engine.Now()
	for _, one := range a.outdated(max(before, now-int64(KeptTime))) {
		stream := journal.BulkStream(one.ID)
		bytes, err := a.store.Size(ctx, stream)
		if err == nil && bytes > 0 && !dry {
			err = a.store.Delete(ctx, stream, journal.Tombstone{At: now, Until: now})
		}
		gone := errors.Is(err, journal.ErrDeleted) || errors.Is(err, journal.ErrNotFound) || err == nil && bytes == 0
		switch {
		case gone || err == nil && !dry:
			a.mu.Lock()
			one.forgotten = true
			a.mu.Unlock()
		case err != nil:
			return a.engine.ReadError(ctx, err)
		}
		if gone {
			continue
		}
		if err := found(one.ID, bytes); err != nil {
			return err
		}
	}
	return nil
}

// outdated returns the acts that may still have a stream and ended at or before an instant, or before KeptMax others.
func (a *acts) outdated(before int64) (list []*entry) {
	a.mu.Lock()
	defer a.mu.Unlock()
	kept := 0
	for _, one := range slices.Backward(a.index.all) {
		switch {
		case !one.Over() || one.forgotten:
		case kept < KeptMax && one.Ended > before:
			kept++
		default:
			list = append(list, one)
		}
	}
	return list
}

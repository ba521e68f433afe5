package reader

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Exists reports whether there is a run with that id. A run whose first record is damaged exists. For a deleted run it returns a
// *journal.DeletedError until the id is free.
func (r *Reader) Exists(ctx context.Context, id string, now int64) (bool, error) {
	if !journal.IsRun(id) {
		return false, nil
	}
	for _, err := range journal.ReadLean(ctx, r.store, id, 1, journal.Beginnings) {
		if gone, ok := errors.AsType[*journal.DeletedError](err); ok {
			if gone.Free(now) {
				return false, nil
			}
			return false, fmt.Errorf("%s: %w", id, gone)
		}
		if err != nil && !errors.Is(err, journal.ErrDamaged) && !errors.Is(err, journal.ErrVersion) {
			return false, fmt.Errorf("read run %s: %w", id, err)
		}
		return true, nil
	}
	return false, nil
}

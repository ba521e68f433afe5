package control

import (
	"context"
	"errors"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// AwaitChanges returns when there may be something to read in a directory that was last read when it had a revision of disk's:
// some process answers for it, or one that has been there meanwhile has committed something. A nil revision is older than
// every other. It waits a moment in any case, so that it may be called again and again.
func AwaitChanges(ctx context.Context, dir string, revision []byte) error {
	var dialled error
	err := disk.AwaitCommit(ctx, dir, revision, func() (answers bool, err error) {
		c, err := Dial(dir)
		if errors.Is(err, api.ErrNotHeld) {
			return false, nil
		}
		if err == nil {
			err = c.Close()
		}
		dialled = err
		return true, err
	})
	switch {
	case err == nil, err == dialled:
		return err
	case ctx.Err() != nil:
		return cancelled.Error(ctx)
	}
	return api.ErrorOf(err)
}

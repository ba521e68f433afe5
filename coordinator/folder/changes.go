package folder

import (
	"context"
	"errors"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// AwaitChanges returns when a directory may have changed since it was last read, at a revision of package disk: a
// process serves it, or a process has committed to it since. A nil revision is older than any other. It always waits a moment,
// so that it may be called in a loop.
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

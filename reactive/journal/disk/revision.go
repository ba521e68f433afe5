package disk

import (
	"bytes"
	"context"
	"path/filepath"
	"time"

	"github.com/sluiceflow/sluice/internal/readfile"
	"github.com/sluiceflow/sluice/reactive/journal/disk/folder"
)

// markBytesMax bounds the bytes that Revision reads of a mark, which has a dozen.
const markBytesMax = 4 << 10

// lookPause is the time between two looks for a commit.
const lookPause = 100 * time.Millisecond

// Revision identifies a state of a directory, which any process may have open: it changes with every commit. Its error is
// that of reading a file; without a store it is fs.ErrNotExist.
func Revision(dir string) ([]byte, error) {
	return readfile.Regular(filepath.Join(dir, folder.MarkName), markBytesMax)
}

// AwaitCommit returns when a process has committed to a directory since a revision, when meanwhile reports true, which is
// called after every look without a commit, or with the error of ctx or meanwhile. It always waits a moment, so that it may
// be called in a loop. A nil revision is older than every other.
func AwaitCommit(ctx context.Context, dir string, since []byte, meanwhile func() (bool, error)) error {
	tick := time.NewTicker(lookPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		now, err := Revision(dir)
		if err != nil || !bytes.Equal(now, since) {
			return err
		}
		if enough, err := meanwhile(); enough || err != nil {
			return err
		}
	}
}

package disk

import (
	"bytes"
	"context"
	"path/filepath"
	"time"

	"github.com/sluiceflow/sluice/internal/readfile"
	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
)

// markBytesMax bounds the bytes that Revision reads of a mark, which has 12.
const markBytesMax = 4 << 10

// lookPause is the interval of the checks for a commit.
const lookPause = 100 * time.Millisecond

// Revision identifies a state of a directory, which any process may have open: it changes with every commit. Its error is from
// reading a file, and wraps fs.ErrNotExist if there is no store.
func Revision(dir string) ([]byte, error) {
	return readfile.Regular(filepath.Join(dir, records.MarkName), markBytesMax)
}

// AwaitCommit waits until a process has committed to a directory since a revision, or meanwhile returns true or an error, or
// ctx ends, and returns the error. It calls meanwhile after every check without a commit. It always waits a moment, so that it
// may be called in a loop. A nil revision is older than every other.
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

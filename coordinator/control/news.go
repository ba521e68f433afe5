package control

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/internal/readfile"
)

// commitFile is a file that changes with every commit to a directory's journal, see package disk.
const commitFile = "COMMIT"

// commitMax bounds what is read of it, in bytes. It has a dozen.
const commitMax = 4 << 10

// newsPause is the time between two looks for news.
const newsPause = 100 * time.Millisecond

// Glance tells states of a directory's journal apart, without opening it: it is another when something was journaled.
func Glance(dir string) ([]byte, error) {
	return readfile.Regular(filepath.Join(dir, commitFile), commitMax)
}

// AwaitNews returns when there may be something to read in a directory that was last read after a glance: some process
// answers for it, or one that has been there meanwhile has journaled something. A nil glance is one that has seen nothing.
// It waits a moment in any case, so that it may be called again and again.
func AwaitNews(ctx context.Context, dir string, glance []byte) error {
	tick := time.NewTicker(newsPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return cancelled.Error(ctx)
		case <-tick.C:
		}
		now, err := Glance(dir)
		if err != nil {
			return api.ErrorOf(err)
		}
		if !bytes.Equal(now, glance) {
			return nil
		}
		if c, err := Dial(dir); !errors.Is(err, api.ErrNotHeld) {
			if err == nil {
				err = c.Close()
			}
			return err
		}
	}
}

//go:build !unix

package folder

import (
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Lock locks a directory. On this system it cannot name the process that holds a lock.
func Lock(path string) (io.Closer, error) {
	lock, err := vfs.Default.Lock(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", journal.ErrLocked, err)
	}
	return lock, nil
}

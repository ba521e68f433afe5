//go:build unix

package records

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Lock locks a directory, or names the process that holds the lock. The lock belongs to the open file (flock), so it
// also prevents this process from opening the directory twice under two names, and the kernel releases it when the process
// dies. The process id in the file is only for the error.
func Lock(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: %s", journal.ErrLocked, process(io.ReadAll(io.LimitReader(f, lockBytesMax))))
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if errors.Is(err, syscall.ENOSPC) {
		err = nil // a full disk can still be read
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return f, nil
}

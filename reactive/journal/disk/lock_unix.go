//go:build unix

package disk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// lockFile takes the lock of a directory, or says which process has it. The lock belongs to the open file (flock), so it
// also keeps this process from opening the directory twice under two names, and the kernel lets go of it when the process
// dies. The number of the process in the file is for the message only.
func lockFile(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: %s", journal.ErrLocked, holder(f))
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

// holder names the process that wrote its number to the lock file.
func holder(f *os.File) string {
	text, err := io.ReadAll(io.LimitReader(f, 32))
	pid, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	switch {
	case err != nil || bad != nil:
		return "its number is not known"
	case pid == os.Getpid():
		return fmt.Sprintf("process %d, which is this one", pid)
	}
	return fmt.Sprintf("process %d", pid)
}

package records

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/internal/readfile"
)

// lockBytesMax bounds the bytes read of a lock, which contains a process id.
const lockBytesMax = 32

// AcceptLoss is the remedy for a store whose newest commits are lost, see Mark.
const AcceptLoss = "removing the file " + MarkName + " makes the folder open without the lost commits"

// HolderOf describes the process that has a store's directory open, or that last had it open.
func HolderOf(dir string) string {
	return process(readfile.Regular(filepath.Join(dir, LockName), lockBytesMax))
}

// process describes the process in the content of a lock.
func process(lock []byte, err error) string {
	pid, bad := strconv.Atoi(strings.TrimSpace(string(lock)))
	switch {
	case err != nil || bad != nil:
		return "its number is not known"
	case pid == os.Getpid():
		return fmt.Sprintf("process %d, which is this one", pid)
	}
	return fmt.Sprintf("process %d", pid)
}

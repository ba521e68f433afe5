package commitlog

import (
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// grow preallocates room of a file from offset on, which reads as zeros. It ignores errors, as on a full file system: later
// writes report them.
func grow(file vfs.File, offset, length int64) {
	if fd := file.Fd(); fd != vfs.InvalidFd {
		_ = syscall.Fallocate(int(fd), 0, offset, length)
	}
}

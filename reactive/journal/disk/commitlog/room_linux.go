package commitlog

import (
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// grow sets room aside for a file from offset on, as part of the file: it reads as zeros. A file system that cannot does nothing,
// and neither does a full one: the writes that follow say so.
func grow(file vfs.File, offset, length int64) {
	if fd := file.Fd(); fd != vfs.InvalidFd {
		_ = syscall.Fallocate(int(fd), 0, offset, length)
	}
}

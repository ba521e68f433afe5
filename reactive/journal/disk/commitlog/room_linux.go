package commitlog

import (
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// grow sets room aside for a file from offset on, as part of the file: it reads as zeros. If that fails, as on a full
// file system, nothing happens: the writes that follow report errors.
func grow(file vfs.File, offset, length int64) {
	if fd := file.Fd(); fd != vfs.InvalidFd {
		_ = syscall.Fallocate(int(fd), 0, offset, length)
	}
}

//go:build !linux

package commitlog

import "github.com/cockroachdb/pebble/v2/vfs"

// grow does nothing: room is preallocated only on Linux.
func grow(vfs.File, int64, int64) {}

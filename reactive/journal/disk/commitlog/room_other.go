//go:build !linux

package commitlog

import "github.com/cockroachdb/pebble/v2/vfs"

// grow does nothing: only on Linux is room set aside.
func grow(vfs.File, int64, int64) {}

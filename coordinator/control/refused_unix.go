//go:build unix

package control

import (
	"errors"
	"syscall"
)

// refused reports whether a socket exists and no process listens: its process has died.
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

//go:build !unix

package control

import (
	"errors"
	"net"
)

// refused reports whether a socket exists and no process listens. Systems differ in the error; a process that holds the
// directory is then found by its lock.
func refused(err error) bool {
	_, ok := errors.AsType[*net.OpError](err)
	return ok
}

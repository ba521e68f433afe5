//go:build !unix

package control

import (
	"errors"
	"net"
)

// refused reports whether a socket is there and nobody listens. What a system says of that differs; a process that holds
// the directory is then found by its lock.
func refused(err error) bool {
	_, ok := errors.AsType[*net.OpError](err)
	return ok
}

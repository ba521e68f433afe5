//go:build unix

package operation

import (
	"errors"
	"os"
	"syscall"
)

// Signals that end a process. A program can catch polite, but not deadly.
const (
	termSignal = syscall.SIGTERM
	killSignal = syscall.SIGKILL
)

// attributes returns attributes that put a program into a process group of its own. The id of the group is the id of the program.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// signal sends a signal to the group of a program that was started with attributes. An empty group is not an error.
func signal(leader *os.Process, sig syscall.Signal) { _ = syscall.Kill(-leader.Pid, sig) }

// isShortage reports whether a program did not start for lack of a resource that may be available later: memory, a slot in the
// process table, or a descriptor. It is also true for a program file that is being written.
func isShortage(err error) bool {
	for _, want := range []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ETXTBSY} {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}

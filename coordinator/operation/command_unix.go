//go:build unix

package operation

import (
	"errors"
	"os"
	"syscall"
)

// Signals that end a process: a program can catch the first, not the second.
const (
	polite = syscall.SIGTERM
	deadly = syscall.SIGKILL
)

// attributes put a program into a process group of its own, whose id is that of the program.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// signal signals the group of a program that was started with attributes. An empty group is not an error.
func signal(leader *os.Process, sig syscall.Signal) { _ = syscall.Kill(-leader.Pid, sig) }

// isShortage reports whether a program could not be started for lack of a resource that may be available later: memory, a slot
// in the process table, a descriptor. A program file that is being written counts as well.
func isShortage(err error) bool {
	for _, want := range []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ETXTBSY} {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}

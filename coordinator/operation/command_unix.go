//go:build unix

package operation

import (
	"errors"
	"os"
	"syscall"
)

// What ends a process: the first can be caught, the second cannot.
const (
	polite = syscall.SIGTERM
	deadly = syscall.SIGKILL
)

// attributes put a program into a process group of its own, whose id is that of the program.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// signal signals the group of a program that was started with attributes. That nobody is left to be signaled is fine.
func signal(leader *os.Process, sig syscall.Signal) { _ = syscall.Kill(-leader.Pid, sig) }

// isShortage reports whether a program could not be started for want of something that may be there later: memory, a
// place in the process table, a descriptor. A program that is just being written counts as well.
func isShortage(err error) bool {
	for _, want := range []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ETXTBSY} {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}

//go:build !unix

package operation

import (
	"os"
	"syscall"
)

// Without process groups there is one way to end a program, and none to end what it has started.
const (
	polite = syscall.SIGKILL
	deadly = syscall.SIGKILL
)

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func signal(leader *os.Process, _ syscall.Signal) { _ = leader.Kill() }

func isShortage(error) bool { return false }

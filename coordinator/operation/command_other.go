//go:build !unix

package operation

import (
	"os"
	"syscall"
)

// Without process groups, a program can only be killed, and its child processes cannot be ended.
const (
	polite = syscall.SIGKILL
	deadly = syscall.SIGKILL
)

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func signal(leader *os.Process, _ syscall.Signal) { _ = leader.Kill() }

func isShortage(error) bool { return false }

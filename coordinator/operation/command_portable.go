//go:build !linux

package operation

import (
	"errors"
	"os"
	"syscall"
)

// dieWithParent does nothing: only Linux supports it.
func dieWithParent(*syscall.SysProcAttr) {}

// awaitExit returns when the program has exited. It reaps the program, because these systems have no other way to wait, so the
// id of the group is free from then on if the group is empty. Systems assign ids in turn, so another process gets it only if
// all other ids are used up within the group's grace period.
func (p *process) awaitExit() { p.state, _ = p.cmd.Process.Wait() }

func (p *process) exitState() (*os.ProcessState, error) {
	if p.state == nil {
		return nil, errors.New("the exit status of the program is unknown")
	}
	return p.state, nil
}

//go:build !linux

package operation

import (
	"errors"
	"os"
	"syscall"
)

// dieWithParent does nothing: only Linux supports it.
func dieWithParent(*syscall.SysProcAttr) {}

// awaitExit returns when the program has exited. It reaps the program, because these systems have no other way to wait. If the
// group is empty, its id is free from then on. Systems assign ids in turn, so another process gets the id only if all other ids are
// used up within the grace period of the group.
func (p *process) awaitExit() { p.state, _ = p.cmd.Process.Wait() }

func (p *process) exitState() (*os.ProcessState, error) {
	if p.state == nil {
		return nil, errors.New("the exit status of the program is unknown")
	}
	return p.state, nil
}

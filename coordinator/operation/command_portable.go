//go:build !linux

package operation

import (
	"errors"
	"os"
	"syscall"
)

// dieWithParent does nothing: no other system than Linux can be asked for it.
func dieWithParent(*syscall.SysProcAttr) {}

// awaitExit returns when the program has exited. Without a way to wait that does not reap, the id of the group is free
// from then on if nobody is left in it. Systems hand out ids in turn, so somebody else gets it only if all others are
// used up before the rest of the group has had its grace.
func (p *process) awaitExit() { p.state, _ = p.cmd.Process.Wait() }

func (p *process) exitState() (*os.ProcessState, error) {
	if p.state == nil {
		return nil, errors.New("how the program ended is not known")
	}
	return p.state, nil
}

package operation

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent has the kernel kill the program when the thread that starts it ends, be it because all of this process
// does. What the program itself has started is not told, but finds its pipes closed.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// awaitExit returns when the program has exited. It stays unreaped, which keeps its id, and that of its group, from being
// given to somebody else.
func (p *process) awaitExit() {
	var info unix.Siginfo
	for unix.Waitid(unix.P_PID, p.cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

func (p *process) exitState() (*os.ProcessState, error) { return p.cmd.Process.Wait() }

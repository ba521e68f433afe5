package operation

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent makes the kernel kill the program when the thread that started it ends, for example with this process. The kernel
// does not kill processes that the program has started; their pipes are closed.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// awaitExit returns when the program has exited. It does not reap the program, so the id of the program, which is also the id of
// its group, is not reused.
func (p *process) awaitExit() {
	var info unix.Siginfo
	for unix.Waitid(unix.P_PID, p.cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

func (p *process) exitState() (*os.ProcessState, error) { return p.cmd.Process.Wait() }

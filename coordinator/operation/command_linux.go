package operation

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent makes the kernel kill the program when the thread that started it ends, for example with this process.
// Processes that the program has started are not killed, but find their pipes closed.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// awaitExit returns when the program has exited. It leaves the program unreaped, so that its id, which is also that of its
// group, is not reused.
func (p *process) awaitExit() {
	var info unix.Siginfo
	for unix.Waitid(unix.P_PID, p.cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

func (p *process) exitState() (*os.ProcessState, error) { return p.cmd.Process.Wait() }

package operation

import (
	"fmt"
	"io"
	"os/exec"
	"sync"
)

// guard is a process that outlives this one by a moment, and kills the groups of programs that were under way: what a program
// has started is not ended by the system when this process is killed, and would go on beside the one that the program's
// call is made again for. It learns from its input which groups there are, and from its input's end that this process has
// gone, however it went.
//
// It is one shell for all programs, started with the first. Where it cannot be started, programs are not guarded.
type guard struct {
	mu     sync.Mutex
	groups map[int]bool // by the ids of their leaders
	input  io.WriteCloser
}

// programs guards all programs of this process.
var programs = guard{groups: map[int]bool{}}

// guardScript keeps the list of groups. What a terminal sends to all of its processes does not end it.
const guardScript = `trap '' HUP INT TERM QUIT TSTP
groups=
while read -r what group; do
  rest=
  for one in $groups; do [ "$one" = "$group" ] || rest="$rest $one"; done
  groups=$rest
  [ "$what" = - ] || groups="$groups $group"
done
for one in $groups; do kill -s KILL -- "-$one"; done 2> /dev/null`

// prepare sees to it that there is a guard. It is called before a program is started, so that no time is lost then.
func (g *guard) prepare() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.renew()
}

// renew starts a guard unless there is one, and tells it what its forerunner knew. The caller holds mu.
func (g *guard) renew() {
	if g.input != nil || g.start() != nil {
		return
	}
	for group := range g.groups {
		if !g.tell("+", group) {
			return
		}
	}
}

// add has a group killed when this process ends before remove is called.
func (g *guard) add(group int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.groups[group] = true
	if g.input == nil || !g.tell("+", group) {
		g.renew()
	}
}

// remove says that nothing is left of a group.
func (g *guard) remove(group int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.groups, group)
	if g.input != nil {
		g.tell("-", group)
	}
}

// tell writes to the guard. It reports false when that has gone. The caller holds mu.
func (g *guard) tell(what string, group int) bool {
	if _, err := fmt.Fprintln(g.input, what, group); err != nil {
		_ = g.input.Close()
		g.input = nil
	}
	return g.input != nil
}

// start starts the shell. The caller holds mu.
func (g *guard) start() error {
	cmd := exec.Command("/bin/sh", "-c", guardScript)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", []string{}, attributes()
	input, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		_ = input.Close()
		return err
	}
	g.input = input
	return cmd.Process.Release() // it ends with this process, and not before
}

package operation

import (
	"fmt"
	"io"
	"os/exec"
	"sync"
)

// guard controls a process that briefly outlives this one and then kills the groups of running programs. If this process is killed,
// the system does not end the processes that a program has started; without the guard, they would continue while the call is
// repeated. The guard process reads the groups from its input; the end of the input means that this process has ended.
//
// One shell serves all programs. It starts with the first program. If it cannot be started, programs are not guarded.
type guard struct {
	mu     sync.Mutex
	groups map[int]bool // by the ids of their leaders
	input  io.WriteCloser
}

// programs guards all programs of this process.
var programs = guard{groups: map[int]bool{}}

// guardScript keeps the list of groups. It ignores the signals that a terminal sends to all its processes.
const guardScript = `trap '' HUP INT TERM QUIT TSTP
groups=
while read -r what group; do
  rest=
  for one in $groups; do [ "$one" = "$group" ] || rest="$rest $one"; done
  groups=$rest
  [ "$what" = - ] || groups="$groups $group"
done
for one in $groups; do kill -s KILL -- "-$one"; done 2> /dev/null`

// prepare starts a guard if there is none. It is called before a program starts, so that add is fast.
func (g *guard) prepare() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.restart()
}

// restart starts a guard if there is none, and sends it the current groups. The caller holds mu.
func (g *guard) restart() {
	if g.input != nil || g.start() != nil {
		return
	}
	for group := range g.groups {
		if !g.send("+", group) {
			return
		}
	}
}

// add registers a group. The guard kills the group if this process ends before the call of remove.
func (g *guard) add(group int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.groups[group] = true
	if g.input == nil || !g.send("+", group) {
		g.restart()
	}
}

// remove unregisters a group that has ended.
func (g *guard) remove(group int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.groups, group)
	if g.input != nil {
		g.send("-", group)
	}
}

// send writes a line to the guard. It returns false if the guard has ended. The caller holds mu.
func (g *guard) send(what string, group int) bool {
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
	return cmd.Process.Release() // the shell ends after this process
}

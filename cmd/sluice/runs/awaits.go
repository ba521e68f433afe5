package runs

import (
	"cmp"
	"fmt"
	"io"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator/api"
)

// commandsShown bounds the commands below the steps of a run.
const commandsShown = 5

// awaitsByStep returns the waits of each step, except waits without an end for calls under way, which the status of the step implies.
func awaitsByStep(r *api.Run) map[string][]*api.Awaited {
	list := map[string][]*api.Awaited{}
	for i := range r.Awaits {
		if w := &r.Awaits[i]; w.Kind != "call" || !w.Until.IsZero() {
			list[w.Step] = append(list[w.Step], w)
		}
	}
	return list
}

// showCommands prints the commands that end waits.
func showCommands(w io.Writer, dir, run string, awaits []api.Awaited) {
	var commands [][]string
	for i := range awaits {
		commands = append(commands, awaits[i].Command)
	}
	lines, more := cli.WaitCommands(dir, commands, commandsShown)
	if len(lines) == 0 {
		return
	}
	fmt.Fprintln(w, "\nto go on:")
	for _, line := range lines {
		fmt.Fprintln(w, "  "+progress.Clean(line))
	}
	if more > 0 {
		fmt.Fprintf(w, "  and %d more: %s\n", more, cli.CommandLine(dir, []string{"runs", "show", run}, "-o", "json"))
	}
}

// awaits prints the waits that have a command or an end, and those for workers. It prints the commands, too.
func (l *eventLines) awaits(dir string, list []api.Awaited) {
	for i := range list {
		w := &list[i]
		if w.Command == nil && w.Until.IsZero() && !forWorker(*w) {
			continue // its status implies the wait
		}
		text := cli.WaitText(w)
		if w.Command != nil {
			text += ": " + cli.CommandLine(dir, w.Command)
		}
		fmt.Fprintf(l.w, "      %s waits for %s\n", progress.Clean(cmp.Or(w.Step, "the run")), progress.Clean(text))
	}
}

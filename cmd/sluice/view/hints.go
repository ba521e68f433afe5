package view

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
)

// hintsMax bounds the commands that a tree shows.
const hintsMax = 3

// hints returns the commands that end waits of the run, in the order of the waiting keys.
func (r *Run) hints(t *progress.Tree) []string {
	if r.Dir == "" {
		return nil
	}
	var commands [][]string
	run := ""
	awaits := t.Awaits()
	for _, key := range slices.Sorted(maps.Keys(awaits)) {
		for _, w := range awaits[key] {
			commands = append(commands, w.Command)
			if w.Command != nil {
				run = w.Command[1]
			}
		}
	}
	lines, more := cli.WaitCommands(r.Dir, commands, hintsMax)
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more: %s", more, cli.CommandLine(r.Dir, []string{"runs", "show", run})))
	}
	return lines
}

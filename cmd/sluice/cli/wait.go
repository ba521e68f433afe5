package cli

import (
	"time"

	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/reactive/inspect"
)

// WaitText describes a wait and its end for people: `message "approve" until 14:02:11`.
func WaitText(w *api.Awaited) string {
	text := progress.WaitText(inspect.WaitKind(w.Kind), w.What, w.Then, w.Until)
	if !w.Since.IsZero() {
		text += NoneSince(w.Since)
	}
	return text
}

// NoneSince returns the end of the text about a wait for a worker: the time since which there is none.
func NoneSince(t time.Time) string { return ": there is none since " + progress.Soon(t) }

// WaitCommands returns the command lines that end waits for the journal in dir, each once and at most most of them, and the number of the
// others. commands has their arguments.
func WaitCommands(dir string, commands [][]string, most int) (lines []string, more int) {
	seen := map[string]bool{}
	for _, args := range commands {
		if args == nil {
			continue
		}
		line := CommandLine(dir, args)
		switch {
		case seen[line]:
		case len(lines) == most:
			more++
		default:
			lines = append(lines, line)
		}
		seen[line] = true
	}
	return lines, more
}

// Package view shows a run while this process works on it, and its end. There are four views:
//
//	live    a tree on a terminal, drawn 20 times a second            -o tree
//	lines   a line for each change                                   -o tree, if the output cannot be redrawn
//	json    a JSON object for each event, and one for the result     -o json
//	quiet   only the output of the run                               -o quiet
//
// The tree itself, its words and symbols are package progress.
package view

import (
	"io"
	"os"

	"github.com/charmbracelet/x/term"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/template"
)

// The values of --output.
const (
	Tree  = "tree"
	JSON  = "json"
	Quiet = "quiet"
)

// View shows one run. Update and End are called by one goroutine, Stopping and Note by any. A view ignores errors of its writer, which
// records them: see cli.Stdout.
type View interface {
	// Update shows the next event of the run, from the first one on. It must not keep u. live is false for events that were
	// journaled before this process began.
	Update(u *coordinator.Update, live bool)

	// Stopping shows how the run is being stopped, because the user has asked for it.
	Stopping(what string)

	// Note shows a text of the engine's or the journal's log, which ends with a line break.
	Note(text string)

	// End shows the end of the run. It is called last, and once.
	End(e Summary)
}

// Run describes the run of a view.
type Run struct {
	Workflow *template.Workflow // its definition, for names and whether it has an output
	Dir      string             // folder of the journal; "": it is in memory, and takes no commands
	Seen     uint64             // sequence of the last event journaled before this process began; 0: none
}

// hasOutput reports whether a completed run has an output to be shown. A playbook's is that of its last step, if any.
func (r *Run) hasOutput(result *coordinator.Result) bool {
	return r.Workflow.HasOutput || r.Workflow.Routing != nil && result.Output != nil
}

// Summary is the end of a run, or the way to resume it. Neither field is set if it is unknown.
type Summary struct {
	Result *coordinator.Result // nil: it has not ended
	Resume string              // the command line that resumes the run; "": it cannot be resumed
}

// Interrupts counts the requests to stop, for a view that reads the terminal's keys and so Ctrl-C, too. Its methods are safe for
// concurrent use.
type Interrupts interface {
	// Press counts a Ctrl-C.
	Press()

	// BeforeExit registers a function that is called before the process is ended at once.
	BeforeExit(f func())
}

// New returns the view that output names, which writes to w. Logs and remarks go to standard error, except those of the live view. On a
// terminal, Tree is the live view, which takes over the terminal until End.
func New(output string, w io.Writer, r *Run, interrupts Interrupts) View {
	switch output {
	case JSON:
		return newJSONView(w)
	case Quiet:
		return &quietView{w: w, run: r}
	}
	if file := cli.FileOf(w); file != nil && canRedraw(file) {
		return startLiveView(file, r, interrupts)
	}
	return newLineView(w, r)
}

// canRedraw reports whether file is a terminal on which lines can be overwritten.
func canRedraw(file *os.File) bool {
	name := os.Getenv("TERM")
	return term.IsTerminal(file.Fd()) && name != "dumb" && name != ""
}

// Package view shows a run while it is under way, and its end. There are four views:
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

// View shows one run. One goroutine calls Update and End; any goroutine may call Stopping and Note. A view ignores errors of its writer,
// which records them: see cli.Stdout.
type View interface {
	// Update shows the next event of the run, from the first one on. It must not keep u. live is false for events that were
	// journaled before this process began.
	Update(u *coordinator.Update, live bool)

	// Stopping shows that the run is being stopped on request; what describes how.
	Stopping(what string)

	// Note shows a text of the engine's or the journal's log, which ends with a line break.
	Note(text string)

	// End shows the end of the run. It is called last, and once.
	End(e Summary)
}

// Run describes the run of a view.
type Run struct {
	Workflow *template.Workflow // its definition, for the names of steps and the presence of an output
	Dir      string             // folder of the journal; "": it is in memory, and takes no commands
	Seen     uint64             // sequence of the last event journaled before this process began; 0: none
}

// hasOutput reports whether a completed run has an output to be shown. The output of a playbook is the output of its last step, if any.
func (r *Run) hasOutput(result *coordinator.Result) bool {
	return r.Workflow.HasOutput || r.Workflow.Routing != nil && result.Output != nil
}

// Summary is the end of a run, or the command that resumes it. If neither is known, no field is set.
type Summary struct {
	Result *coordinator.Result // nil: it has not ended
	Resume string              // the command line that resumes the run; "": it cannot be resumed
}

// Interrupts counts the requests to stop. A view that reads the keys of the terminal reports Ctrl-C to it. Its methods are safe for
// concurrent use.
type Interrupts interface {
	// Press counts a Ctrl-C.
	Press()

	// BeforeExit registers a function to be called before a second request ends the process at once.
	BeforeExit(f func())
}

// New returns the view that output names, which writes to w. Logs and remarks go to standard error, except in the live view. On a
// terminal, Tree is the live view, which controls the terminal until End.
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

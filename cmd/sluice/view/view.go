// Package view shows a run while this process works on it, and how it has ended. There are four views:
//
//	live    a tree on a terminal, drawn anew 20 times a second       -o tree
//	lines   a line for each thing that happens                       -o tree, where a tree cannot be drawn anew
//	json    a JSON object for each event, and one for the result     -o json
//	quiet   the output of the run and nothing else                   -o quiet
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

// View shows one run. Update and End are called by one goroutine, Stopping and Note by any. A view drops output that it cannot write:
// the writer remembers that, see cli.Stdout.
type View interface {
	// Update takes the next event of the run, from the first one on. It must not keep u. Live reports that it happens now; before
	// come those that were journaled before this process began.
	Update(u *coordinator.Update, live bool)

	// Stopping reports what is being done because the user wants the run to stop.
	Stopping(what string)

	// Note shows a text of the engine's or the journal's log, which ends with a line break.
	Note(text string)

	// End shows how the run has ended. It is called last, and once.
	End(e Ending)
}

// Run describes the run of a view.
type Run struct {
	Workflow *template.Workflow // its definition, for names and whether it has an output
	Seen     uint64             // sequence of the last event that was journaled before this process began; 0: none
}

// hasOutput reports whether a run that has completed has an output to be shown. That of a playbook is what its last step has
// returned, if anything.
func (r *Run) hasOutput(result *coordinator.Result) bool {
	return r.Workflow.HasOutput || r.Workflow.Routing != nil && result.Output != nil
}

// Ending is how a run has ended, or is to go on. Neither field is set where this is not known.
type Ending struct {
	Result *coordinator.Result // nil: it has not ended
	Resume string              // the command line that resumes the run; "" when there is nothing to resume
}

// Interrupts counts the requests to stop, for a view that takes the terminal's keys and so Ctrl-C too. Its methods may be
// called by any goroutine.
type Interrupts interface {
	// Press counts a Ctrl-C.
	Press()

	// BeforeExit registers what is to be done before the process is ended at once.
	BeforeExit(f func())
}

// New returns the view that output names, which writes to w; a log and remarks go to standard error, but for those of the live
// view. On a terminal, Tree is the live view, which takes the terminal over until End.
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

// canRedraw reports whether file is a terminal on which lines can be written over.
func canRedraw(file *os.File) bool {
	name := os.Getenv("TERM")
	return term.IsTerminal(file.Fd()) && name != "dumb" && name != ""
}

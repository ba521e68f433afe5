package main

import (
	"io"
	"os"

	"github.com/charmbracelet/x/term"

	"github.com/sluiceflow/sluice/coordinator"
)

// view shows a run. update and end are called by one goroutine, stopping and note by any.
type view interface {
	// update takes what has happened. news tells what happens now from what the journal says of earlier sessions.
	update(u *coordinator.Update, news bool)

	// stopping says what is being done because somebody wants the run to stop.
	stopping(what string)

	// note shows what the engine or the journal has to tell.
	note(text string)

	// end shows how it ended. It is called last, and once.
	end(e ending)
}

// newView makes the view that was asked for. A tree that cannot be drawn anew is given as lines.
func newView(output string, w io.Writer, s *session, stops *stops) view {
	switch output {
	case "json":
		return newJSONView(w)
	case "quiet":
		return &quietView{w: w, session: s}
	}
	if file := fileOf(w); file != nil && canRedraw(file) {
		return startLiveView(file, s, stops)
	}
	return newLineView(w, s)
}

// canRedraw reports whether lines can be written over there.
func canRedraw(file *os.File) bool {
	name := os.Getenv("TERM")
	return term.IsTerminal(file.Fd()) && name != "dumb" && name != ""
}

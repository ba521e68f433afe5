package main

import (
	"fmt"
	"io"
	"os"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/template/value"
)

// quietView prints the run's output and nothing else.
type quietView struct {
	w       io.Writer
	session *session
}

func (*quietView) update(*coordinator.Update, bool) {}
func (*quietView) stopping(string)                  {}
func (*quietView) note(text string)                 { fmt.Fprint(os.Stderr, text) }

func (v *quietView) end(e ending) {
	if e.result != nil && e.result.Err() == nil && v.session.hasOutput(e.result) {
		fmt.Fprintln(v.w, forReading(v.w, value.Text(e.result.Output)))
	}
}

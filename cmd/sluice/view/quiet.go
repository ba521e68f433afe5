package view

import (
	"fmt"
	"io"
	"os"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/template/value"
)

// quietView prints only the run's output.
type quietView struct {
	w   io.Writer
	run *Run
}

func (*quietView) Update(*coordinator.Update, bool) {}
func (*quietView) Stopping(string)                  {}
func (*quietView) Note(text string)                 { fmt.Fprint(os.Stderr, text) }

func (v *quietView) End(e Summary) {
	if e.Result != nil && e.Result.Err() == nil && v.run.hasOutput(e.Result) {
		fmt.Fprintln(v.w, cli.ForPeople(v.w, value.Text(e.Result.Output)))
	}
}

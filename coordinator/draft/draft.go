// Package draft checks a document that is being edited: it returns its faults, its drawing, and the possible ends of its runs. It
// stores and starts nothing. The cost of a check is bounded, and one document is explored at a time.
package draft

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/drawing"
	"github.com/sluiceflow/sluice/coordinator/explore"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
)

// Bounds of the exploration of one check: about half a second of a processor.
const (
	statesMax = 2_000
	workMax   = 50_000_000
	bytesMax  = 8 << 20
	faultsMax = 100
)

// Check is the result of checking a document.
type Check struct {
	Name     string           `json:"name,omitempty"`    // of the workflow; not there: it cannot be read
	Faults   []Fault          `json:"faults"`            // with any, it cannot be published
	Warnings []Fault          `json:"warnings"`          // valid, but probably mistakes
	Drawing  *drawing.Drawing `json:"drawing,omitempty"` // not there: it cannot be read
	Runs     *explore.Report  `json:"runs,omitempty"`    // the possible ends of runs; not there: it cannot be read, or its kind cannot be explored
}

// Fault is one fault of a document.
type Fault struct {
	Line       int    `json:"line,omitempty"`       // from 1
	Column     int    `json:"column,omitempty"`     // from 1, in characters
	Path       string `json:"path,omitempty"`       // such as steps[3].input
	Text       string `json:"text"`                 // for people
	Suggestion string `json:"suggestion,omitempty"` // the text probably meant
}

// turn is held by the one check that explores.
var turn = make(chan struct{}, 1)

// Of checks the text of a document. Operations that it does not bind are assumed to exist: other processes may serve them. If ctx ends
// while another document is explored, it returns the error of ctx.
func Of(ctx context.Context, text []byte) (*Check, error) {
	c := &Check{Faults: []Fault{}, Warnings: []Fault{}}
	checked, err := kinds.Load("document", text, template.Known{Lenient: true})
	if err != nil {
		c.Faults = faultsOf(err)
		return c, nil
	}
	p, err := plan.Compile(checked)
	if err != nil {
		c.Warnings, c.Faults = faultsOf(checked.Warnings), faultsOf(err)
		return c, nil
	}
	c.Warnings = faultsOf(p.Warnings())
	c.Name = checked.Workflow.Name
	if c.Drawing, err = drawing.Of(p); err != nil {
		return nil, err
	}
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if report, err := explore.Run(p, explore.Options{StatesMax: statesMax, WorkMax: workMax, BytesMax: bytesMax}); err == nil {
		c.Runs = report
	}
	return c, nil
}

// Refuse adds the reason that a readable document cannot be published.
func (c *Check) Refuse(err error) {
	for _, f := range faultsOf(err) {
		f.Text = strings.TrimPrefix(f.Text, "catalog: ")
		c.Faults = append(c.Faults, f)
	}
}

// Warn adds a warning about publishing the document; "" is none.
func (c *Check) Warn(text string) {
	if text != "" {
		c.Warnings = append(c.Warnings, Fault{Text: text})
	}
}

// faultsOf returns the faults in an error.
func faultsOf(err error) []Fault {
	list := []Fault{}
	var all document.Errors
	if one, ok := errors.AsType[*document.Error](err); ok {
		all = document.Errors{one}
	}
	if many, ok := errors.AsType[document.Errors](err); ok {
		all = many
	}
	if len(all) == 0 && err != nil {
		if warnings, ok := err.(document.Errors); !ok || len(warnings) > 0 {
			return append(list, Fault{Text: err.Error()})
		}
	}
	for _, e := range all[:min(len(all), faultsMax)] {
		list = append(list, Fault{e.Line, e.Col, e.Path, cmp.Or(e.Msg, e.Error()), e.Suggestion})
	}
	return list
}

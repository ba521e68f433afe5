package scenario

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/sluiceflow/sluice/coordinator/scenario/script"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/duration"
)

// reader reads a scenario from the nodes of a document, and collects the faults.
type reader struct{ script.Reader }

// fields maps each key of a mapping to the function that reads it.
type fields = script.Fields

// read reads one document of kind Scenario.
func read(n *document.Node) (*Scenario, error) {
	r := &reader{}
	s := &Scenario{Pos: n.Pos, start: startDefault, until: untilDefault}
	r.Object(n, fields{
		"kind":       func(*document.Node) {},
		"name":       func(v *document.Node) { s.Name = r.Word(v) },
		"workflow":   func(v *document.Node) { s.workflow = r.workflow(v) },
		"input":      func(v *document.Node) { s.input = v.Value() },
		"start":      func(v *document.Node) { s.start = r.instant(v) },
		"until":      func(v *document.Node) { s.until = r.Duration(v) },
		"operations": func(v *document.Node) { s.answers = r.Script(v) },
		"decisions":  func(v *document.Node) { s.decisions = r.Script(v) },
		"directory":  func(v *document.Node) { s.directory = r.directory(v) },
		"given":      func(v *document.Node) { s.given = r.given(v) },
		"timeline":   func(v *document.Node) { s.timeline = r.timeline(v) },
		"expect":     func(v *document.Node) { s.expect = r.expectation(v) },
	})
	for _, key := range []string{"name", "workflow", "expect"} {
		if n.Get(key) == nil {
			r.Refuse(n, key+" is missing")
		}
	}
	if last := untilLast.Add(-s.until); s.start.After(last) {
		at := n.Get("start")
		if at == nil {
			at = n.Get("until")
		}
		r.Refuse(at, fmt.Sprintf("a scenario must end by %s: start it by %s, or set an earlier end (until)",
			untilLast.Format(time.RFC3339), last.Format(time.RFC3339)))
	}
	for i := range s.timeline {
		if e := &s.timeline[i]; e.at > s.until {
			r.Add(&document.Error{Pos: e.pos, Msg: "this is after the end of the scenario, " + duration.Format(s.until)})
		}
	}
	return s, r.Err()
}

// The clock of a scenario counts nanoseconds since 1970; 0 means no instant.
var (
	startFirst = time.Unix(0, 1).UTC()
	untilLast  = time.Unix(0, math.MaxInt64).UTC()
)

func (r *reader) instant(n *document.Node) time.Time {
	t, err := time.Parse(time.RFC3339Nano, r.Text(n))
	switch {
	case err != nil:
		r.Refuse(n, "start must be a time such as 2027-01-31T12:00:00Z")
	case t.Before(startFirst) || t.After(untilLast):
		r.Refuse(n, fmt.Sprintf("start must be a time after the start of 1970 and before %s", untilLast.Format(time.RFC3339)))
	default:
		return t.UTC()
	}
	return startDefault
}

func (r *reader) workflow(n *document.Node) *document.Node {
	if n.Kind != document.Mapping && n.Kind != document.String {
		r.WrongKind(n, "a document or the path of one")
	}
	return n
}

// directory reads a directory of participants, as in a workflow.
func (r *reader) directory(n *document.Node) *template.Directory {
	d, err := template.ParseDirectory(n)
	if faults, ok := errors.AsType[document.Errors](err); ok {
		for _, fault := range faults {
			r.Add(fault)
		}
	}
	return d
}

package scenario

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/duration"
	"github.com/sluiceflow/sluice/template/expr"
)

// reader turns the nodes of a document into a scenario and collects what is wrong with it.
type reader struct{ errs document.Errors }

// fields says what is done with each key of a mapping.
type fields map[string]func(*document.Node)

// read reads one document of kind Scenario.
func read(n *document.Node) (*Scenario, error) {
	r := &reader{}
	s := &Scenario{Pos: n.Pos, start: startDefault, until: untilDefault}
	r.object(n, fields{
		"kind":       func(*document.Node) {},
		"name":       func(v *document.Node) { s.Name = r.text(v) },
		"workflow":   func(v *document.Node) { s.workflow = r.workflow(v) },
		"input":      func(v *document.Node) { s.input = v.Value() },
		"start":      func(v *document.Node) { s.start = r.instant(v) },
		"until":      func(v *document.Node) { s.until = r.duration(v) },
		"operations": func(v *document.Node) { s.answers = r.script(v) },
		"decisions":  func(v *document.Node) { s.decisions = r.script(v) },
		"directory":  func(v *document.Node) { s.directory = r.directory(v) },
		"timeline":   func(v *document.Node) { s.timeline = r.timeline(v) },
		"expect":     func(v *document.Node) { s.expect = r.expectation(v) },
	})
	for _, key := range []string{"name", "workflow", "expect"} {
		if n.Get(key) == nil {
			r.fault(n, key+" is missing")
		}
	}
	if last := untilLast.Add(-s.until); s.start.After(last) {
		at := n.Get("start")
		if at == nil {
			at = n.Get("until")
		}
		r.fault(at, fmt.Sprintf("a scenario must end by %s: start it by %s, or have it end sooner (until)",
			untilLast.Format(time.RFC3339), last.Format(time.RFC3339)))
	}
	for i := range s.timeline {
		if e := &s.timeline[i]; e.at > s.until {
			r.errs.Add(&document.Error{Pos: e.pos, Msg: "this is after the end of the scenario, " + duration.Format(s.until)})
		}
	}
	return s, r.errs.Err()
}

// object reads a mapping key by key and reports keys that are not in known; keys that begin with x- are free.
func (r *reader) object(n *document.Node, known fields) {
	if n.Kind != document.Mapping {
		r.wrongKind(n, "a mapping")
		return
	}
	for e := range n.Entries() {
		if read, ok := known[e.Key]; ok {
			read(e.Value)
		} else if !strings.HasPrefix(e.Key, "x-") {
			near, _ := expr.Nearest(e.Key, slices.Sorted(maps.Keys(known)))
			r.errs.Add(&document.Error{Pos: e.Pos, Text: e.Key, Msg: "unknown key " + document.Quote(e.Key), Suggestion: near})
		}
	}
}

// each reads a mapping whose keys the author chooses.
func (r *reader) each(n *document.Node, read func(key string, v *document.Node)) {
	if n.Kind != document.Mapping {
		r.wrongKind(n, "a mapping")
		return
	}
	for e := range n.Entries() {
		read(e.Key, e.Value)
	}
}

func (r *reader) fault(n *document.Node, msg string) {
	text, _ := n.Text()
	r.errs.Add(&document.Error{Pos: n.Pos, Text: text, Msg: msg})
}

func (r *reader) wrongKind(n *document.Node, want string) {
	r.fault(n, fmt.Sprintf("this must be %s, not %s", want, n.Kind))
}

func (r *reader) text(n *document.Node) string {
	text, ok := n.Text()
	if !ok {
		r.wrongKind(n, "a string")
	}
	return text
}

// texts reads one text or a list of them.
func (r *reader) texts(n *document.Node) []string {
	if n.Kind != document.Sequence {
		return []string{r.text(n)}
	}
	list := make([]string, 0, n.Len())
	for _, item := range n.Items() {
		list = append(list, r.text(item))
	}
	return list
}

func (r *reader) flag(n *document.Node) bool {
	b, ok := n.Value().(bool)
	if !ok {
		r.wrongKind(n, "a boolean")
	}
	return b
}

func (r *reader) count(n *document.Node) int {
	i, ok := n.Value().(int64)
	if !ok || i < 0 {
		r.wrongKind(n, "a number of times")
	}
	return int(i)
}

// duration reads an ISO 8601 duration. Other than in workflows, PT0S is one: the start.
func (r *reader) duration(n *document.Node) time.Duration {
	text := r.text(n)
	if text == duration.Format(0) || text == "" {
		return 0
	}
	d, err := duration.Parse(text)
	if err != nil {
		r.fault(n, err.Error())
	}
	return d
}

// The clock of a scenario counts the nanoseconds since 1970, and 0 is no instant.
var (
	startFirst = time.Unix(0, 1).UTC()
	untilLast  = time.Unix(0, math.MaxInt64).UTC()
)

func (r *reader) instant(n *document.Node) time.Time {
	t, err := time.Parse(time.RFC3339Nano, r.text(n))
	switch {
	case err != nil:
		r.fault(n, "this must be a time such as 2027-01-31T12:00:00Z")
	case t.Before(startFirst) || t.After(untilLast):
		r.fault(n, fmt.Sprintf("this must be a time after the start of 1970 and before %s", untilLast.Format(time.RFC3339)))
	default:
		return t.UTC()
	}
	return startDefault
}

func (r *reader) workflow(n *document.Node) *document.Node {
	if n.Kind != document.Mapping && n.Kind != document.String {
		r.wrongKind(n, "a document or the path of one")
	}
	return n
}

// directory reads who can be targeted, as in a workflow.
func (r *reader) directory(n *document.Node) *template.Directory {
	d, err := template.ParseDirectory(n)
	if faults, ok := errors.AsType[document.Errors](err); ok {
		r.errs = append(r.errs, faults...)
	}
	return d
}

package script

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/duration"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/fields"
)

// Fields maps each key of a mapping to the function that reads it.
type Fields = fields.Map

// Reader reads a document of kind Scenario and collects its faults. An invalid value stays zero, and reading continues.
type Reader struct{ faults document.Errors }

// Err returns all faults as document.Errors, or nil.
func (r *Reader) Err() error { return r.faults.Err() }

// Add records a fault that has more details than Fault takes.
func (r *Reader) Add(e *document.Error) { r.faults.Add(e) }

// Object reads a mapping key by key and reports keys that are not in known, except those that begin with x-.
func (r *Reader) Object(n *document.Node, known Fields) {
	if n.Kind != document.Mapping {
		r.WrongKind(n, "a mapping")
		return
	}
	for e := range n.Entries() {
		if read, ok := known[e.Key]; ok {
			read(e.Value)
		} else if !strings.HasPrefix(e.Key, "x-") {
			near, _ := expr.Nearest(e.Key, slices.Sorted(maps.Keys(known)))
			r.Add(&document.Error{Pos: e.Pos, Text: e.Key, Msg: "unknown key " + document.Quote(e.Key), Suggestion: near})
		}
	}
}

// Each reads a mapping whose keys the author chooses.
func (r *Reader) Each(n *document.Node, read func(key string, v *document.Node)) {
	if n.Kind != document.Mapping {
		r.WrongKind(n, "a mapping")
		return
	}
	for e := range n.Entries() {
		read(e.Key, e.Value)
	}
}

// Fault records that the value at n is invalid.
func (r *Reader) Fault(n *document.Node, msg string) {
	text, _ := n.Text()
	r.Add(&document.Error{Pos: n.Pos, Text: text, Msg: msg})
}

// WrongKind reports a value whose kind is not the one that its key requires, such as "a list".
func (r *Reader) WrongKind(n *document.Node, want string) {
	r.Fault(n, fmt.Sprintf("this must be %s, not %s", want, n.Kind))
}

// Text reads a string.
func (r *Reader) Text(n *document.Node) string {
	text, ok := n.Text()
	if !ok {
		r.WrongKind(n, "a string")
	}
	return text
}

// Texts reads one text or a list of them.
func (r *Reader) Texts(n *document.Node) []string {
	if n.Kind != document.Sequence {
		return []string{r.Text(n)}
	}
	list := make([]string, 0, n.Len())
	for _, item := range n.Items() {
		list = append(list, r.Text(item))
	}
	return list
}

// Flag reads true or false.
func (r *Reader) Flag(n *document.Node) bool {
	b, ok := n.Value().(bool)
	if !ok {
		r.WrongKind(n, "a boolean")
	}
	return b
}

// Count reads an integer of at least zero.
func (r *Reader) Count(n *document.Node) int {
	i, ok := n.Value().(int64)
	if !ok || i < 0 {
		r.WrongKind(n, "a number of times")
	}
	return int(i)
}

// Duration reads an ISO 8601 duration. Unlike in workflows, PT0S is allowed: the start.
func (r *Reader) Duration(n *document.Node) time.Duration {
	text := r.Text(n)
	if text == duration.Format(0) || text == "" {
		return 0
	}
	d, err := duration.Parse(text)
	if err != nil {
		r.Fault(n, err.Error())
	}
	return d
}

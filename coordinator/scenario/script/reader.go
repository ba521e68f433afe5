package script

import (
	"fmt"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/duration"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/fields"
)

// Fields maps each key of a mapping to the function that reads it.
type Fields = fields.Map

// Reader reads a document of kind Scenario and collects its faults. A refused value stays zero, and reading continues.
type Reader struct{ fields.Reader }

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

// Texts reads one text or a list of texts.
func (r *Reader) Texts(n *document.Node) []string {
	if n.Kind != document.Sequence {
		return []string{r.Text(n)}
	}
	return r.Reader.Texts(n)
}

// Count reads an integer of at least zero.
func (r *Reader) Count(n *document.Node) int {
	i, ok := n.Value().(int64)
	switch {
	case !ok:
		r.WrongKind(n, "a number of times")
	case i < 0:
		r.Refuse(n, fmt.Sprintf("%s must be at least 0, not %d", fields.LastKey(n.Pos.Path), i))
	}
	return int(i)
}

// Duration reads an ISO 8601 duration. Unlike in workflows, PT0S is allowed: it means the start.
func (r *Reader) Duration(n *document.Node) time.Duration {
	if text, _ := n.Text(); text == duration.Format(0) {
		return 0
	}
	return r.Reader.Duration(n)
}

// OneOf reads one of the known texts.
func (r *Reader) OneOf(n *document.Node, known []string) string {
	text := r.Text(n)
	for _, k := range known {
		if text == k {
			return text
		}
	}
	near, _ := expr.Nearest(text, known)
	r.Add(&document.Error{Pos: n.Pos, Text: text, Suggestion: near, Msg: "this must be one of " + strings.Join(known, ", ")})
	return text
}

// Words returns names as strings, for OneOf.
func Words[S ~string](names ...S) []string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	return texts
}

package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
)

// reader turns nodes of a document into the tree. It reports what the tree cannot hold: unknown keys, values of the wrong
// kind, durations and times that are none. What the tree can hold is judged by Check, for documents and built trees alike.
type reader struct {
	errs    document.Errors
	refused map[string]bool // paths that have been reported
	speller expr.Speller
}

// Fields says what is done with the value of each key of a mapping.
type Fields map[string]func(*document.Node)

// object reads a mapping key by key and reports keys that are not in known; keys beginning with x- are free.
func (r *reader) object(n *document.Node, known Fields) {
	if n.Kind != document.Mapping {
		r.wrongKind(n, "a mapping")
		return
	}
	for e := range n.Entries() {
		if read, ok := known[e.Key]; ok {
			read(e.Value)
		} else if !strings.HasPrefix(e.Key, "x-") {
			r.unknownKey(e, slices.Sorted(maps.Keys(known)))
		}
	}
}

// unknownKey reports a key and takes the one it was probably meant for as dealt with: a misspelt key is not missing too.
func (r *reader) unknownKey(e document.Entry, known []string) {
	near := r.speller.Nearest(e.Key, slices.Values(known))
	r.errs.Add(&document.Error{Pos: e.Pos, Text: e.Key, Msg: "unknown key " + document.Quote(e.Key), Suggestion: near})
	if near != "" {
		r.markRefused(strings.TrimSuffix(e.Pos.Path, e.Key) + near)
	}
}

// refuse reports a value and remembers that its path has been dealt with.
func (r *reader) refuse(n *document.Node, msg string) {
	text, _ := n.Text()
	r.errs.Add(&document.Error{Pos: n.Pos, Text: text, Msg: msg})
	r.markRefused(n.Pos.Path)
}

func (r *reader) markRefused(path string) {
	if r.refused == nil {
		r.refused = make(map[string]bool)
	}
	r.refused[path] = true
}

// wrongKind reports a value of another kind than its key wants.
func (r *reader) wrongKind(n *document.Node, want string) {
	r.refuse(n, fmt.Sprintf("%s must be %s, not %s", lastKey(n.Pos.Path), want, n.Kind))
}

// lastKey gives the name a message uses for the value at a path: steps[1].timing.timeout is about timeout.
func lastKey(path string) string {
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		return path[i+1:]
	}
	if path == "" {
		return "the document"
	}
	return path
}

// Each of the readers below takes a value of one kind and reports any other; what it then gives is the zero value, which
// the tree has for what was not written.

func (r *reader) text(n *document.Node) string {
	text, ok := n.Text()
	if !ok {
		r.wrongKind(n, "a string")
	}
	return text
}

// argument reads a string where people also write numbers, as in the arguments of a command: [sleep, 5].
func (r *reader) argument(n *document.Node) string {
	if n.Kind == document.Int {
		return fmt.Sprint(n.Value())
	}
	return r.text(n)
}

// boolean takes true and false; yes and on are texts in today's YAML, and an author who means them should hear of it.
func (r *reader) boolean(n *document.Node) bool {
	b, ok := n.Value().(bool)
	if !ok {
		r.wrongKind(n, "a boolean")
	}
	return b
}

// count reads an integer of at least one: the tree's zero means that nothing was written.
func (r *reader) count(n *document.Node) int {
	switch v := n.Value().(type) {
	case int64:
		if v < 1 {
			r.refuse(n, lastKey(n.Pos.Path)+" must be at least 1")
			return 0
		}
		if int64(int(v)) == v {
			return int(v)
		}
	}
	r.wrongKind(n, "an integer")
	return 0
}

// number reads a factor or a share.
func (r *reader) number(n *document.Node) float64 {
	switch v := n.Value().(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	r.wrongKind(n, "a number")
	return 0
}

// duration reads a duration, and shows what stands there instead: PT30 and 30 are what people write first.
func (r *reader) duration(n *document.Node) time.Duration {
	text, ok := n.Text()
	if !ok && n.Len() == 0 {
		text = fmt.Sprint(n.Value())
	}
	d, err := ParseDuration(text)
	if err != nil {
		r.refuse(n, err.Error())
	}
	return d
}

// instant reads an RFC 3339 time.
func (r *reader) instant(n *document.Node) time.Time {
	t, err := time.Parse(time.RFC3339Nano, r.text(n))
	if err != nil && !r.refused[n.Pos.Path] {
		r.refuse(n, lastKey(n.Pos.Path)+" must be a time such as 2027-01-31T12:00:00Z")
	}
	return t.UTC()
}

// texts reads a list, each item as item does.
func (r *reader) texts(n *document.Node, item func(*document.Node) string) []string {
	if n.Kind != document.Sequence {
		r.wrongKind(n, "a list")
		return nil
	}
	list := make([]string, 0, n.Len())
	for _, v := range n.Items() {
		list = append(list, item(v))
	}
	return list
}

// textMap reads a mapping of arguments: of variables to a program, of headers to a server.
func (r *reader) textMap(n *document.Node) map[string]string {
	if n.Kind != document.Mapping {
		r.wrongKind(n, "a mapping")
		return nil
	}
	m := make(map[string]string, n.Len())
	for e := range n.Entries() {
		m[e.Key] = r.argument(e.Value)
	}
	return m
}

// list reads a list of any values.
func (r *reader) list(n *document.Node) []any {
	list, ok := n.Value().([]any)
	if !ok {
		r.wrongKind(n, "a list")
	}
	return list
}

// objectValue reads a mapping of any values.
func (r *reader) objectValue(n *document.Node) map[string]any {
	m, ok := n.Value().(map[string]any)
	if !ok {
		r.wrongKind(n, "a mapping")
	}
	return m
}

package fields

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/duration"
	"github.com/sluiceflow/sluice/template/expr"
)

// Map maps each key of a mapping to the function that reads its value.
type Map map[string]func(*document.Node)

// Reader reads values from nodes and collects their faults. Each of its methods accepts values of one kind; it refuses all
// others and returns the zero value. The zero Reader is ready for use. A Reader reads one document and must not be used
// concurrently.
type Reader struct {
	faults  document.Errors
	refused map[string]bool // paths that have been reported
	speller expr.Speller
}

// Err returns all faults as document.Errors, or nil.
func (r *Reader) Err() error { return r.faults.Err() }

// Refused returns the paths of the values that were refused, so that no other check reports them again. The map belongs to
// the Reader.
func (r *Reader) Refused() map[string]bool { return r.refused }

// IsRefused reports whether the value n was refused.
func (r *Reader) IsRefused(n *document.Node) bool { return r.refused[n.Pos.Path] }

// Add records a fault without refusing its place: other faults may be reported there.
func (r *Reader) Add(e *document.Error) { r.faults.Add(e) }

// Fault records a fault with more details than Refuse accepts, and refuses its place.
func (r *Reader) Fault(e *document.Error) {
	r.Add(e)
	r.markRefused(e.Path)
}

// Refuse records that the value at n is invalid.
func (r *Reader) Refuse(n *document.Node, msg string) {
	text, _ := n.Text()
	r.Fault(&document.Error{Pos: n.Pos, Text: text, Msg: msg})
}

func (r *Reader) markRefused(path string) {
	if r.refused == nil {
		r.refused = make(map[string]bool)
	}
	r.refused[path] = true
}

// WrongKind refuses a value of a kind that its key does not allow. want describes the required kind, such as "a list".
func (r *Reader) WrongKind(n *document.Node, want string) {
	r.Refuse(n, fmt.Sprintf("%s must be %s, not %s", LastKey(n.Pos.Path), want, n.Kind))
}

// LastKey returns the name that a message uses for the value at a path: timeout for steps[1].timing.timeout.
func LastKey(path string) string {
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		return path[i+1:]
	}
	if path == "" {
		return "the document"
	}
	return path
}

// Nearest returns the known name closest to a word, or "". It limits its work for each document: later words have no
// suggestion.
func (r *Reader) Nearest(word string, known iter.Seq[string]) string {
	return r.speller.Nearest(word, known)
}

// Object reads a mapping key by key, in the order written. It refuses a value that is not a mapping, a key that is not in known
// unless it begins with x-, and a mapping that lacks a required key.
func (r *Reader) Object(n *document.Node, known Map, required ...string) {
	if n.Kind != document.Mapping {
		r.WrongKind(n, "a mapping")
		return
	}
	for e := range n.Entries() {
		if read, ok := known[e.Key]; ok {
			read(e.Value)
		} else if !strings.HasPrefix(e.Key, "x-") {
			r.UnknownKey(e, slices.Sorted(maps.Keys(known)))
		}
	}
	r.Required(n, required...)
}

// UnknownKey refuses a key of a mapping and suggests the closest known key. That key then counts as refused, so that
// Required does not report it as missing.
func (r *Reader) UnknownKey(e document.Entry, known []string) {
	near := r.Nearest(e.Key, slices.Values(known))
	if near == "" {
		near = r.nearestEnd(e.Key, known)
	}
	r.Add(&document.Error{Pos: e.Pos, Text: e.Key, Msg: "unknown key " + document.Quote(e.Key), Suggestion: near})
	if near != "" {
		r.markRefused(strings.TrimSuffix(e.Pos.Path, e.Key) + near)
	}
}

// endMin is the minimum length of an end that identifies a key: a shorter one, such as id, may be the end of many keys.
const endMin = 4

// nearestEnd returns the known key whose last words are closest to a word, such as backoff_multiplier for multiplir, or "". It
// does not return one of several keys with the same end.
func (r *Reader) nearestEnd(word string, known []string) string {
	whole := map[string]string{} // known keys by their ends; "": several keys have this end
	for _, name := range known {
		for i := range len(name) {
			end := name[i+1:]
			if name[i] != '_' || len(end) < endMin {
				continue
			}
			if _, twice := whole[end]; twice {
				whole[end] = ""
				continue
			}
			whole[end] = name
		}
	}
	if name, ok := whole[word]; ok {
		return name
	}
	return whole[r.Nearest(word, maps.Keys(whole))]
}

// Required refuses a mapping that lacks one of the keys, unless a misspelling of the key was refused. Call it after Object, for
// keys whose absence is not visible in the values read.
func (r *Reader) Required(n *document.Node, keys ...string) {
	if n.Kind != document.Mapping {
		return
	}
	for _, key := range keys {
		path := n.Pos.Key(key).Path
		if n.Get(key) == nil && !r.refused[path] {
			r.Fault(&document.Error{Pos: n.Pos.At(path), Msg: key + " is missing"})
		}
	}
}

// Text reads a string.
func (r *Reader) Text(n *document.Node) string {
	text, ok := n.Text()
	if !ok {
		r.WrongKind(n, "a string")
	}
	return text
}

// Word reads a string that must not be empty, because an empty string would mean the same as an absent key.
func (r *Reader) Word(n *document.Node) string {
	text := r.Text(n)
	if text == "" && !r.IsRefused(n) {
		r.Refuse(n, LastKey(n.Pos.Path)+" must not be an empty text")
	}
	return text
}

// NotAmong returns the message about a text that is not one of the allowed texts. An empty text counts as missing.
func NotAmong(key, text string, allowed []string) string {
	if text == "" {
		return fmt.Sprintf("%s is missing: it must be one of %s", key, strings.Join(allowed, ", "))
	}
	return fmt.Sprintf("%s must be one of %s, not %s", key, strings.Join(allowed, ", "), document.Quote(text))
}

// Choice reads a text that must be one of the allowed texts.
func (r *Reader) Choice(n *document.Node, allowed ...string) string {
	text := r.Word(n)
	if slices.Contains(allowed, text) {
		return text
	}
	if !r.IsRefused(n) {
		near := r.Nearest(text, slices.Values(allowed))
		r.Fault(&document.Error{Pos: n.Pos, Text: text, Suggestion: near, Msg: NotAmong(LastKey(n.Pos.Path), text, allowed)})
	}
	return ""
}

// Argument reads a string or an integer, as in the arguments of a command: [sleep, 5].
func (r *Reader) Argument(n *document.Node) string {
	switch n.Kind {
	case document.Int:
		return fmt.Sprint(n.Value())
	case document.Float, document.Bool: // the same value has several spellings
		r.Refuse(n, fmt.Sprintf("%s must be a string, not %s: quote it", LastKey(n.Pos.Path), n.Kind))
		return ""
	}
	return r.Text(n)
}

// Boolean reads true or false. It refuses yes and on: they are booleans only in YAML 1.1, and texts in YAML 1.2.
func (r *Reader) Boolean(n *document.Node) bool {
	b, ok := n.Value().(bool)
	if !ok {
		r.WrongKind(n, "a boolean")
	}
	return b
}

// Count reads an integer of at least one.
func (r *Reader) Count(n *document.Node) int { return r.CountTo(n, math.MaxInt) }

// CountTo reads an integer from one to most.
func (r *Reader) CountTo(n *document.Node, most int) int {
	v, ok := n.Value().(int64)
	switch {
	case !ok:
		r.WrongKind(n, "an integer")
	case v < 1:
		r.Refuse(n, fmt.Sprintf("%s must be at least 1, not %d", LastKey(n.Pos.Path), v))
	case v > int64(most):
		r.Refuse(n, fmt.Sprintf("%s must be at most %d, not %d", LastKey(n.Pos.Path), most, v))
	default:
		return int(v)
	}
	return 0
}

// Number reads an integer or a fraction.
func (r *Reader) Number(n *document.Node) float64 {
	switch v := n.Value().(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	r.WrongKind(n, "a number")
	return 0
}

// Duration reads an ISO 8601 duration. Its error shows the value, because PT30 and 30 are common mistakes.
func (r *Reader) Duration(n *document.Node) time.Duration {
	text, ok := n.Text()
	switch n.Kind {
	case document.Int, document.Float, document.Bool:
		text, ok = fmt.Sprint(n.Value()), true
	}
	if !ok {
		r.WrongKind(n, "a duration, such as PT30S")
		return 0
	}
	d, err := duration.Parse(text)
	if err != nil {
		r.Refuse(n, err.Error())
	}
	return d
}

// Instant reads an RFC 3339 time and returns it in UTC.
func (r *Reader) Instant(n *document.Node) time.Time {
	t, err := time.Parse(time.RFC3339Nano, r.Text(n))
	if err != nil && !r.IsRefused(n) {
		r.Refuse(n, LastKey(n.Pos.Path)+" must be a time such as 2027-01-31T12:00:00Z")
	}
	return t.UTC()
}

// Texts reads a list of strings.
func (r *Reader) Texts(n *document.Node) []string { return r.items(n, r.Text) }

// Arguments reads a list of strings and integers.
func (r *Reader) Arguments(n *document.Node) []string { return r.items(n, r.Argument) }

func (r *Reader) items(n *document.Node, read func(*document.Node) string) []string {
	if n.Kind != document.Sequence {
		r.WrongKind(n, "a list")
		return nil
	}
	list := make([]string, 0, n.Len())
	for _, v := range n.Items() {
		list = append(list, read(v))
	}
	return list
}

// TextMap reads a mapping of strings and integers, such as variables of a program or headers of a request. It refuses null:
// only an expression may omit a key.
func (r *Reader) TextMap(n *document.Node) map[string]string {
	if n.Kind != document.Mapping {
		r.WrongKind(n, "a mapping")
		return nil
	}
	m := make(map[string]string, n.Len())
	for e := range n.Entries() {
		if e.Value.Kind == document.Null {
			r.Refuse(e.Value, e.Key+" must be a string, not null: remove it, or write an expression, which may give null")
			continue
		}
		m[e.Key] = r.Argument(e.Value)
	}
	return m
}

// List reads a list of any values.
func (r *Reader) List(n *document.Node) []any {
	list, ok := n.Value().([]any)
	if !ok {
		r.WrongKind(n, "a list")
	}
	return list
}

// Mapping reads a mapping of any values.
func (r *Reader) Mapping(n *document.Node) map[string]any {
	m, ok := n.Value().(map[string]any)
	if !ok {
		r.WrongKind(n, "a mapping")
	}
	return m
}

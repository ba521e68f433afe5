package playbook

import (
	"fmt"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/duration"
	"github.com/sluiceflow/sluice/template/value"
)

// forms reads values of common forms: mappings, choices, names, durations.
type forms struct {
	*template.Reader
	warnings document.Errors
}

// mapping reads a mapping key by key, in the order written. It refuses unknown keys; the message about a retired key names the
// replacement.
func (r *forms) mapping(n *document.Node, known template.Fields, retired map[string]string) {
	if n.Kind != document.Mapping {
		r.WrongKind(n, "a mapping")
		return
	}
	for e := range n.Entries() {
		if read, ok := known[e.Key]; ok {
			read(e.Value)
		} else if hint, ok := retired[e.Key]; ok {
			r.Fault(&document.Error{Pos: e.Pos, Text: e.Key, Msg: fmt.Sprintf("unknown key %q: %s", e.Key, hint)})
		} else if !strings.HasPrefix(e.Key, "x-") {
			r.UnknownKey(e, sortedKeys(known))
		}
	}
}

// object reads a mapping of any values.
func (r *forms) object(n *document.Node) map[string]value.Value {
	if n.Kind != document.Mapping {
		r.WrongKind(n, "a mapping")
		return nil
	}
	return n.Value().(map[string]any)
}

// list returns the items of a list.
func (r *forms) list(n *document.Node) []*document.Node {
	if n.Kind != document.Sequence {
		r.WrongKind(n, "a list")
		return nil
	}
	items := make([]*document.Node, 0, n.Len())
	for _, item := range n.Items() {
		items = append(items, item)
	}
	return items
}

// choice reads a text that must be one of the allowed texts.
func (r *forms) choice(n *document.Node, allowed ...string) string { return r.Choice(n, allowed...) }

// once refuses a name that is already used. It reports whether the name is new.
func (r *forms) once(n *document.Node, what, name string, seen map[string]document.Pos) bool {
	if first, taken := seen[name]; taken {
		r.Fault(&document.Error{Pos: n.Pos, Text: name, Msg: fmt.Sprintf("duplicate %s %q, first at %s", what, name, first.Path)})
		return false
	}
	seen[name] = n.Pos
	return true
}

// warn records a warning about a part that is valid, but probably a mistake.
func (r *forms) warn(pos document.Pos, format string, args ...any) {
	r.warnings.Add(&document.Error{Pos: pos, Msg: fmt.Sprintf(format, args...)})
}

// lastKey returns the name that a message uses for the value at a place.
func lastKey(p document.Pos) string {
	return p.Path[strings.LastIndexByte(p.Path, '.')+1:]
}

// noEffect returns a function that accepts a key of other programs, and warns that the key has no effect.
func (r *forms) noEffect(why string) func(*document.Node) {
	return func(v *document.Node) { r.warn(v.Pos, "%s has no effect: %s", lastKey(v.Pos), why) }
}

// duration reads a time limit, which must be positive: a number of seconds, 30s, 1m30s or PT30S.
func (r *forms) duration(n *document.Node) time.Duration {
	var d time.Duration
	var err error
	switch v := n.Value().(type) {
	case int64:
		d = seconds(float64(v))
	case float64:
		d = seconds(v)
	case string:
		if d, err = time.ParseDuration(v); err != nil {
			d, err = duration.Parse(v)
		}
	default:
		r.WrongKind(n, "a duration")
		return 0
	}
	if err != nil || d <= 0 {
		r.Refuse(n, fmt.Sprintf("invalid duration %s: write seconds, 30s, 1m30s or PT30S", document.Quote(fmt.Sprint(n.Value()))))
		return 0
	}
	return d
}

// seconds returns s seconds, or the longest duration if s is larger or NaN.
func seconds(s float64) time.Duration {
	const most = float64(1<<63 - 1)
	if ns := s * float64(time.Second); ns < most {
		return time.Duration(ns)
	}
	return 1<<63 - 1
}

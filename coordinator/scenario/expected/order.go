package expected

import (
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/scenario/script"
	"github.com/sluiceflow/sluice/template/document"
)

// Order is a sequence of groups of names. The names within a group may come in any order.
type Order [][]string

// ReadOrder reads names in order. The names of an inner list may come in any order.
func ReadOrder(r *script.Reader, n *document.Node) Order {
	if n.Kind != document.Sequence {
		r.WrongKind(n, "a list")
		return nil
	}
	o := Order{}
	for _, item := range n.Items() {
		o = append(o, r.Texts(item))
	}
	return o
}

// Compare compares the order of names with the expected one. events holds, for each name, the index of its event in the journal. If
// ok is false, Compare returns the names as text and the index of the event that is out of order, or -1 if no event is.
func (o Order) Compare(names []string, events []int) (got string, by int, ok bool) {
	wrong := o.mismatch(names)
	if wrong < 0 {
		return "", -1, true
	}
	by = -1
	if wrong < len(events) {
		by = events[wrong]
	}
	return "[" + strings.Join(names, ", ") + "]", by, false
}

// mismatch returns the index in got of the first name that is out of order or superfluous, len(got) if a name is missing, or -1 if
// got is in order.
func (o Order) mismatch(got []string) int {
	at := 0
	for _, group := range o {
		open := slices.Clone(group)
		for range group {
			if at == len(got) {
				return at
			}
			i := slices.Index(open, got[at])
			if i < 0 {
				return at
			}
			open = slices.Delete(open, i, i+1)
			at++
		}
	}
	if at < len(got) {
		return at
	}
	return -1
}

// String returns the order as written in a document.
func (o Order) String() string {
	texts := make([]string, len(o))
	for i, group := range o {
		texts[i] = strings.Join(group, ", ")
		if len(group) != 1 {
			texts[i] = "[" + texts[i] + "]"
		}
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

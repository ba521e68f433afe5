package journal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Index names an order of heads in a Store, so that people can find runs without reading all heads.
type Index string

// The indexes. Each contains a run once for every key of its head.
const (
	ByStart    Index = "start"    // all runs
	ByRun      Index = "run"      // Key: the id, so that there is one run at most
	ByWorkflow Index = "workflow" // Key: the name of the workflow
	ByLabel    Index = "label"    // Key and Value: a label and its text
	ByStatus   Index = "status"   // Key: the status
	ByWait     Index = "wait"     // open runs. Key: a Wait's Kind
	ByChild    Index = "child"    // open runs that a call of another run started
	ByDue      Index = "due"      // open runs with a timer, unless they continue at every start
)

// Query selects the heads of one key of an index.
type Query struct {
	Index  Index    // the order
	Key    string   // see Index
	Value  string   // of a label
	Oldest bool     // the order is reversed: oldest first, or earliest due first
	After  Position // only heads after this one, in the order of the list; the zero Position: all
	From   int64    // only heads at or after this instant; 0: no bound
	Before int64    // only heads before this instant; 0: no bound
}

// Position is the place of a run in an index. Lists have the newest first; at one instant, in order of id.
type Position struct {
	At  int64  // Head.Started, in ByDue Head.Due
	Run string // id
}

// Compare compares positions by the order of lists, newest first.
func (p Position) Compare(q Position) int {
	return cmp.Or(cmp.Compare(q.At, p.At), strings.Compare(p.Run, q.Run))
}

// Entry is the key of a head in an index.
type Entry struct {
	Index      Index  // the order
	Key, Value string // see Index
	At         int64  // see Position
}

// PositionOf returns the position of a head in an index.
func PositionOf(i Index, h *Head) Position {
	if i == ByDue {
		return Position{h.Due, h.Run}
	}
	return Position{h.Started, h.Run}
}

// Moves reports whether an engine must load the run at once: it is open and does not only wait for timers, messages and people.
func (h *Head) Moves() bool { return h.Open && h.Status != statusWaiting }

// statusWaiting is the status of a sleeping run.
const statusWaiting = "waiting"

// Entries returns all keys of a head, each once: equal heads have equal entries, in the same order.
func Entries(h *Head) []Entry {
	if h.Run == "" || !IsRun(h.Run) {
		return nil
	}
	list := append(make([]Entry, 0, 4+len(h.Labels)+len(h.Waits)), Entry{ByStart, "", "", h.Started},
		Entry{ByWorkflow, h.Name, "", h.Started}, Entry{ByStatus, h.Status, "", h.Started})
	labels := len(list)
	for name, text := range h.Labels {
		list = append(list, Entry{ByLabel, name, text, h.Started})
	}
	slices.SortFunc(list[labels:], func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	if !h.Open {
		return list
	}
	waits := len(list)
	for i := range h.Waits {
		e := Entry{ByWait, h.Waits[i].Kind, "", h.Started}
		if !slices.Contains(list[waits:], e) {
			list = append(list, e)
		}
	}
	if ParentRun(h.Run) != "" {
		list = append(list, Entry{ByChild, "", "", h.Started})
	}
	if h.Due != 0 && !h.Moves() {
		list = append(list, Entry{ByDue, "", "", h.Due})
	}
	return list
}

// Selects reports whether a query selects a head.
func (q *Query) Selects(h *Head) bool {
	at := PositionOf(q.Index, h)
	if q.From != 0 && at.At < q.From || q.Before != 0 && at.At >= q.Before {
		return false
	}
	if q.After != (Position{}) {
		if behind := at.Compare(q.After); behind == 0 || behind < 0 != q.Oldest {
			return false
		}
	}
	return q.holds(h)
}

// holds reports whether a head has the key of a query, that is, whether Entries returns it.
func (q *Query) holds(h *Head) bool {
	if h.Run == "" || !IsRun(h.Run) {
		return false
	}
	switch q.Index {
	case ByStart:
		return true
	case ByRun:
		return h.Run == q.Key
	case ByWorkflow:
		return h.Name == q.Key
	case ByStatus:
		return h.Status == q.Key
	case ByLabel:
		text, ok := h.Labels[q.Key]
		return ok && text == q.Value
	case ByWait:
		return h.Open && slices.ContainsFunc(h.Waits, func(w Wait) bool { return w.Kind == q.Key })
	case ByChild:
		return h.Open && ParentRun(h.Run) != ""
	default:
		return h.Open && h.Due != 0 && !h.Moves()
	}
}

// CheckQuery returns an error, which wraps ErrInvalid, for a query that no store answers. Stores call it first.
func CheckQuery(q *Query) error {
	switch q.Index {
	case ByStart, ByChild, ByDue:
		if q.Key != "" {
			return fmt.Errorf("%w: index %q has no keys, and %q is asked for", ErrInvalid, q.Index, q.Key)
		}
	case ByRun, ByWorkflow, ByStatus, ByWait, ByLabel:
	default:
		return fmt.Errorf("%w: there is no index %q", ErrInvalid, q.Index)
	}
	if q.Value != "" && q.Index != ByLabel {
		return fmt.Errorf("%w: index %q has no values, and %q is asked for", ErrInvalid, q.Index, q.Value)
	}
	return nil
}

// Place is an opaque place in the change log of a store. The empty Place precedes the oldest kept change.
type Place string

// Change is the change of a run.
type Change struct {
	Place Place  // place from which to continue: all changes behind it follow this one
	Run   string // id
	Last  uint64 // sequence of its last event at that time, or of a later one; 0: the run was deleted
}

// Errors of lists and of deleting.
var (
	ErrGap     = errors.New("journal: the change log does not go back to that place")
	ErrDeleted = fmt.Errorf("%w: the run was deleted", ErrNotFound)
)

// CheckDelete returns an error for a stream that must not be deleted, given its head. It wraps ErrInvalid.
func CheckDelete(stream string, head *Head) error {
	switch {
	case IsContent(stream):
		return fmt.Errorf("%w: %s is content, which runs may need", ErrInvalid, stream)
	case head.Open:
		return fmt.Errorf("%w: run %s has not ended", ErrInvalid, stream)
	}
	return nil
}

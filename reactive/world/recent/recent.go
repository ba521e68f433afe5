// Package recent records the ids of the last messages of a world, so that no message is taken twice.
package recent

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/kept"
	"github.com/sluiceflow/sluice/template/value"
)

// Max is the number of recorded ids.
const Max = 8_192

// Messages are the newest messages with ids. The zero value has none.
type Messages struct {
	byID  map[string]*journal.Event // without payload
	order []string                  // a ring buffer
	next  int
}

// Find returns the message with an id, without its payload, or nil.
func (r *Messages) Find(id string) *journal.Event { return r.byID[id] }

// Add adds a message with an id, and drops the oldest of more than Max.
func (r *Messages) Add(e *journal.Event) {
	id := e.Detail.ID
	if id == "" {
		return
	}
	if r.byID == nil {
		r.byID = map[string]*journal.Event{}
	}
	if len(r.order) < Max {
		r.order = append(r.order, id)
	} else {
		delete(r.byID, r.order[r.next])
		r.order[r.next] = id
		r.next = (r.next + 1) % Max
	}
	r.byID[id] = &journal.Event{
		Type: e.Type, Seq: e.Seq, At: e.At, Detail: &journal.Detail{Name: e.Detail.Name, ID: id, Cells: e.Detail.Cells},
	}
}

// IDs returns the recorded ids, in the order of the buffer.
func (r *Messages) IDs() []string { return r.order }

// List returns the messages, oldest first.
func (r *Messages) List() []*journal.Event {
	list := make([]*journal.Event, len(r.order))
	for i := range r.order {
		list[i] = r.byID[r.order[(r.next+i)%len(r.order)]]
	}
	return list
}

// Value returns messages as a value, for Restore.
func Value(list []*journal.Event) []any {
	v := make([]any, len(list))
	for i, e := range list {
		cells := make([]any, len(e.Detail.Cells))
		for k, c := range e.Detail.Cells {
			cells[k] = c
		}
		v[i] = []any{e.Detail.ID, int64(e.Seq), e.At, e.Detail.Name, cells}
	}
	return v
}

// Restore adds the messages in a result of Value.
func (r *Messages) Restore(v value.Value, read *kept.Reader) {
	for _, v := range read.List(v) {
		if id := read.List(v); read.Has(len(id) == 5) {
			e := journal.Event{Seq: uint64(read.Int(id[1])), At: read.Int(id[2])}
			e.Detail = &journal.Detail{ID: read.Text(id[0]), Name: read.Text(id[3]), Cells: read.Texts(id[4])}
			r.Add(&e)
		}
	}
}

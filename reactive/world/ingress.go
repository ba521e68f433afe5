package world

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// Limits of a world. They change outcomes, and so are the same for every run.
const (
	MailboxMax = 10_000  // items that wait for one cell
	ChainMax   = 1_000   // activations in a row each of which was caused by an event that the one before raised
	IntentsMax = 100_000 // open intents of a world
	RecentMax  = 8_192   // ids of messages that are known
	IDBytesMax = 512     // of the id of a message
)

// Receive brings a message into its normal form and adds the cells that it goes to: see reactive.Cells.
func (w *World) Receive(e *journal.Event) (earlier *journal.Event, err error) {
	if e.Detail == nil {
		return nil, fmt.Errorf("a message needs a name")
	}
	if id := e.Detail.ID; len(id) > IDBytesMax {
		return nil, fmt.Errorf("the id of the message has %d bytes: at most %d are allowed", len(id), IDBytesMax)
	} else if id != "" {
		if earlier := w.recent.find(id); earlier != nil {
			return earlier, nil
		}
	}
	payload, err := value.Of(e.Value)
	if err != nil {
		return nil, err
	}
	routed, err := w.def.Route(e.Detail.Name, payload)
	if err != nil {
		return nil, err
	}
	if e.Detail.Cells, err = w.addresses(routed.To); err != nil {
		return nil, err
	}
	e.Value = routed.Payload
	return nil, nil
}

// addresses returns the addresses of cells that something is to be delivered to.
func (h *holdings) addresses(to []machine.Delivery) (list []string, err error) {
	for _, d := range to {
		address := machine.Address(d.Machine, d.Key)
		if len(address) > journal.StreamNameMax {
			return nil, fmt.Errorf("the key of machine %q makes an address of %d bytes: at most %d are allowed", d.Machine.Name, len(address), journal.StreamNameMax)
		}
		if c := h.lookup(address); c != nil && c.mail.Len() >= MailboxMax {
			return nil, fmt.Errorf("%w: %d items wait for cell %q, as many as may", reactive.ErrFull, c.mail.Len(), address)
		}
		list = append(list, address)
	}
	return list, nil
}

// received delivers a message.
func (w *World) received(e *journal.Event) {
	w.tally.Messages++
	w.recent.add(e)
	for _, address := range e.Detail.Cells {
		w.deliver(address, e.Detail.Name, e.Value, item{seq: e.Seq})
	}
}

// deliver puts a message into the mailbox of a cell.
func (w *World) deliver(address, name string, payload value.Value, it item) {
	c := w.cellAt(address)
	if c.machine == nil {
		return
	}
	it.event = w.def.Arrival(c.machine, c.key, name, payload)
	c.active = w.event.At
	c.mail.push(it)
	w.touch(c)
}

// recent knows the messages that were taken last, by id.
type recent struct {
	byID  map[string]*journal.Event // without payload
	order []string                  // a ring buffer
	next  int
}

func (r *recent) init() { r.byID = map[string]*journal.Event{} }

func (r *recent) find(id string) *journal.Event { return r.byID[id] }

// add adds a message with an id, and forgets the oldest of more than RecentMax.
func (r *recent) add(e *journal.Event) {
	id := e.Detail.ID
	if id == "" {
		return
	}
	if len(r.order) < RecentMax {
		r.order = append(r.order, id)
	} else {
		delete(r.byID, r.order[r.next])
		r.order[r.next] = id
		r.next = (r.next + 1) % RecentMax
	}
	r.byID[id] = &journal.Event{
		Type: e.Type, Seq: e.Seq, At: e.At, Detail: &journal.Detail{Name: e.Detail.Name, ID: id, Cells: e.Detail.Cells},
	}
}

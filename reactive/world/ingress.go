package world

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive/cells"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// Limits of a world. They change outcomes, and so are the same for every run.
const (
	MailboxMax = 10_000  // items that wait for one cell
	ChainMax   = 1_000   // consecutive activations, each caused by an event that the one before raised
	IntentsMax = 100_000 // open effects of a world
	TimersMax  = 10_000  // armed timers of a cell
	IDBytesMax = 512     // of the id of a message
)

// Receive brings a message into its normal form and adds its target cells: see cells.Cells.
func (w *World) Receive(e *journal.Event) (earlier *journal.Event, err error) {
	if e.Detail == nil {
		return nil, fmt.Errorf("a message needs a name")
	}
	if id := e.Detail.ID; len(id) > IDBytesMax {
		return nil, fmt.Errorf("the id of the message has %d bytes: at most %d are allowed", len(id), IDBytesMax)
	} else if id != "" {
		if earlier := w.recent.Find(id); earlier != nil {
			return earlier, nil
		}
	}
	if err := w.base.pace.Room(w.root.Tail()); err != nil {
		return nil, fmt.Errorf("%w: %w", cells.ErrFull, err)
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

// addresses returns the addresses of the cells of deliveries.
func (h *holdings) addresses(to []machine.Delivery) (list []string, err error) {
	for _, d := range to {
		address := machine.Address(d.Machine, d.Key)
		if len(address) > journal.StreamNameMax {
			return nil, fmt.Errorf("the key of machine %q makes an address of %d bytes: at most %d are allowed", d.Machine.Name, len(address), journal.StreamNameMax)
		}
		if c := h.lookup(address); c != nil && c.mail.Len() >= MailboxMax {
			return nil, fmt.Errorf("%w: %d items wait for cell %q, the most that may", cells.ErrFull, c.mail.Len(), address)
		}
		list = append(list, address)
	}
	return list, nil
}

// received delivers a message.
func (w *World) received(e *journal.Event) {
	w.tally.Messages++
	w.recent.Add(e)
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

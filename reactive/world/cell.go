package world

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/trie"
	"github.com/sluiceflow/sluice/reactive/world/turns"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// cell is the state of one key of a machine.
type cell struct {
	machine *machine.Machine
	key     value.Value // in normal form; nil if the machine has no key
	address string

	state     value.Value  // nil: none, or see away
	away      *storedState // the state, if it is only content
	mail      mailbox
	aside     *item // the item at which the cell failed, which a reset delivers again
	open      openList
	failure   *journal.Failure
	completed bool // the newest activation that was not ignored has completed it
	paused    bool
	faulty    bool        // it must fail: see World.faults
	place     turns.Place // in the ring

	indexed []trie.Hash // its values in the indexes of its machine; nil: not computed yet

	active  int64  // instant of its newest activation or delivery, Unix nanoseconds
	last    uint64 // sequence of its newest activation; 0: none
	changed uint64 // sequence of the newest event that has changed it
	set     uint64 // sequence of the event that has set its state
	bytes   int    // bytes of that event, while the state counts: see delta
	noted   uint64 // number of the event for which the tracker has last recorded it
	size    int    // approximate bytes of the stored state; 0: not in memory
}

// Place returns the place of the cell in the ring. With Ready it implements turns.Taker.
func (c *cell) Place() *turns.Place { return &c.place }

// Ready reports whether the cell has mail and is not held.
func (c *cell) Ready() bool { return c.mail.Len() > 0 && !c.held() }

// held reports whether the cell queues its items.
func (c *cell) held() bool { return c.failure != nil || c.paused }

// gone reports whether the cell has no state and is idle, so that it no longer exists.
func (c *cell) gone() bool {
	return !c.hasState() && c.idle()
}

// status returns the status of the cell.
func (c *cell) status() Status {
	switch {
	case c.failure != nil:
		return Failed
	case c.open.n > 0:
		return Waiting
	case c.mail.Len() > 0, c.machine.Process && !c.completed:
		return Running
	}
	return Completed
}

// idle reports whether the cell has only a state: no mail, no intent, no current or pending failure, and no pause.
func (c *cell) idle() bool { return c.mail.Len() == 0 && c.open.n == 0 && !c.held() && !c.faulty }

// rests reports whether only messages, persons and timers can change the cell, so that it need not be in memory.
func (c *cell) rests() bool {
	return c.open.calls == 0 && !c.faulty && (c.mail.Len() == 0 || c.held())
}

// lookup returns the cell of an address, or nil.
func (h *holdings) lookup(address string) *cell {
	if c := h.cells[address]; c != nil || !h.base.maybeInSnapshot(h.dirty[address]) {
		return c
	}
	m, key, err := h.def.ParseAddress(address)
	if err != nil {
		return nil
	}
	return h.load(m, key, address)
}

// cellAt returns the cell of an address, or a new one if there is none. The address must come from an event, so it is valid.
func (h *holdings) cellAt(address string) *cell {
	if c := h.cells[address]; c != nil {
		return c
	}
	m, key, err := h.def.ParseAddress(address)
	if err != nil {
		return &cell{} // of no machine: the event is of another world, and changes nothing
	}
	if h.base.maybeInSnapshot(h.dirty[address]) {
		if c := h.load(m, key, address); c != nil {
			return c
		}
	}
	c := &cell{machine: m, key: key, address: address}
	h.cells[address] = c
	return c
}

// touch concludes a change of a cell: the cell enters or leaves the ring, and is dropped if it no longer exists.
func (w *World) touch(c *cell) {
	w.tracker.note(c)
	c.changed = w.event.Seq
	if w.base.fetch != nil {
		if !w.changed(c.address) {
			w.intents.hold(c)
		}
		w.dirty[c.address] = c
	}
	if c.gone() {
		delete(w.cells, c.address)
	}
	w.ring.Put(c)
	if c.machine.TTL > 0 {
		w.intents.expire(c)
	}
}

// mailbox is a queue of items.
type mailbox struct {
	items []item
	first int // index of the oldest
}

// item is an event in the mailbox of a cell.
type item struct {
	seq   uint64 // sequence of its event
	depth int    // number of consecutive activations that raised it; 0: from outside
	event machine.Event
}

// Len returns the number of items.
func (m *mailbox) Len() int { return len(m.items) - m.first }

func (m *mailbox) push(it item) { m.items = append(m.items, it) }

func (m *mailbox) pushFront(it item) {
	if m.first == 0 {
		m.items = append(m.items, item{})
		copy(m.items[1:], m.items)
		m.items[0] = it
		return
	}
	m.first--
	m.items[m.first] = it
}

func (m *mailbox) front() *item { return &m.items[m.first] }

// pop removes the oldest item. It moves the slice when half of it is free, so that the slice does not grow with removed items.
func (m *mailbox) pop() item {
	it := m.items[m.first]
	m.items[m.first] = item{}
	m.first++
	switch {
	case m.first == len(m.items):
		m.items, m.first = nil, 0
	case m.first > 32 && m.first > len(m.items)/2:
		n := copy(m.items, m.items[m.first:])
		clear(m.items[n:])
		m.items, m.first = m.items[:n], 0
	}
	return it
}

// openList is the list of a cell's open intents, in the order of their opening.
type openList struct {
	first, last *intent
	n           int
	calls       int // number of these that are calls
}

func (l *openList) add(x *intent) {
	if x.before = l.last; l.last != nil {
		l.last.after = x
	} else {
		l.first = x
	}
	l.last = x
	l.n++
	if x.isCall() {
		l.calls++
	}
}

func (l *openList) remove(x *intent) {
	if x.before != nil {
		x.before.after = x.after
	} else {
		l.first = x.after
	}
	if x.after != nil {
		x.after.before = x.before
	} else {
		l.last = x.before
	}
	x.before, x.after = nil, nil
	l.n--
	if x.isCall() {
		l.calls--
	}
}

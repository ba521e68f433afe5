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

	state     value.Value // nil: none, or it is away
	away      *away       // the state, if it is content and not in memory
	mail      mailbox
	aside     *item // the item at which the cell failed; a reset delivers it again
	open      openList
	failure   *journal.Failure
	completed bool // the newest activation that was not ignored has completed it
	paused    bool
	faulty    bool        // it is to fail: see World.faults
	place     turns.Place // in the ring

	indexed []trie.Hash // its values in the indexes of its machine; nil: not computed from this state

	active  int64  // instant of its newest activation or delivery, Unix nanoseconds
	last    uint64 // sequence of its newest activation; 0: none
	changed uint64 // sequence of the newest event that has changed it
	set     uint64 // sequence of the event that has set its state
	bytes   int    // of that event, as long as the state counts: see delta
	noted   uint64 // the event for which the tracker has noted it last, by its count
	size    int    // bytes of the state as it is stored, or a little more; 0: it is not in memory
}

// Place returns the place of the cell in the ring. With Ready it implements turns.Taker.
func (c *cell) Place() *turns.Place { return &c.place }

// Ready reports whether the cell has something to do.
func (c *cell) Ready() bool { return c.mail.Len() > 0 && !c.held() }

// held reports whether the cell queues its items.
func (c *cell) held() bool { return c.failure != nil || c.paused }

// gone reports whether nothing is left of the cell.
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

// idle reports whether the cell has nothing but a state: no mail, no intent, no failure, none to come, and no pause.
func (c *cell) idle() bool { return c.mail.Len() == 0 && c.open.n == 0 && !c.held() && !c.faulty }

// rests reports whether nothing happens to the cell but by messages, persons and timers, so that it need not be in memory.
func (c *cell) rests() bool {
	return c.open.calls == 0 && !c.faulty && (c.mail.Len() == 0 || c.held())
}

// lookup returns the cell of an address; nil if there is none.
func (h *holdings) lookup(address string) *cell {
	if c := h.cells[address]; c != nil || !h.base.may(h.dirty[address]) {
		return c
	}
	m, key, err := h.def.ParseAddress(address)
	if err != nil {
		return nil
	}
	return h.load(m, key, address)
}

// cellAt returns the cell of an address, a new one if there is none. The address is that of an event, and so valid.
func (h *holdings) cellAt(address string) *cell {
	if c := h.cells[address]; c != nil {
		return c
	}
	m, key, err := h.def.ParseAddress(address)
	if err != nil {
		return &cell{} // of no machine: an event of another world, which changes nothing
	}
	if h.base.may(h.dirty[address]) {
		if c := h.load(m, key, address); c != nil {
			return c
		}
	}
	c := &cell{machine: m, key: key, address: address}
	h.cells[address] = c
	return c
}

// touch concludes a change of a cell: it joins or leaves the ring, and is forgotten if nothing is left of it.
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
	seq   uint64 // of the event that it comes from
	depth int    // how many activations in a row have raised it; 0: it comes from outside
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

// pop removes the oldest item. The slice is moved when half of it is free, so that it does not grow with the items removed.
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
	calls       int // of n
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

package world

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/agenda"
	"github.com/sluiceflow/sluice/reactive/world/kept"
	"github.com/sluiceflow/sluice/reactive/world/trie"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// intent is an effect that a cell has emitted and that is open: a call, or an armed timer.
type intent struct {
	cell    *cell
	key     string          // of its node in journals
	effect  *machine.Effect // nil: a timer
	id      string          // its identity, `sha256:…`
	params  value.Value
	issuer  string
	asked   string  // idempotency key that the machine asked for
	node    int32   // of its call
	before  *intent // neighbours among the open intents of the cell
	after   *intent
	emitted uint64 // sequence of the activation
	order   uint64 // in which the intents of the world were opened

	events []journal.Event // of its call, so far

	fault  *journal.Failure // why the result does not fit
	signed value.Value      // the signature of the newest result; nil: none
	frames map[string]frames

	timer string // name
	due   int64
}

// isCall reports whether the intent is a call, and not a timer.
func (x *intent) isCall() bool { return x.effect != nil }

// deadline returns when a timer fires.
func (x *intent) deadline() trie.Deadline {
	return trie.Deadline{Due: x.due, Order: x.order, Cell: x.cell.address, Node: x.key}
}

// name returns the name of the effect; that of a timer is machine.TimerEffect.
func (x *intent) name() string {
	if x.effect == nil {
		return machine.TimerEffect
	}
	return x.effect.Name
}

// from returns the issuer; that of a timer is its name.
func (x *intent) from() string {
	if x.effect == nil {
		return x.timer
	}
	return x.issuer
}

// intents are the open intents of the cells in memory, and the agenda of the deadlines of all cells.
type intents struct {
	byKey  map[string]*intent
	byNode map[int32]*intent // those that are calls: all of the world
	agenda agenda.Agenda     // of all cells: their timers, and the ends of their times to live
	opened uint64            // intents of the world so far
}

func (s *intents) init() {
	*s = intents{byKey: map[string]*intent{}, byNode: map[int32]*intent{}}
}

// add opens an intent.
func (s *intents) add(x *intent) {
	s.opened++
	x.order = s.opened
	s.put(x)
	if !x.isCall() {
		s.agenda.Put(x.deadline())
	}
}

// put adds an intent that has its order. If it is a timer, the agenda has it already, or finds it in the newest snapshot.
func (s *intents) put(x *intent) {
	x.cell.open.add(x)
	s.byKey[x.key] = x
	if x.isCall() {
		s.byNode[x.node] = x
	}
}

// remove ends an intent.
func (s *intents) remove(x *intent) {
	x.cell.open.remove(x)
	delete(s.byKey, x.key)
	if x.isCall() {
		delete(s.byNode, x.node)
		return
	}
	s.agenda.RemoveTimer(x.key)
}

// forget removes the intents of a cell that leaves memory. They stay open.
func (s *intents) forget(c *cell) {
	for x := c.open.first; x != nil; x = x.after {
		delete(s.byKey, x.key)
	}
}

// hold brings the timers of a cell into memory when it first changes after the newest snapshot, whose deadlines of the
// cell no longer count.
func (s *intents) hold(c *cell) {
	for x := c.open.first; x != nil; x = x.after {
		if !x.isCall() {
			s.agenda.Put(x.deadline())
		}
	}
}

// expire notes when a cell reaches the end of its time to live, if nothing happens to it.
func (s *intents) expire(c *cell) {
	if due := c.expires(); due != 0 {
		s.agenda.Put(trie.Deadline{Due: due, Order: trie.LastOrder, Cell: c.address})
		return
	}
	s.agenda.RemoveEnd(c.address)
}

// expires returns when a cell is deleted if nothing happens to it; 0: never.
func (c *cell) expires() int64 {
	if !c.hasState() || !c.idle() {
		return 0
	}
	return kept.After(c.machine, c.active)
}

// next returns the next deadline; nil: there is none.
func (h *holdings) next() *trie.Deadline {
	d, err := h.intents.agenda.First(h.base.fetch.Node, h.changed)
	if err != nil {
		h.fail(err)
		return nil
	}
	return d
}

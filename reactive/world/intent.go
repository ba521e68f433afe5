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
	asked   string  // idempotency key that the machine requested
	node    int32   // of its call
	before  *intent // neighbours among the open intents of the cell
	after   *intent
	emitted uint64 // sequence of the activation
	order   uint64 // order of opening among the intents of the world

	events []journal.Event // of its call, so far

	fault  *journal.Failure // set if the result does not fit
	signed value.Value      // the signature of the newest result; nil: none
	frames map[string]frames

	timer string // name
	due   int64
}

// isCall reports whether the intent is a call, and not a timer.
func (x *intent) isCall() bool { return x.effect != nil }

// deadline returns the deadline of a timer.
func (x *intent) deadline() trie.Deadline {
	return trie.Deadline{Due: x.due, Order: x.order, Cell: x.cell.address, Node: x.key}
}

// name returns the name of the effect, or machine.TimerEffect for a timer.
func (x *intent) name() string {
	if x.effect == nil {
		return machine.TimerEffect
	}
	return x.effect.Name
}

// from returns the issuer, or the name of a timer.
func (x *intent) from() string {
	if x.effect == nil {
		return x.timer
	}
	return x.issuer
}

// intents are the open intents of the cells in memory, and the agenda of the deadlines of all cells.
type intents struct {
	byKey  map[string]*intent
	byNode map[int32]*intent // all open calls of the world
	agenda agenda.Agenda     // of all cells: their timers, and the ends of their times to live
	opened uint64            // number of intents of the world so far
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

// put adds an intent with its order. A timer is already in the agenda, or in the newest snapshot.
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

// hold adds the timers of a cell to the agenda at its first change after the newest snapshot, because the deadlines of the cell
// in the snapshot then no longer count.
func (s *intents) hold(c *cell) {
	for x := c.open.first; x != nil; x = x.after {
		if !x.isCall() {
			s.agenda.Put(x.deadline())
		}
	}
}

// expire updates the end of the time to live of a cell in the agenda.
func (s *intents) expire(c *cell) {
	if due := c.expires(); due != 0 {
		s.agenda.Put(trie.Deadline{Due: due, Order: trie.LastOrder, Cell: c.address})
		return
	}
	s.agenda.RemoveEnd(c.address)
}

// expires returns the instant at which a cell is deleted if it does not change, or 0.
func (c *cell) expires() int64 {
	if !c.hasState() || !c.idle() {
		return 0
	}
	return kept.After(c.machine, c.active)
}

// next returns the next deadline, or nil.
func (h *holdings) next() *trie.Deadline {
	d, err := h.intents.agenda.First(h.base.fetch.Node, h.changed)
	if err != nil {
		h.fail(err)
		return nil
	}
	return d
}

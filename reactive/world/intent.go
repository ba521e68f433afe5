package world

import (
	"github.com/sluiceflow/sluice/internal/binheap"
	"github.com/sluiceflow/sluice/reactive/journal"
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
	armed bool
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

// intents are the open intents of a world.
type intents struct {
	byKey    map[string]*intent
	byNode   map[int32]*intent // those that are calls
	timers   []*intent         // a heap, with some that are not armed any more
	disarmed int               // how many of those
	opened   uint64            // intents so far
}

func (s *intents) init() {
	*s = intents{byKey: map[string]*intent{}, byNode: map[int32]*intent{}}
}

// add opens an intent.
func (s *intents) add(x *intent) {
	s.opened++
	x.order = s.opened
	s.put(x)
}

// put adds an intent that has its order.
func (s *intents) put(x *intent) {
	x.cell.open.add(x)
	s.byKey[x.key] = x
	if x.effect != nil {
		s.byNode[x.node] = x
		return
	}
	x.armed = true
	s.timers = binheap.Push(s.timers, x, earlier)
}

// remove ends an intent.
func (s *intents) remove(x *intent) {
	x.cell.open.remove(x)
	delete(s.byKey, x.key)
	if x.effect != nil {
		delete(s.byNode, x.node)
		return
	}
	x.armed = false
	s.disarmed++
	s.tidy()
}

// tidy removes timers that are not armed any more from the front of the heap, and all of them when they are most of it, so that
// the heap is bounded by the timers that are armed.
func (s *intents) tidy() {
	if s.disarmed > 16 && s.disarmed > len(s.timers)/2 {
		armed := s.timers[:0]
		for _, x := range s.timers {
			if x.armed {
				armed = binheap.Push(armed, x, earlier)
			}
		}
		clear(s.timers[len(armed):])
		s.timers, s.disarmed = armed, 0
	}
	for len(s.timers) > 0 && !s.timers[0].armed {
		s.timers = binheap.Pop(s.timers, earlier)
		s.disarmed--
	}
}

// earlier orders timers: at one instant, that which was armed first.
func earlier(a, b *intent) bool { return a.due < b.due || a.due == b.due && a.order < b.order }

// armed returns the timer that is due next; nil: none is armed.
func (s *intents) armed() *intent {
	if len(s.timers) == 0 {
		return nil
	}
	return s.timers[0]
}

// due returns the instant at which the next timer is due, in Unix nanoseconds; 0: none is armed.
func (s *intents) due() int64 {
	if x := s.armed(); x != nil {
		return max(1, x.due)
	}
	return 0
}

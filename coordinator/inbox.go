package coordinator

import (
	"slices"
	"sync"

	"github.com/sluiceflow/sluice/coordinator/pool"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// inbox collects what comes in for a run. Many goroutines add, the run's loop drains. It holds at most what is in
// flight: one item for every call, plus the wishes that wait for their reply.
type inbox struct {
	wake chan struct{} // holds a token when the loop, asleep, has something to look at

	mu     sync.Mutex
	items  []decide.Item
	landed []*pool.Call
	spare  struct { // drained before, to be filled again
		items  []decide.Item
		landed []*pool.Call
	}
	asleep bool // the loop has found nothing and waits
	shut   bool // nothing is taken any more
}

func newInbox() *inbox { return &inbox{wake: make(chan struct{}, 1)} }

// add reports false when nothing is taken any more; the item is then the sender's again.
func (b *inbox) add(it decide.Item) bool {
	b.mu.Lock()
	if b.shut {
		b.mu.Unlock()
		return false
	}
	b.items = append(b.items, it)
	b.rouse()
	return true
}

// land takes calls that have landed. It reports false when nothing is taken any more.
func (b *inbox) land(calls []*pool.Call) bool {
	b.mu.Lock()
	if b.shut {
		b.mu.Unlock()
		return false
	}
	b.landed = append(b.landed, calls...)
	b.rouse()
	return true
}

// rouse wakes the loop if it is asleep. It unlocks mu.
func (b *inbox) rouse() {
	wake := b.asleep
	b.asleep = false
	b.mu.Unlock()
	if wake {
		b.poke()
	}
}

// poke wakes the loop, also when nothing came in.
func (b *inbox) poke() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// ready reports whether there is something to drain. If not, the next add wakes the loop.
func (b *inbox) ready() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asleep = len(b.items)+len(b.landed) == 0
	return !b.asleep
}

// holds reports whether an event of a type is there.
func (b *inbox) holds(t journal.Type) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.items, func(it decide.Item) bool { return it.Event.Type == t })
}

// drain takes everything. The slices are valid until the next drain.
func (b *inbox) drain() (items []decide.Item, landed []*pool.Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	items, landed = b.items, b.landed
	clear(b.spare.items)
	clear(b.spare.landed)
	b.items, b.landed = b.spare.items[:0], b.spare.landed[:0]
	b.spare.items, b.spare.landed = items, landed
	b.asleep = false
	return items, landed
}

// putBack returns what was drained and could not be appended, before everything that came in since.
func (b *inbox) putBack(items []decide.Item, landed []*pool.Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.items = slices.Concat(items, b.items)
	b.landed = slices.Concat(landed, b.landed)
}

// shutIfEmpty takes nothing more, unless something is there.
func (b *inbox) shutIfEmpty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.items)+len(b.landed) > 0 {
		return false
	}
	b.shut = true
	return true
}

// close takes nothing more and returns what was left.
func (b *inbox) close() (items []decide.Item, landed []*pool.Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shut = true
	items, landed = b.items, b.landed
	b.items, b.landed = nil, nil
	return items, landed
}

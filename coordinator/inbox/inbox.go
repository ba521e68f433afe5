// Package inbox collects what comes in for a run, from many goroutines, for the one that drives it.
package inbox

import (
	"context"
	"slices"
	"sync"

	"github.com/sluiceflow/sluice/coordinator/pool"
	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Inbox collects what comes in for a run. Many goroutines add, the run's loop drains. It holds at most what is in
// flight: one item for every call, plus the commands that wait for their reply.
type Inbox struct {
	wake chan struct{} // holds a token when the loop, asleep, has something to look at

	mu    sync.Mutex
	items []decide.Item
	ended []*pool.Call
	spare struct { // drained before, to be filled again
		items []decide.Item
		ended []*pool.Call
	}
	asleep bool // the loop has found nothing and waits
	shut   bool // nothing is taken any more
}

// New returns an empty inbox.
func New() *Inbox { return &Inbox{wake: make(chan struct{}, 1)} }

// Add takes commands and the like. It reports false when nothing is taken any more; they are then the sender's again.
func (b *Inbox) Add(items ...decide.Item) bool {
	b.mu.Lock()
	if b.shut {
		b.mu.Unlock()
		return false
	}
	b.items = append(b.items, items...)
	b.rouse()
	return true
}

// Land takes calls that have ended. It reports false when nothing is taken any more.
func (b *Inbox) Land(calls []*pool.Call) bool {
	b.mu.Lock()
	if b.shut {
		b.mu.Unlock()
		return false
	}
	b.ended = append(b.ended, calls...)
	b.rouse()
	return true
}

// LandHere takes calls that have ended, as Land does, and does not wake the loop: rests tells that it is asleep, and that the
// caller has to go on with the run, or to poke.
func (b *Inbox) LandHere(calls []*pool.Call) (taken, rests bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shut {
		return false, false
	}
	b.ended = append(b.ended, calls...)
	rests, b.asleep = b.asleep, false
	return true, rests
}

// Wake returns a channel that has a token when the loop, asleep, has something to look at.
func (b *Inbox) Wake() <-chan struct{} { return b.wake }

// rouse wakes the loop if it is asleep. It unlocks mu.
func (b *Inbox) rouse() {
	wake := b.asleep
	b.asleep = false
	b.mu.Unlock()
	if wake {
		b.Poke()
	}
}

// Poke wakes the loop, also when nothing came in.
func (b *Inbox) Poke() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Ready reports whether there is something to drain. If not, the next add wakes the loop.
func (b *Inbox) Ready() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asleep = len(b.items)+len(b.ended) == 0
	return !b.asleep
}

// Holds reports whether an event of a type is there.
func (b *Inbox) Holds(t journal.Type) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.items, func(it decide.Item) bool { return it.Event.Type == t })
}

// Drain takes everything. The slices are valid until the next drain.
func (b *Inbox) Drain() (items []decide.Item, ended []*pool.Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	items, ended = b.items, b.ended
	clear(b.spare.items)
	clear(b.spare.ended)
	b.items, b.ended = b.spare.items[:0], b.spare.ended[:0]
	b.spare.items, b.spare.ended = items, ended
	b.asleep = false
	return items, ended
}

// PutBack returns what was drained and could not be appended, before everything that came in since.
func (b *Inbox) PutBack(items []decide.Item, ended []*pool.Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.items = slices.Concat(items, b.items)
	b.ended = slices.Concat(ended, b.ended)
}

// ShutIfEmpty takes nothing more, unless something is there.
func (b *Inbox) ShutIfEmpty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.items)+len(b.ended) > 0 {
		return false
	}
	b.shut = true
	return true
}

// Close takes nothing more and returns what was left.
func (b *Inbox) Close() (items []decide.Item, ended []*pool.Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shut = true
	items, ended = b.items, b.ended
	b.items, b.ended = nil, nil
	return items, ended
}

// Reply waits for the answer to an item. answered is false if ctx or the engine, by shut, ended first: code that does not return
// can block a loop.
func Reply(ctx context.Context, done <-chan error, shut <-chan struct{}) (err error, answered bool) {
	select {
	case err := <-done:
		return err, true
	case <-ctx.Done():
		return cancelled.Error(ctx), false
	case <-shut:
	}
	select { // both may have come
	case err := <-done:
		return err, true
	default:
		return decide.ErrShutdown, false
	}
}

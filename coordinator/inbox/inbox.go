// Package inbox queues the items and finished calls that many goroutines send to a run, for the goroutine that drives it.
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

// Inbox is the queue of a run. Many goroutines add to it; the run's loop drains it. Its length is bounded by the calls in
// progress and the commands that wait for a reply.
type Inbox struct {
	wake chan struct{} // has a token when the sleeping loop must wake

	mu    sync.Mutex
	items []decide.Item
	ended []*pool.Call
	spare struct { // the slices of the previous drain, for reuse
		items []decide.Item
		ended []*pool.Call
	}
	asleep bool // the loop has found the inbox empty and waits
	closed bool // the inbox accepts no items
}

// New returns an empty inbox.
func New() *Inbox { return &Inbox{wake: make(chan struct{}, 1)} }

// Add adds items. It reports false if the inbox is closed; the items then stay the caller's.
func (b *Inbox) Add(items ...decide.Item) bool {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return false
	}
	b.items = append(b.items, items...)
	b.unlockAndWake()
	return true
}

// Deliver adds calls that have ended. It reports false if the inbox is closed.
func (b *Inbox) Deliver(calls []*pool.Call) bool {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return false
	}
	b.ended = append(b.ended, calls...)
	b.unlockAndWake()
	return true
}

// DeliverHere is Deliver without waking the loop: if asleep is true, the caller must drive the run itself or call Wake.
func (b *Inbox) DeliverHere(calls []*pool.Call) (accepted, asleep bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false, false
	}
	b.ended = append(b.ended, calls...)
	asleep, b.asleep = b.asleep, false
	return true, asleep
}

// Woken returns a channel that has a token when the sleeping loop must wake.
func (b *Inbox) Woken() <-chan struct{} { return b.wake }

// unlockAndWake unlocks mu, and wakes the loop if it is asleep.
func (b *Inbox) unlockAndWake() {
	wake := b.asleep
	b.asleep = false
	b.mu.Unlock()
	if wake {
		b.Wake()
	}
}

// Wake wakes the loop even if the inbox is empty.
func (b *Inbox) Wake() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Ready reports whether there is anything to drain. If not, the next addition wakes the loop.
func (b *Inbox) Ready() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asleep = len(b.items)+len(b.ended) == 0
	return !b.asleep
}

// Holds reports whether the inbox holds an event of type t.
func (b *Inbox) Holds(t journal.Type) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.items, func(it decide.Item) bool { return it.Event.Type == t })
}

// Drain removes and returns everything. The slices are valid until the next call of Drain.
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

// PutBack adds drained items and calls again, before everything that was added since.
func (b *Inbox) PutBack(items []decide.Item, ended []*pool.Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.items = slices.Concat(items, b.items)
	b.ended = slices.Concat(ended, b.ended)
}

// CloseIfEmpty closes the inbox if it is empty. It reports whether it did.
func (b *Inbox) CloseIfEmpty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.items)+len(b.ended) > 0 {
		return false
	}
	b.closed = true
	return true
}

// Close closes the inbox and returns its contents.
func (b *Inbox) Close() (items []decide.Item, ended []*pool.Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	items, ended = b.items, b.ended
	b.items, b.ended = nil, nil
	return items, ended
}

// Once returns a reply that sends the first error to done, which has room for one, drops the others, and then calls after.
func Once(done chan<- error, after ...func()) func(error) {
	return func(err error) {
		select {
		case done <- err:
		default:
		}
		for _, f := range after {
			f()
		}
	}
}

// AwaitReply waits for the reply to an item. answered is false if ctx ended or shut was closed first: code that does not
// return can block a loop.
func AwaitReply(ctx context.Context, done <-chan error, shut <-chan struct{}) (err error, answered bool) {
	select {
	case err := <-done:
		return err, true
	case <-ctx.Done():
		return cancelled.Error(ctx), false
	case <-shut:
	}
	select { // both may be ready
	case err := <-done:
		return err, true
	default:
		return decide.ErrShutdown, false
	}
}

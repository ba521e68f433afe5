package world

import (
	"math"

	"github.com/sluiceflow/sluice/internal/binheap"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// expiries knows when cells reach the end of their time to live: so long after their newest activity, when nothing is open
// or held. A cell has at most one entry; one whose instant has moved is put in again when it comes first.
type expiries struct {
	heap []expiry
	gone int // cells in it that do not exist any more
}

type expiry struct {
	due  int64
	cell *cell
}

func sooner(a, b expiry) bool {
	return a.due < b.due || a.due == b.due && a.cell.address < b.cell.address
}

// expires returns when a cell is deleted if nothing happens to it; 0: never.
func (c *cell) expires() int64 {
	ttl := int64(c.machine.TTL)
	if ttl == 0 || c.state == nil || !c.idle() || c.active > math.MaxInt64-ttl {
		return 0
	}
	return max(1, c.active+ttl)
}

// put adds a cell that can expire.
func (x *expiries) put(c *cell) {
	if c.expiring && c.gone() {
		x.gone++
		x.sweep()
	}
	if due := c.expires(); due > 0 && !c.expiring {
		c.expiring = true
		x.heap = binheap.Push(x.heap, expiry{due, c}, sooner)
	}
}

// sweep removes the cells that do not exist any more when they are most of the heap, so that it is bounded by the cells.
func (x *expiries) sweep() {
	if x.gone <= 16 || x.gone <= len(x.heap)/2 {
		return
	}
	kept := x.heap[:0]
	for _, e := range x.heap {
		if e.cell.gone() {
			e.cell.expiring = false
			continue
		}
		kept = binheap.Push(kept, e, sooner)
	}
	clear(x.heap[len(kept):])
	x.heap, x.gone = kept, 0
}

// trim removes or moves the entries at the front that are not what they say any more.
func (x *expiries) trim() {
	for len(x.heap) > 0 {
		first := x.heap[0]
		due := first.cell.expires()
		if due == first.due {
			return
		}
		x.heap = binheap.Pop(x.heap, sooner)
		if first.cell.gone() {
			x.gone--
		}
		first.cell.expiring = false
		x.put(first.cell)
	}
}

// due returns the instant at which the next cell expires, in Unix nanoseconds; 0: none does.
func (x *expiries) due() int64 {
	if len(x.heap) == 0 {
		return 0
	}
	return x.heap[0].due
}

// expired deletes a cell at the end of its time to live.
func (w *World) expired(e *journal.Event) {
	if c := w.lookup(e.Node); c != nil {
		c.state, c.completed = nil, false
		w.touch(c)
	}
}

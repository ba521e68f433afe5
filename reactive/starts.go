package reactive

import (
	"math/bits"

	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/plan"
)

// starts is the set of nodes that may start, of which the first in template order is wanted. Nodes outside maps stand in
// template order by their numbers: they are bits, with a bit above each 64 that says whether any of them is set. Items
// of maps are in a heap, and so are calls, by their numbers.
//
//	levels[2]                 1
//	levels[1]      0 1 0 …                    bit i: is there anything in word i below?
//	levels[0]      [64 nodes][64 nodes] …
//
// Nodes that may no longer start are passed over when they come up.
type starts struct {
	levels [][]uint64
	heap   []int32
	less   func(a, b int32) bool
}

func newStarts(nodes int, less func(a, b int32) bool) starts {
	s := starts{less: less}
	for n := nodes; ; {
		n = (n + 63) / 64
		s.levels = append(s.levels, make([]uint64, n))
		if n <= 1 {
			return s
		}
	}
}

// add puts in a node that lies outside maps.
func (s *starts) add(v int32) {
	for _, words := range s.levels {
		w := &words[v/64]
		was := *w
		*w |= 1 << (v % 64)
		if was != 0 {
			return
		}
		v /= 64
	}
}

// remove takes out a node that lies outside maps.
func (s *starts) remove(v int32) {
	for _, words := range s.levels {
		w := &words[v/64]
		*w &^= 1 << (v % 64)
		if *w != 0 {
			return
		}
		v /= 64
	}
}

// first is the first node in template order; -1: there is none.
func (s *starts) first() int32 {
	v := int32(-1)
	if top := s.levels[len(s.levels)-1]; len(top) > 0 && top[0] != 0 {
		v = 0
		for i := len(s.levels) - 1; i >= 0; i-- {
			v = v*64 + int32(bits.TrailingZeros64(s.levels[i][v]))
		}
	}
	if len(s.heap) > 0 && (v < 0 || s.less(s.heap[0], v)) {
		return s.heap[0]
	}
	return v
}

// push puts an item's node into the heap.
func (s *starts) push(v int32) {
	h := append(s.heap, v)
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !s.less(h[i], h[parent]) {
			break
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
	s.heap = h
}

// pop takes the first node out of the heap.
func (s *starts) pop() {
	h := s.heap
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && s.less(h[child+1], h[child]) {
			child++
		}
		if !s.less(h[child], h[i]) {
			break
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
	s.heap = h
}

func (o *room) queueStart(v int32) {
	n := o.l.Node(v)
	if n.Has(ledger.Queued) {
		return
	}
	n.Flags |= ledger.Queued
	o.enqueue(v)
}

func (o *room) enqueue(v int32) {
	s := o.startsOf(v)
	if o.routed == nil && int(v) < len(o.plan.Nodes) {
		s.add(v)
		return
	}
	s.push(o.entry(v))
}

// mayStart reports whether a queued node is still to be started: it is ready, or its retry is due and has its slots.
func (o *room) mayStart(v int32) bool {
	n := o.l.Node(v)
	return n.Status == ledger.Ready || n.Has(ledger.Pending) && n.Has(ledger.RetryDue) && n.Has(ledger.Granted)
}

// startsOf is the queue that a node waits in.
func (o *room) startsOf(v int32) *starts {
	if room := o.RoomOf(v); o.rooms != nil && room != CallRoom {
		return &o.apart[room-1]
	}
	return &o.starts
}

// Room is what a process must have for a call, so that its step can be started.
type Room uint8

// The kinds of room. That for a program is another one besides that for a call.
const (
	CallRoom Room = iota
	ProgramRoom
	NoRoom
	roomCount
)

// Rooms are kinds of room, a bit each.
type Rooms uint8

// With is the set with one kind more.
func (s Rooms) With(room Room) Rooms { return s | 1<<room }

// Has reports whether a kind is in the set.
func (s Rooms) Has(room Room) bool { return s>>room&1 != 0 }

// Rooms says, by operation, which room its calls need, so that those can be started for which there is some while there is none
// for others. Without that all need CallRoom.
func (o *room) Rooms(operations []Room) {
	n := len(o.plan.Nodes)
	o.starts = newStarts(n, o.entryBefore)
	o.rooms, o.apart = operations, make([]starts, roomCount-1)
	for i := range o.apart {
		o.apart[i] = newStarts(n, o.entryBefore)
	}
	for v := range o.l.Len() {
		if o.l.Node(v).Has(ledger.Queued) {
			o.enqueue(v)
		}
	}
}

// RoomOf is the room that a node's call needs in the process.
func (o *room) RoomOf(v int32) Room {
	switch row := o.l.Row(v); {
	case row.OpKind != plan.Call:
		return NoRoom
	case o.rooms != nil:
		return o.rooms[row.Op]
	}
	return CallRoom
}

// NextStart is the first node, in template order, that may start now and needs none of the room that is lacking. It stays the
// first until it has been requested or has failed. It reports false when there is none, or the run is closed.
func (o *room) NextStart(lacking Rooms) (int32, bool) {
	v := int32(-1)
	if !lacking.Has(CallRoom) {
		v = o.next(&o.starts)
	}
	for i := range o.apart {
		if lacking.Has(Room(i + 1)) {
			continue
		}
		if u := o.next(&o.apart[i]); v < 0 || u >= 0 && o.before(u, v) {
			v = u
		}
	}
	return v, v >= 0
}

// next is the first node of a queue that may start; -1: there is none.
func (o *room) next(s *starts) int32 {
	for !o.l.Closed() {
		e := s.first()
		if e < 0 {
			return -1
		}
		v, there := o.entered(e)
		if there && o.mayStart(v) {
			return v
		}
		if there {
			o.l.Node(v).Flags &^= ledger.Queued
		}
		if o.routed == nil && int(v) < len(o.plan.Nodes) {
			s.remove(v)
		} else {
			s.pop()
		}
	}
	return -1
}

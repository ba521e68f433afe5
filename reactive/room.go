package reactive

import (
	"slices"

	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/reactive/slots"
	"github.com/sluiceflow/sluice/template/plan"
)

// room decides which nodes may start: it grants slots to nodes. It queues nodes with their slots in template order, by the kind
// of room in the process that their calls need.
type room struct {
	*places
	l      ledger.Keeper
	slots  slots.Slots
	starts slots.Queue
	apart  []slots.Queue // nodes whose calls need another room than CallRoom, by room; nil: none
	rooms  []Room        // by operation; nil: all calls need CallRoom
}

func newRoom(l ledger.Keeper, p *places) *room {
	o := &room{l: l, places: p}
	o.slots = slots.New(o.entryBefore, o.isCandidate)
	o.starts = slots.NewQueue(int(l.Len()), o.entryBefore)
	o.slots.Add(-1, 0)
	o.addGroups(0, int32(len(p.plan.Groups)), 0)
	return o
}

// want makes a node a candidate for the slots that it needs. A node that needs no slots may start at once.
func (o *room) want(v int32) {
	n := o.l.Node(v)
	if n.Has(ledger.Candidate) || n.Has(ledger.Granted) {
		return
	}
	g := o.groupOf(v)
	if g < 0 {
		n.Flags |= ledger.Granted
		o.queueStart(v)
		return
	}
	n.Flags |= ledger.Candidate
	o.slots.Wait(g, o.entry(v))
}

// isCandidate reports whether a node still waits for a slot.
func (o *room) isCandidate(entry int32) bool {
	v, there := o.entered(entry)
	return there && o.l.Node(v).Has(ledger.Candidate)
}

// stopWaiting withdraws a node's request for slots.
func (o *room) stopWaiting(v int32) {
	o.l.Node(v).Flags &^= ledger.Candidate
	o.dropGrant(v)
}

// nextGrant returns the first candidate with free slots.
func (o *room) nextGrant() (int32, bool) {
	e := o.slots.Next(0)
	if e < 0 {
		return -1, false
	}
	return o.entered(e)
}

// dropGrant ends a grant. A grant lasts only while its node is ready or about to retry.
func (o *room) dropGrant(v int32) {
	n := o.l.Node(v)
	if !n.Has(ledger.Granted) {
		return
	}
	n.Flags &^= ledger.Granted
	o.hold(v, n.Status == ledger.Running)
}

// hold adds a node to the counts of its groups, or removes it.
func (o *room) hold(v int32, on bool) {
	n := o.l.Node(v)
	g := o.groupOf(v)
	if g < 0 || n.Has(ledger.Holding) == on {
		return
	}
	n.Flags ^= ledger.Holding
	if on {
		o.slots.Take(g)
	} else {
		o.slots.Release(g)
	}
}

// groupOf returns the innermost limited group around a step, or -1.
func (o *room) groupOf(v int32) int32 {
	n := o.l.Row(v)
	if n.Group < 0 || n.Kind != plan.Step {
		return -1
	}
	return o.groupBeside(v, n.Group)
}

// groupBeside returns the instance of a plan's group for node v: the instance of its item, of an item around that, or of the
// run.
func (o *room) groupBeside(v, g int32) int32 {
	around := o.plan.Groups[g].Map
	b := o.l.Node(v).Block
	for o.blocks[b].row != around {
		b = o.blocks[b].parent
	}
	if around < 0 {
		return g + 1
	}
	return o.blocks[b].slots + g - o.plan.Nodes[around].Slots[0]
}

// addGroups adds the slots of the plan's groups [lo, hi) for one body; v is any node in it.
func (o *room) addGroups(lo, hi, v int32) int32 {
	first := int32(o.slots.Size())
	for g := lo; g < hi; g++ {
		parent := int32(0)
		if p := o.plan.Groups[g].Parent; p >= 0 {
			if p >= lo {
				parent = first + p - lo
			} else {
				parent = o.groupBeside(v, p)
			}
		}
		o.slots.Add(parent, o.plan.Groups[g].Max)
	}
	return first
}

func (o *room) queueStart(v int32) {
	o.l.Queue(v)
	if n := o.l.Node(v); !n.Has(ledger.Queued) {
		n.Flags |= ledger.Queued
		o.enqueue(v)
	}
}

func (o *room) enqueue(v int32) {
	s := o.startsOf(v)
	if o.inBits(v) {
		s.Add(v)
		return
	}
	s.Push(o.entry(v))
}

// inBits reports whether a node is in the bits of its queue, not in its heap. Queues for workers have no bits, because there may be
// many queues.
func (o *room) inBits(v int32) bool {
	return o.routed == nil && int(v) < len(o.plan.Nodes) && o.RoomOf(v) < WorkerRoom
}

// mayStart reports whether a queued node may still start: it is ready, or its retry is due and has slots.
func (o *room) mayStart(v int32) bool {
	n := o.l.Node(v)
	return n.Status == ledger.Ready || n.Has(ledger.Pending) && n.Has(ledger.RetryDue) && n.Has(ledger.Granted)
}

// startsOf returns the queue that a node waits in.
func (o *room) startsOf(v int32) *slots.Queue {
	if o.rooms == nil {
		return &o.starts
	}
	if room := o.RoomOf(v); room != CallRoom {
		return &o.apart[room-1]
	}
	return &o.starts
}

// Rooms sets the kind of room that calls need, by operation. A call may then start if there is room of its kind, even if other
// kinds are lacking. By default all calls need CallRoom.
func (o *room) Rooms(operations []Room) {
	n := len(o.plan.Nodes)
	o.starts = slots.NewQueue(n, o.entryBefore)
	o.rooms, o.apart = operations, make([]slots.Queue, max(NoRoom, slices.Max(operations)))
	for i := range o.apart {
		if Room(i+1) >= WorkerRoom {
			n = 0
		}
		o.apart[i] = slots.NewQueue(n, o.entryBefore)
	}
	for v := range o.l.Len() {
		if o.l.Node(v).Has(ledger.Queued) {
			o.enqueue(v)
		}
	}
}

// RoomOf returns the kind of room that a node's call needs.
func (o *room) RoomOf(v int32) Room {
	switch row := o.l.Row(v); {
	case row.OpKind != plan.Call:
		return NoRoom
	case o.rooms != nil:
		return o.rooms[row.Op]
	}
	return CallRoom
}

// NextStart returns the first node, in template order, that may start now and needs no lacking room. It returns the same node
// until that was requested or has failed. It reports false if there is none or the run is closed.
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

// next returns the first node of a queue that may start, or -1.
func (o *room) next(s *slots.Queue) int32 {
	for !o.l.Closed() {
		e := s.First()
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
		if there && o.inBits(v) {
			s.Remove(v)
		} else {
			s.Pop()
		}
	}
	return -1
}

// Room is a kind of room that a process must have for a call, and Rooms is a set of them.
type (
	Room  = slots.Kind
	Rooms = slots.Kinds
)

// The kinds of room. A program needs ProgramRoom in addition to room for its call. Kinds from WorkerRoom on are for operations
// of workers, one kind for each.
const (
	CallRoom Room = iota
	ProgramRoom
	NoRoom
	WorkerRoom
)

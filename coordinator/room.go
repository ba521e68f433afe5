package coordinator

import (
	"slices"

	"github.com/sluiceflow/sluice/coordinator/registry"

	"github.com/sluiceflow/sluice/reactive"
)

// What a call that leaves the process counts as is its room: of the calls, or of the calls to decision sources, and besides of the
// programs of either. Child runs and pure operations need none: what they wait for would otherwise be held up by their own room.
// Decision sources have room of their own, because what they decide may be what holds the calls up.
const (
	inCalls = iota
	inPrograms
	inDeciders
	inDecidingPrograms
	roomKinds
)

// programsMax is how many programs run at a time where Config does not say.
const programsMax = 256

// counts are what a call counts in, a bit each.
type counts uint8

const (
	asCall     counts = 1 << inCalls
	asProgram  counts = 1 << inPrograms
	asDecider  counts = 1 << inDeciders
	asDeciding counts = 1 << inDecidingPrograms // program
)

// countsAs says what a step's call counts in.
var countsAs = [reactive.NoRoom]counts{reactive.CallRoom: asCall, reactive.ProgramRoom: asCall | asProgram}

// take takes room for a call wherever it counts, or nowhere.
func (e *Engine) take(in counts, r *run) bool {
	for i := range e.room {
		if in>>i&1 != 0 && !e.room[i].take(r) {
			e.release(in&(1<<i-1), 1)
			return false
		}
	}
	return true
}

// release returns the room of n calls.
func (e *Engine) release(in counts, n int) {
	for i := range e.room {
		if in>>i&1 != 0 {
			e.room[i].release(n)
		}
	}
}

// bounds reports whether there may be no room for calls of a workflow.
func (e *Engine) bounds(of *registry.Entry) bool {
	if e.room[inCalls].max > 0 {
		return true
	}
	return e.room[inPrograms].max > 0 && slices.ContainsFunc(of.Performers, func(p *registry.Performer) bool { return p != nil && p.Program })
}

// Reserve asks for room for one more call.
func (r *run) Reserve(room reactive.Room) bool { return r.engine.take(countsAs[room], r) }

// rooms says, by operation, what room its calls need.
func rooms(e *registry.Entry) []reactive.Room {
	list := make([]reactive.Room, len(e.Performers))
	for i, p := range e.Performers {
		switch {
		case p == nil || p.Roomless():
			list[i] = reactive.NoRoom
		case p.Program:
			list[i] = reactive.ProgramRoom
		}
	}
	return list
}

// room is what a call counts in, as far as that is bounded.
func (r *run) room(req reactive.Request) counts {
	if !r.bounded {
		return 0
	}
	op := r.root.Row(req.Node).Op
	if req.Decision != 0 {
		op = r.root.Place(req.Node).Decision
	}
	switch p := r.entry.Performers[op]; {
	case p == nil || p.Roomless():
		return 0
	case req.Decision != 0 && p.Program:
		return asDecider | asDeciding
	case req.Decision != 0:
		return asDecider
	case p.Program:
		return asCall | asProgram
	}
	return asCall
}

// admit returns the calls that there is room for: of new ones, and of those that were held back before. The rest is held
// back: it is requested already, so its time counts. Those of steps that ask no participants come first, because each has got
// room of its own in this step.
func (r *run) admit(calls []reactive.Request) []reactive.Request {
	if !r.bounded {
		return calls
	}
	var admitted, held []reactive.Request
	try := func(req reactive.Request, isNew bool) {
		room := r.room(req)
		switch reserved := r.reserved(room); {
		case isNew && reserved != nil && *reserved > 0:
			*reserved--
		case room != 0 && !r.engine.take(room, r):
			held = append(held, req)
			return
		}
		admitted = append(admitted, req)
	}
	for _, req := range calls {
		if isPlain(req) {
			try(req, true)
		}
	}
	for _, req := range r.held {
		if r.root.Open(req) {
			try(req, false)
		}
	}
	for _, req := range calls {
		if !isPlain(req) {
			try(req, true)
		}
	}
	r.giveUp() // of calls that the same step has ended again
	r.held = held
	return admitted
}

// reserved is how many calls have got such room in this step; nil: they get none then.
func (r *run) reserved(room counts) *int {
	for kind := range countsAs {
		if countsAs[kind] == room {
			return &r.step.Reserved[kind]
		}
	}
	return nil
}

// giveUp returns room that was reserved for calls which are not made.
func (r *run) giveUp() {
	for kind, n := range r.step.Reserved {
		r.step.Reserved[kind] = 0
		r.engine.release(countsAs[kind], n)
	}
}

// isPlain reports whether a call is that of a step which asks no participants.
func isPlain(req reactive.Request) bool { return req.Participant == "" && req.Decision == 0 }

// wantsRoom reports whether the run goes on as soon as the process has room for another call. Until then it stays in memory,
// to be told.
func (r *run) wantsRoom() bool {
	_, ready := r.root.NextStart(0)
	return len(r.held) > 0 || ready && !r.root.Paused()
}

// returnRooms returns the room of calls that were admitted and are not made.
func (r *run) returnRooms(calls []reactive.Request) {
	for _, req := range calls {
		r.engine.release(r.room(req), 1)
	}
}

// returnRoom returns the room of calls that have landed, and that of their answers. A call that was given up keeps its room until then.
func (e *Engine) returnRoom(landed []*flight) {
	var n [roomKinds]int
	for _, f := range landed {
		for i := range n {
			n[i] += int(f.room >> i & 1)
		}
		f.room = 0 // it may be put back, and come again
		e.inFlight.putBack(f)
	}
	for i := range n {
		e.room[i].release(n[i])
	}
}

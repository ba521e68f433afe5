package coordinator

import (
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive"
)

// What a call that leaves the process counts as is its room: of the calls, or of the calls to decision sources. Child runs
// and pure operations need none: what they wait for would otherwise be held up by their own room.

// Reserve asks for room for one more call.
func (r *run) Reserve() bool { return r.engine.calls.take(r) }

// roomless tells, by operation, whose calls need no room.
func roomless(e *registry.Entry) []bool {
	list := make([]bool, len(e.Performers))
	for i, p := range e.Performers {
		list[i] = p == nil || p.Roomless()
	}
	return list
}

// room is what a call counts in; nil: it needs none.
func (r *run) room(req reactive.Request) *capacity {
	if r.engine.calls.max == 0 {
		return nil
	}
	op := r.root.Row(req.Node).Op
	if req.Decision != 0 {
		op = r.root.Place(req.Node).Decision
	}
	switch p := r.entry.Performers[op]; {
	case p == nil || p.Roomless():
		return nil
	case req.Decision != 0:
		return &r.engine.deciders
	}
	return &r.engine.calls
}

// admit returns the calls that there is room for: of new ones, and of those that were held back before. The rest is held
// back: it is requested already, so its time counts. Those of steps that ask no participants come first, because each has got
// room of its own in this step.
func (r *run) admit(calls []reactive.Request) []reactive.Request {
	if r.engine.calls.max == 0 {
		return calls
	}
	var admitted, held []reactive.Request
	try := func(req reactive.Request, isNew bool) {
		room := r.room(req)
		switch {
		case isNew && room == &r.engine.calls && r.step.Reserved > 0:
			r.step.Reserved--
		case room != nil && !room.take(r):
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
	r.giveUp(r.step.Reserved) // of calls that the same step has ended again
	r.held = held
	return admitted
}

// giveUp returns room that was reserved for calls which are not made.
func (r *run) giveUp(n int) {
	r.step.Reserved -= n
	r.engine.calls.release(n)
}

// isPlain reports whether a call is that of a step which asks no participants.
func isPlain(req reactive.Request) bool { return req.Participant == "" && req.Decision == 0 }

// wantsRoom reports whether the run goes on as soon as the process has room for another call. Until then it stays in memory,
// to be told.
func (r *run) wantsRoom() bool {
	_, ready := r.root.NextStart()
	return len(r.held) > 0 || ready && !r.root.Paused()
}

// returnRooms returns the room of calls that were admitted and are not made.
func (r *run) returnRooms(calls []reactive.Request) {
	for _, req := range calls {
		if room := r.room(req); room != nil {
			room.release(1)
		}
	}
}

// returnRoom returns the room of calls that have landed, and that of their answers. A call that was given up keeps its room until then.
func (e *Engine) returnRoom(landed []*flight) {
	calls, deciders := 0, 0
	for _, f := range landed {
		if f.side == nil {
			continue
		}
		switch f.side.room {
		case &e.calls:
			calls++
		case &e.deciders:
			deciders++
		}
		f.side.room = nil // it may be put back, and come again
		e.inFlight.putBack(f)
	}
	e.calls.release(calls)
	e.deciders.release(deciders)
}

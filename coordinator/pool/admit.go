package pool

import (
	"context"
	"slices"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
)

// Reserve reserves room for one more call. If there is none, the pool calls the owner's Wake once there is.
func (h *Host) Reserve(room reactive.Room) bool {
	if room >= reactive.WorkerRoom {
		return h.reserveWorker(int(room - reactive.WorkerRoom))
	}
	return h.run.pool.acquire(countsAs[room], h.run)
}

// roomOf returns the bounds that a call counts towards.
func (h *Host) roomOf(req reactive.Request) counts {
	if !h.bounded {
		return 0
	}
	switch p := h.entry.Performers[decide.Operation(h.root, req)]; {
	case p == nil || p.Worker || p.Roomless():
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

// Admit returns the calls for which there is room, both new and previously held, and holds the rest: their time counts,
// because they are already requested. Calls of steps without participants come first, because this step has reserved room
// for them: reserved counts that room, and is zero afterwards.
func (h *Host) Admit(calls []reactive.Request, reserved *decide.Reserved) []reactive.Request {
	if !h.bounded {
		return calls
	}
	calls = h.passOn(calls)
	var admitted, held []reactive.Request
	try := func(req reactive.Request, isNew bool) {
		room := h.roomOf(req)
		switch n := reservedFor(reserved, room); {
		case isNew && n != nil && *n > 0:
			*n--
		case room != 0 && !h.run.pool.acquire(room, h.run):
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
	for _, req := range h.held {
		if h.root.Open(req) {
			try(req, false)
		}
	}
	for _, req := range calls {
		if !isPlain(req) {
			try(req, true)
		}
	}
	h.GiveUp(reserved) // of calls that the same step has ended
	h.held = held
	return admitted
}

// reservedFor returns the number of calls with such room reserved in this step; nil: such room is not reserved.
func reservedFor(reserved *decide.Reserved, room counts) *int {
	for kind := range countsAs {
		if countsAs[kind] == room {
			return &reserved[kind]
		}
	}
	return nil
}

// Holds reports whether a call is requested and waits for room.
func (h *Host) Holds(req reactive.Request) bool { return slices.Contains(h.held, req) }

// TakeHeld takes over the calls that wait for room from the host of the workflow that the run has followed before.
func (h *Host) TakeHeld(from *Host) {
	for _, req := range from.held {
		if v, ok := h.root.Node(from.root.Key(req.Node)); ok {
			req.Node = v
			h.held = append(h.held, req)
		}
	}
}

// GiveUp returns room that was reserved for calls which are not made.
func (h *Host) GiveUp(reserved *decide.Reserved) {
	h.returnTickets()
	for kind, n := range reserved {
		reserved[kind] = 0
		h.run.pool.release(countsAs[kind], n)
	}
}

// isPlain reports whether a call has neither a participant nor a decision source.
func isPlain(req reactive.Request) bool { return req.Participant == "" && req.Decision == 0 }

// Wants reports whether the run waits for room for another call, or for a machine that the program may have later. It stays in
// memory while it does, but not while it waits for a worker, which loads it.
func (h *Host) Wants() bool {
	_, ready := h.root.NextStart(h.away.rooms)
	return len(h.held) > 0 || h.lacks || ready && !h.root.Paused()
}

// callsTogether bounds the calls of one allocation, which stay in memory until the last of them has ended. They fit in 8 KiB. With
// one allocation for the thousands of calls of a turn, a run in memory took a sixth longer.
const callsTogether = 24

// Make makes admitted calls, with the values and deadline of ctx, and adds them to those in progress. If here is true, the caller's
// goroutine will make calls itself: see Owner.Drive.
func (h *Host) Make(ctx context.Context, admitted []reactive.Request, inProgress *InProgress, here bool) {
	if len(admitted) == 0 {
		return
	}
	calls, together := make([]*Call, len(admitted)), []Call(nil)
	begun := 0
	defer func() { // calls remain only if preparing one has panicked
		for _, req := range admitted[begun:] {
			h.run.pool.release(h.roomOf(req), 1)
		}
	}()
	for i, req := range admitted {
		if len(together) == 0 {
			together = make([]Call, min(callsTogether, len(admitted)-i))
		}
		c := together[0].prepare(h, req)
		calls[i], together = c, together[1:]
		c.room = h.roomOf(req)
		c.Begin(ctx)
		inProgress.track(c, h.root.Len())
		begun++
	}
	h.run.pool.submit(calls, here)
}

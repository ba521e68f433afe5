package pool

import (
	"context"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
)

// Reserve takes room for one more call. If there is none, the pool calls the owner's Again once there is.
func (h *Host) Reserve(room reactive.Room) bool { return h.run.pool.take(countsAs[room], h.run) }

// roomOf returns the bounds that a call counts towards.
func (h *Host) roomOf(req reactive.Request) counts {
	if !h.bounded {
		return 0
	}
	switch p := h.entry.Performers[decide.Operation(h.root, req)]; {
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

// Admit returns the calls that there is room for, new ones and ones held back before, and holds back the rest: they are
// requested already, so their time counts. Calls of steps that ask no participants come first, because room was reserved for
// them in this step: reserved counts it, and is zero afterwards.
func (h *Host) Admit(calls []reactive.Request, reserved *decide.Reserved) []reactive.Request {
	if !h.bounded {
		return calls
	}
	var admitted, held []reactive.Request
	try := func(req reactive.Request, isNew bool) {
		room := h.roomOf(req)
		switch has := of(reserved, room); {
		case isNew && has != nil && *has > 0:
			*has--
		case room != 0 && !h.run.pool.take(room, h.run):
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
	h.GiveUp(reserved) // of calls that this step has also ended
	h.held = held
	return admitted
}

// of returns the number of calls with such room reserved in this step; nil: none is reserved for them.
func of(reserved *decide.Reserved, room counts) *int {
	for kind := range countsAs {
		if countsAs[kind] == room {
			return &reserved[kind]
		}
	}
	return nil
}

// GiveUp returns room that was reserved for calls which are not made.
func (h *Host) GiveUp(reserved *decide.Reserved) {
	for kind, n := range reserved {
		reserved[kind] = 0
		h.run.pool.release(countsAs[kind], n)
	}
}

// isPlain reports whether a call belongs to a step that asks no participants, and is not to a decision source.
func isPlain(req reactive.Request) bool { return req.Participant == "" && req.Decision == 0 }

// WantsRoom reports whether the run waits for room for another call. Until there is some, it stays in memory.
func (h *Host) WantsRoom() bool {
	_, ready := h.root.NextStart(0)
	return len(h.held) > 0 || ready && !h.root.Paused()
}

// Make makes admitted calls, with values and deadline of ctx, and adds them to those in progress. They share one slice, so
// that a turn costs one allocation and not one per call. here tells that the caller's goroutine is about to make calls itself:
// see Owner.Drive.
func (h *Host) Make(ctx context.Context, admitted []reactive.Request, under *UnderWay, here bool) {
	if len(admitted) == 0 {
		return
	}
	calls := make([]Call, len(admitted))
	begun := 0
	defer func() { // nothing is left unless preparing a call has panicked
		for _, req := range admitted[begun:] {
			h.run.pool.release(h.roomOf(req), 1)
		}
	}()
	for i, req := range admitted {
		c := calls[i].prepare(h, req)
		c.room = h.roomOf(req)
		c.Begin(ctx)
		under.track(c, h.root.Len())
		begun++
	}
	h.run.pool.submit(calls, here)
}

package pool

import (
	"maps"
	"slices"
	"time"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/coordinator/workers"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
)

// CodeWorker is the code of calls that cannot be passed to a worker: their input has secrets, or their answer is to be judged.
const CodeWorker = "not_for_workers"

// workerCalls holds the operations that workers carry out.
type workerCalls struct {
	operations []string       // by room
	rooms      reactive.Rooms // theirs
	tickets    [][]workers.Ticket

	keys  map[reactive.Request]string // of open calls of a routed run, whose nodes are used again; some have ended
	swept int                         // number of keys after ended calls were last removed
}

// workerCallsOf returns the operations of an entry that workers carry out.
func workerCallsOf(entry *registry.Entry) (a workerCalls) {
	a.operations = entry.OfWorkers()
	for i := range a.operations {
		a.rooms = a.rooms.With(reactive.WorkerRoom + reactive.Room(i))
	}
	a.tickets = make([][]workers.Ticket, len(a.operations))
	return a
}

// reserveWorker reserves a worker for a call of an operation.
func (h *Host) reserveWorker(i int) bool {
	t, ok := h.run.pool.away.Reserve(h.run.ID, h.away.operations[i])
	if ok {
		h.away.tickets[i] = append(h.away.tickets[i], t)
	}
	return ok
}

// LeaveWorkers ends the waits for workers of a run that has ended.
func (h *Host) LeaveWorkers() {
	if len(h.away.operations) > 0 {
		h.run.pool.away.Leave(h.run.ID, h.away.operations)
	}
}

// returnTickets returns the tickets that no call has used.
func (h *Host) returnTickets() {
	for i, list := range h.away.tickets {
		for _, t := range list {
			h.run.pool.away.Return(t)
		}
		h.away.tickets[i] = list[:0]
	}
}

// passOn passes calls to the workers that carry them out, and returns the other calls.
func (h *Host) passOn(calls []reactive.Request) []reactive.Request {
	if len(h.away.operations) == 0 {
		return calls
	}
	return slices.DeleteFunc(slices.Clone(calls), func(req reactive.Request) bool {
		if !h.isWorkerCall(req) {
			return false
		}
		c := h.requestForWorker(req)
		if unfit := h.unfit(req, c); unfit != "" {
			h.run.pool.away.Refuse(c, call.NewFailure(CodeWorker, unfit))
			return true
		}
		var ticket workers.Ticket
		if i := slices.Index(h.away.operations, c.Operation); isPlain(req) && len(h.away.tickets[i]) > 0 {
			last := len(h.away.tickets[i]) - 1
			ticket, h.away.tickets[i] = h.away.tickets[i][last], h.away.tickets[i][:last]
		}
		h.run.pool.away.Offer(ticket, h.wanted(req, c))
		return true
	})
}

// unfit returns the reason that a call cannot be passed to a worker.
func (h *Host) unfit(req reactive.Request, c *call.Request) string {
	switch {
	case len(c.Secrets) > 0:
		return "the input has secrets of the keychain, which leave this process only by bindings"
	case h.signed(req) != nil:
		return "the answers to effects of this world are verified, and those of workers cannot be"
	}
	return ""
}

// Adopt takes over an open call that was requested before the run was loaded, if workers carry it out.
func (h *Host) Adopt(req reactive.Request) bool {
	if !h.isWorkerCall(req) {
		return false
	}
	h.run.pool.away.Adopt(h.wanted(req, h.requestForWorker(req)))
	return true
}

// Withdraw ends calls that workers may have, because their attempts have ended.
func (h *Host) Withdraw(ended []reactive.Request) {
	for _, req := range ended {
		if h.isWorkerCall(req) {
			h.run.pool.away.Withdraw(workers.ID{
				Run: h.run.ID, Node: h.takeKey(req), Attempt: req.Attempt, Participant: req.Participant, Decision: req.Decision,
			}, "the attempt has ended")
		}
	}
}

func (h *Host) isWorkerCall(req reactive.Request) bool {
	if len(h.away.operations) == 0 {
		return false
	}
	p := h.entry.Performers[decide.Operation(h.root, req)]
	return p != nil && p.Worker
}

func (h *Host) requestForWorker(req reactive.Request) *call.Request {
	c := &call.Request{}
	decide.CallFor(h.root, req, c)
	if req.Use != 0 {
		h.noteKey(req, c.Node)
	}
	return c
}

// noteKey records the key of a call, because another call may use its node later.
func (h *Host) noteKey(req reactive.Request, key string) {
	a := &h.away
	if a.keys == nil {
		a.keys = map[reactive.Request]string{}
	}
	a.keys[req] = key
	if len(a.keys) > 2*a.swept+64 {
		maps.DeleteFunc(a.keys, func(req reactive.Request, _ string) bool { return !h.root.Open(req) })
		a.swept = len(a.keys)
	}
}

// takeKey returns the key of a call that has ended.
func (h *Host) takeKey(req reactive.Request) string {
	if key, ok := h.away.keys[req]; ok {
		delete(h.away.keys, req)
		return key
	}
	return h.root.Key(req.Node)
}

// wanted returns a call in its form for workers.
func (h *Host) wanted(req reactive.Request, c *call.Request) workers.Wanted {
	w := workers.Wanted{Request: *c, Ring: h.run.Ring}
	if req.Decision != 0 {
		return w
	}
	w.Once = h.root.Place(req.Node).Step.NonIdempotent
	if end := h.root.AttemptEnd(req.Node); end > 0 {
		w.Deadline = time.Unix(0, end)
	}
	return w
}

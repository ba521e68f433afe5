package workers

import (
	"time"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// scanTime is the time between two checks of the leases.
const scanTime = LeaseTime / 30

// scan checks the leases repeatedly while there are calls or workers. The caller holds mu.
func (h *Hub) scan() {
	if h.scanning || h.ctx.Err() != nil {
		return
	}
	h.scanning = true
	h.asking.Go(func() {
		tick := time.NewTicker(scanTime)
		defer tick.Stop()
		for {
			select {
			case <-h.ctx.Done():
				return
			case now := <-tick.C:
				if !h.expire(now) {
					return
				}
			}
		}
	})
}

// expire ends the leases that have run out, and forgets workers that have been silent for long. It reports whether it must be called
// again.
func (h *Hub) expire(now time.Time) (again bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, r := range h.calls {
		if r.state == leased && now.After(r.expires) {
			h.end(id, r)
		}
	}
	for who, s := range h.sessions {
		if len(s.takes) == 0 && s.held == 0 && now.Sub(s.seen) > forgetTime {
			delete(h.sessions, who)
		}
	}
	h.withdrawn.expire(now)
	h.scanning = len(h.calls)+len(h.sessions)+len(h.withdrawn) > 0
	return h.scanning
}

// end ends a lease that has run out: the call is asked again, or fails if it must not be. The caller holds mu.
func (h *Hub) end(id ID, r *request) {
	h.release(r)
	switch {
	case !r.known: // its run is not in memory, and adopts it when it is loaded
		r.state = gone
		delete(h.calls, id)
	case r.Once:
		r.state = answering
		h.asking.Go(func() { h.interrupt(id, r) })
	default:
		if r.sent > 0 { // so that the reports of the next making count
			r.making, r.sent = r.making+1, 0
		}
		h.place(r)
	}
}

// interrupt fails a call with unknown progress that must not be made twice.
func (h *Hub) interrupt(id ID, r *request) {
	failure := call.Result{Failure: call.NewFailure(reactive.CodeInterrupted,
		"the worker that had the call has been silent for longer than its lease, and the step is not idempotent")}
	_, err := h.engine.Answer(h.ctx, id, failure, false)()
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.state = gone; h.calls[id] == r && (err == nil || h.ctx.Err() == nil) { // of a run that is parked: it adopts the call again
		delete(h.calls, id)
	}
}

// Refuse fails a call that no worker can carry out.
func (h *Hub) Refuse(c *call.Request, failure *journal.Failure) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() == nil { // otherwise the next engine does
		id := IDOf(c)
		h.asking.Go(func() { _, _ = h.engine.Answer(h.ctx, id, call.Result{Failure: failure}, false)() }) // it fails with the run
	}
}

// release takes a call from the worker that has it. The caller holds mu.
func (h *Hub) release(r *request) {
	if r.holder != nil {
		r.holder.held--
		r.holder = nil
	}
}

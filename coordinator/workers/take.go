package workers

import (
	"cmp"
	"context"
	"slices"
	"time"
)

const (
	// Grace is the time for which a worker may go on with a call after its answer was cancelled.
	Grace = 5 * time.Second

	lingerTime = 2 * time.Millisecond // longest wait for further calls that are under way
	forgetTime = time.Minute          // after which a silent worker without leases is no longer listed
)

// Worker names a worker: workers of one token choose different names.
type Worker struct {
	Token string // name of its token
	ID    string // of the token itself: leases are bound to it, since another token may get the name later; "": none can
	Name  string // as it calls itself
}

// boundTo returns the id or the name of the token to which the leases of the worker are bound.
func (w Worker) boundTo() string { return cmp.Or(w.ID, w.Token) }

// Call is a call with the lease of the worker that has taken it.
type Call struct {
	Wanted
	Lease   string    // to be named in each delivery about the call
	Expires time.Time // of the lease, unless the worker names it again
}

// Cancel is a notice that the answer of a call is not wanted.
type Cancel struct {
	Lease  string        // of the call
	Reason string        // for people
	Grace  time.Duration // time for which the worker may go on
}

// session is the state of a worker.
type session struct {
	who        Worker
	operations []string
	seen       time.Time
	held       int // leases
	takes      []*take
	cancels    []Cancel // not passed on yet
}

func (s *session) signal() {
	for _, t := range s.takes {
		t.signal()
	}
}

// take is a worker that waits for calls.
type take struct {
	of         *session
	operations []string
	free       int // calls that it may still get
	tickets    int // reserved ones
	asks       int // runs that have been asked and have not had their turn
	calls      []*request
	over       bool
	wake       chan struct{}
}

func (t *take) signal() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// add assigns a call. The caller holds mu of the hub and has counted the call.
func (t *take) add(r *request) {
	r.state = assigned
	t.calls = append(t.calls, r)
	t.signal()
}

// Take returns up to most calls of the given operations, as leases of the worker, and those of its calls that are no longer wanted. If
// there are none, it waits. When the first arrives, it waits briefly for further calls under way, so that they share an answer.
func (h *Hub) Take(ctx context.Context, who Worker, operations []string, most int, wait time.Duration) ([]Call, []Cancel, error) {
	if h.drained() {
		return nil, nil, ErrClosed
	}
	t := h.enter(who, operations, most)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	var linger <-chan time.Time
	for waiting := true; waiting; {
		any, whole := h.look(t)
		if whole {
			break
		}
		if any && linger == nil {
			linger = time.After(lingerTime)
		}
		select {
		case <-t.wake:
		case <-ctx.Done():
			waiting = false
		case <-h.drain:
			waiting = false
		case <-timer.C:
			waiting = false
		case <-linger:
			waiting = false
		}
	}
	calls, cancels := h.leave(t, ctx.Err() == nil)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	return calls, cancels, nil
}

// enter makes a worker wait, and asks the runs that wait for it.
func (h *Hub) enter(who Worker, operations []string, most int) *take {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.session(who)
	s.operations = operations
	t := &take{of: s, operations: operations, free: most, wake: make(chan struct{}, 1)}
	s.takes = append(s.takes, t)
	for _, name := range operations {
		o := h.operation(name)
		o.takes = append(o.takes, t)
	}
	h.inTurn(t, func(o *operation) bool { return t.free > 0 && h.next(o, t) })
	h.ask(t)
	return t
}

// inTurn calls f for each operation of a take in turn, as long as it returns true for any of them.
func (h *Hub) inTurn(t *take, f func(*operation) bool) {
	for more := true; more; {
		more = false
		for _, name := range t.operations {
			more = f(h.operation(name)) || more
		}
	}
}

// next assigns the oldest offer of an operation, and reports whether there was any. The caller holds mu.
func (h *Hub) next(o *operation, t *take) bool {
	for len(o.offers) > 0 {
		r := o.offers[0]
		o.offers[0] = nil
		o.offers = o.offers[1:]
		if r.state == offered {
			t.free--
			t.add(r)
			return true
		}
	}
	return false
}

// session returns the state of a worker that has just made a request. The caller holds mu.
func (h *Hub) session(who Worker) *session {
	s := h.sessions[who]
	if s == nil {
		s = &session{who: who}
		h.sessions[who] = s
		h.scan()
	}
	s.seen = time.Now()
	return s
}

// ask asks as many queued runs for calls as a take has room for. The caller holds mu.
func (h *Hub) ask(t *take) {
	if t.over || h.drained() {
		return
	}
	h.inTurn(t, func(o *operation) bool {
		next, any := o.queue.first()
		if t.free <= t.asks || !any {
			return false
		}
		o.queue.remove(next.run)
		t.asks++
		h.asking.Go(func() { h.askOne(t, next.run) })
		return true
	})
}

func (h *Hub) askOne(t *take, run string) {
	_ = h.engine.Ask(h.ctx, run) // a run that cannot go on reserves nothing
	h.mu.Lock()
	defer h.mu.Unlock()
	t.asks--
	h.ask(t)
	t.signal()
}

// look reports whether a take has calls or cancellations, and whether no more are under way.
func (h *Hub) look(t *take) (any, whole bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(t.of.cancels) > 0 {
		return true, true
	}
	any = len(t.calls) > 0
	whole = any && t.tickets == 0 && (t.free == 0 || t.asks+h.answering == 0)
	if any && !whole {
		h.lingering[t] = true
	}
	return any, whole
}

// leave ends a take, and makes its calls leases. If its worker has gone they are offered to others.
func (h *Hub) leave(t *take, there bool) (calls []Call, cancels []Cancel) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.over = true
	delete(h.lingering, t)
	isThis := func(u *take) bool { return u == t }
	now := time.Now()
	t.of.takes = slices.DeleteFunc(t.of.takes, isThis)
	t.of.seen = now
	for _, name := range t.operations {
		o := h.operation(name)
		o.takes, o.served = slices.DeleteFunc(o.takes, isThis), now
	}
	if there {
		calls = make([]Call, 0, len(t.calls))
	}
	for _, r := range t.calls {
		switch {
		case r.state != assigned:
		case there:
			h.taken++
			r.state, r.holder, r.number, r.engine, r.expires = leased, t.of, h.taken, h.number, now.Add(LeaseTime)
			t.of.held++
			c := Call{Wanted: r.Wanted, Lease: h.signed(r), Expires: r.expires}
			c.Making = r.making
			calls = append(calls, c)
			h.scan()
		default:
			h.place(r)
		}
	}
	if there {
		cancels, t.of.cancels = t.of.cancels, nil
	}
	return calls, cancels
}

package workers

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Listed is a worker that was heard of in the last minute, or has leases.
type Listed struct {
	Worker
	Operations []string  // that it takes calls of
	Calls      int       // that it has
	Seen       time.Time // when it was last heard of
	Waits      bool      // it waits for calls
}

// Demand is an operation that workers carry out.
type Demand struct {
	Operation string    // its name
	Runs      int       // that wait for a worker
	Calls     int       // that are requested, and that no worker has any longer
	Since     time.Time // the oldest of these runs waits since then, or longer; zero: no run waits
	Unserved  time.Time // no worker serves it since then, at the earliest the start of the engine, see Unserved; zero: a worker does
}

// List returns the workers, by name, and the operations that they or runs have named, by name.
func (h *Hub) List() (list []Listed, demands []Demand) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.sessions {
		list = append(list, Listed{s.who, s.operations, s.held, s.seen, len(s.takes) > 0})
	}
	for name, o := range h.operations {
		d := Demand{Operation: name, Runs: len(o.queue.came), Since: o.queue.since(), Unserved: h.unservedSince(name, o)}
		for _, r := range o.offers {
			if r.state == offered {
				d.Calls++
			}
		}
		demands = append(demands, d)
	}
	slices.SortFunc(list, func(a, b Listed) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Token, b.Token)) })
	slices.SortFunc(demands, func(a, b Demand) int { return cmp.Compare(a.Operation, b.Operation) })
	return list, demands
}

// Unserved returns the time since which no worker serves an operation; the zero time if a worker does, or there is no hub. No time is
// before the engine began.
func (h *Hub) Unserved(name string) time.Time {
	if h == nil {
		return time.Time{}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.unservedSince(name, h.operation(name))
}

// unservedSince is Unserved. A worker that has all the calls it can carry out serves its operations, too. The caller holds mu.
func (h *Hub) unservedSince(name string, o *operation) time.Time {
	if len(o.takes) > 0 {
		return time.Time{}
	}
	last := o.served
	for _, s := range h.sessions {
		if s.seen.After(last) && slices.Contains(s.operations, name) {
			last = s.seen
		}
	}
	switch {
	case last.IsZero():
		return h.began
	case time.Since(last) < LeaseTime:
		return time.Time{}
	}
	return last
}

// Explain describes the wait of a run for a worker of an operation; "": it does not wait for one.
func (h *Hub) Explain(run, name string) string {
	if h == nil {
		return ""
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.operations[name]
	if o == nil {
		return ""
	}
	if _, waits := o.queue.came[run]; !waits {
		return ""
	}
	if since := h.unservedSince(name, o); !since.IsZero() {
		return fmt.Sprintf("it may start, and waits for a worker: none serves %s since %s", name, since.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("it may start, and waits for a worker: those that serve %s are busy, and %d runs wait", name, len(o.queue.came))
}

// Input returns the input of a call that a worker has.
func (h *Hub) Input(who Worker, text string) (any, error) {
	l, err := parse(h.signer, who.boundTo(), text)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.calls[l.ID]
	if r == nil || !r.known || r.number != l.number || r.engine != l.engine {
		return nil, ErrGone
	}
	return r.Input, nil
}

package workers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	calls "github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
)

// Delivery holds the results, reports and logs that a worker sends in one request.
type Delivery struct {
	Results []Result // answers
	Reports []Report // in order
	Logs    []Log    // in order
	Alive   []string // leases of calls that it still works on
}

// Result is the answer of a call.
type Result struct {
	Lease       string // of the call
	call.Result        // how it has ended
}

// Report is a report of a call.
type Report struct {
	Lease   string // of the call
	Number  int32  // from 1 within a lease; 0: one more than the last
	Kind    string // as operation.Report has it
	Payload any    // a value of package value
}

// Log is text that a worker writes about a call.
type Log struct{ Lease, Text string }

// textMax bounds the part of a text that is kept, in bytes.
const textMax = 4 << 10

// beginning returns the part of a text that is kept.
func beginning(text string) string {
	if len(text) <= textMax {
		return text
	}
	return strings.ToValidUTF8(text[:textMax], "") + "…"
}

// Acknowledgement is the reply to a worker's delivery.
type Acknowledgement struct {
	Cancel  []Cancel  // calls that are no longer wanted
	Late    []Late    // leases whose part of the delivery does not count
	Expires time.Time // of the leases in the delivery
}

// Late is a lease whose part of a delivery does not count, and the reason.
type Late struct{ Lease, Was string }

// PlaceError is an error about one lease of a delivery.
type PlaceError struct {
	Pointer string // a JSON pointer into the request
	Err     error  // the error there
}

func (e *PlaceError) Error() string { return e.Pointer + ": " + e.Err.Error() }
func (e *PlaceError) Unwrap() error { return e.Err }

// Give takes a delivery, and returns when all of it is durable. If one of the leases is not the worker's, Give takes no part of it. Give
// renews every lease in the delivery.
func (h *Hub) Give(ctx context.Context, who Worker, g *Delivery) (*Acknowledgement, error) {
	if h.ctx.Err() != nil {
		return nil, ErrClosed
	}
	leases, err := h.read(who, g)
	if err != nil {
		return nil, err
	}
	ack := &Acknowledgement{Expires: time.Now().Add(LeaseTime)}
	for _, l := range g.Alive {
		if was := h.renew(who, leases[l], ack.Expires); was != "" {
			ack.Late = append(ack.Late, Late{l, was})
		}
	}
	for _, l := range g.Logs {
		h.renew(who, leases[l.Lease], ack.Expires)
		if err := h.log(ctx, who, leases[l.Lease], l.Text); err != nil {
			return nil, err
		}
	}
	for _, p := range g.Reports { // in order
		was, err := h.report(ctx, who, leases[p.Lease], p, ack.Expires)
		if err != nil {
			return nil, err
		}
		if was != "" {
			ack.Late = append(ack.Late, Late{p.Lease, was})
		}
	}
	late, err := h.answers(ctx, leases, g.Results)
	ack.Late = append(ack.Late, late...)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.session(who)
	ack.Cancel, s.cancels = s.cancels, nil
	return ack, nil
}

// read reads the leases of a delivery.
func (h *Hub) read(who Worker, g *Delivery) (map[string]*lease, error) {
	leases := map[string]*lease{}
	read := func(text, format string, args ...any) error {
		if leases[text] != nil {
			return nil
		}
		l, err := parse(h.signer, who.boundTo(), text)
		if err != nil {
			return &PlaceError{fmt.Sprintf(format, args...), err}
		}
		leases[text] = &l
		return nil
	}
	for i := range g.Results {
		if err := read(g.Results[i].Lease, "/results/%d/lease", i); err != nil {
			return nil, err
		}
	}
	for i := range g.Reports {
		if err := read(g.Reports[i].Lease, "/reports/%d/lease", i); err != nil {
			return nil, err
		}
	}
	for i := range g.Logs {
		if err := read(g.Logs[i].Lease, "/log/%d/lease", i); err != nil {
			return nil, err
		}
	}
	for i := range g.Alive {
		if err := read(g.Alive[i], "/alive/%d", i); err != nil {
			return nil, err
		}
	}
	return leases, nil
}

// States of a call whose lease is late, if its run is not asked.
const (
	wasEnded = "ended"
	wasTaken = "taken by another worker"
)

// renew makes a lease last longer. If it is one of an earlier engine, or has run out while no other worker has taken the call, the
// call is the worker's again. was is the reason that the lease does not count.
func (h *Hub) renew(who Worker, l *lease, until time.Time) (was string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.session(who)
	r := h.calls[l.ID]
	switch {
	case r == nil && l.engine == h.number:
		return wasEnded
	case r == nil:
		r = &request{id: l.ID}
		h.calls[l.ID] = r
		h.scan()
	case r.state == answering:
		return ""
	case r.holder != nil && (r.number != l.number || r.engine != l.engine), r.state == assigned:
		return wasTaken
	}
	if r.holder != s {
		h.release(r)
		r.holder = s
		s.held++
	}
	r.state, r.number, r.engine, r.expires = leased, l.number, l.engine, until
	r.making = l.making
	return ""
}

// log passes on a text of a worker. Parts of secrets are redacted, too: the worker may have cut one in two.
func (h *Hub) log(ctx context.Context, who Worker, l *lease, text string) error {
	was, err := h.unlock(ctx, l)
	if err != nil || was != "" {
		return err
	}
	if text = beginning(text); l.ring != nil {
		text = l.ring.RedactMessage(text)
	}
	h.engine.Log(l.ID, who.Name, text)
	return nil
}

// report journals a report.
func (h *Hub) report(ctx context.Context, who Worker, l *lease, p Report, until time.Time) (was string, err error) {
	if was = h.renew(who, l, until); was != "" {
		return was, nil
	}
	if was, err = h.unlock(ctx, l); was != "" || err != nil {
		return was, err
	}
	if l.ring != nil {
		p.Kind, p.Payload = l.ring.RedactText(p.Kind), l.ring.Redact(p.Payload)
		if err := calls.CheckReport(int(p.Number), p.Kind, p.Payload); err != nil {
			return err.Error(), nil
		}
	}
	h.mu.Lock()
	if r := h.calls[l.ID]; r != nil {
		r.sent = max(r.sent+1, p.Number)
		if p.Number == 0 {
			p.Number = r.sent
		}
	}
	h.mu.Unlock()
	return splitError(h.engine.Report(ctx, l.ID, max(1, l.making), p.Number, p.Kind, p.Payload))
}

// splitError separates an error about the call from one after which the worker is to try again.
func splitError(err error) (was string, again error) {
	switch {
	case err == nil:
		return "", nil
	case errors.Is(err, decide.ErrShutdown), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "", err
	}
	return err.Error(), nil
}

// answers journals results together: it passes all on before it waits for the first.
func (h *Hub) answers(ctx context.Context, leases map[string]*lease, results []Result) (late []Late, err error) {
	h.answer(len(results))
	defer h.answer(-len(results))
	settle := make([]func() (string, error), len(results))
	for i, r := range results {
		l := leases[r.Lease]
		if was, err := h.unlock(ctx, l); was != "" || err != nil {
			settle[i] = func() (string, error) { return was, err }
			continue
		}
		if l.ring != nil {
			r.Result = l.ring.RedactResult(r.Result)
		}
		settle[i] = h.pass(ctx, l, r.Result)
	}
	var errs []error
	for i, r := range results {
		was, err := settle[i]()
		if was != "" {
			late = append(late, Late{r.Lease, was})
		}
		errs = append(errs, err)
	}
	return late, errors.Join(errs...)
}

// answer counts answers that are being journaled. With the last of them, all calls that follow from them exist.
func (h *Hub) answer(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.answering += n; h.answering == 0 {
		for t := range h.lingering {
			t.signal()
		}
	}
}

// pass passes one result to its run; the returned function waits until it is journaled. It counts even if the lease has run out, unless
// the call has another answer.
func (h *Hub) pass(ctx context.Context, l *lease, result call.Result) (settle func() (was string, err error)) {
	h.mu.Lock()
	r := h.calls[l.ID]
	known := r != nil && r.state != answering
	before := state(gone)
	if known {
		before, r.state = r.state, answering
		if r.holder != nil && r.number != l.number { // the result counts like one from the worker that has the call now
			h.notify(r, "answered by another worker")
		}
	}
	late := r == nil && result.Failure == nil && h.withdrawn.take(l.ID) // failures follow from the end of the attempt
	h.mu.Unlock()
	wait := h.engine.Answer(ctx, l.ID, result, late)
	return func() (was string, err error) {
		was, err = wait()
		h.mu.Lock()
		defer h.mu.Unlock()
		if err != nil && late { // the worker tries again
			h.withdrawn.add(l.ID, l.ring)
		}
		if known && err != nil && h.calls[l.ID] == r { // the worker tries again
			if r.state = before; before == offered || before == assigned {
				h.place(r)
			}
			return splitError(err)
		}
		if known {
			h.drop(r)
		}
		if err != nil {
			return splitError(err)
		}
		if now := h.calls[l.ID]; now != nil && now.state != answering { // the run was loaded for the answer, and has passed on the call
			h.drop(now)
		}
		return was, nil
	}
}

// drop forgets a call that has ended. The caller holds mu.
func (h *Hub) drop(r *request) {
	h.release(r)
	r.state = gone
	if h.calls[r.id] == r {
		delete(h.calls, r.id)
	}
}

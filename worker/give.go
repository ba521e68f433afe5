package worker

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sluiceflow/sluice/coordinator/workers/wire"
)

// Bounds of one delivery; the rest goes with the next.
const (
	deliveryMax      = 1000    // number of results, reports, texts and heartbeats, each
	deliveryBytesMax = 8 << 20 // after which no further result is added
)

// outbox holds results, reports, texts and heartbeats that wait to be delivered.
type outbox struct {
	results []wire.GiveResult
	reports []report
	logs    []wire.GiveLog
	alive   []string // leases of calls that go on
}

// report is a report that an operation waits for.
type report struct {
	wire.GiveReport
	done chan<- error
}

// send adds to the outbox.
func (w *worker) send(add func(*outbox)) {
	w.mu.Lock()
	add(&w.out)
	w.mu.Unlock()
	signal(w.wake)
}

// give delivers the outbox, and regularly a heartbeat for each call, until the worker has ended. It delivers again after an error.
func (w *worker) give() {
	beat := time.NewTicker(beatTime)
	defer beat.Stop()
	for {
		isBeat := false
		select {
		case <-w.life.Done():
			return
		case <-beat.C:
			isBeat = true
		case <-w.wake:
		}
		for g := w.next(isBeat); g != nil && w.life.Err() == nil; g = w.next(false) {
			w.deliver(g)
		}
	}
}

// next takes a delivery out of the outbox; nil: there is nothing to deliver. Heartbeats also go with other parts.
func (w *worker) next(isBeat bool) *outbox {
	w.mu.Lock()
	defer w.mu.Unlock()
	if (isBeat || !w.out.isEmpty()) && time.Since(w.beaten) >= beatTime/2 {
		w.beaten, w.out.alive = time.Now(), slices.Collect(maps.Keys(w.calls))
	}
	g := &outbox{}
	g.alive, w.out.alive = part(w.out.alive)
	g.reports, w.out.reports = part(w.out.reports)
	g.logs, w.out.logs = part(w.out.logs)
	n, size := 0, 0
	for n < min(len(w.out.results), deliveryMax) && size < deliveryBytesMax {
		size += len(w.out.results[n].Output)
		n++
	}
	g.results, w.out.results = w.out.results[:n:n], w.out.results[n:]
	if g.isEmpty() {
		return nil
	}
	return g
}

func (o *outbox) isEmpty() bool {
	return len(o.results)+len(o.reports)+len(o.logs)+len(o.alive) == 0
}

func part[T any](list []T) (now, later []T) {
	n := min(len(list), deliveryMax)
	return list[:n:n], list[n:]
}

// deliver sends a delivery until the server accepts it. A refused delivery is sent in pieces, so that only the refused pieces are lost.
func (w *worker) deliver(g *outbox) {
	for wait := (backoff{}); w.life.Err() == nil; wait.pause(w.life) {
		answer := wire.GiveAnswer{}
		err := w.post(w.life, "/v1/worker/give", w.body(g), &answer)
		switch {
		case err == nil:
			w.cancel(answer.Cancel)
			w.settle(g, answer.Late)
			return
		case isFinal(err) && len(g.results)+len(g.reports)+len(g.logs)+len(g.alive) > 1:
			for _, one := range g.pieces() {
				w.deliver(one)
			}
			return
		case isFinal(err):
			w.Logger.Error("the server refuses a delivery of the worker", "error", err)
			for _, r := range g.reports {
				r.done <- err
			}
			w.leave(g.results)
			return
		}
		w.Logger.Warn("the server takes no results; they are sent again", "error", err)
	}
}

// body returns a delivery in the form of its request.
func (w *worker) body(g *outbox) *wire.GiveBody {
	b := &wire.GiveBody{Worker: w.Name, Results: g.results, Log: g.logs, Alive: g.alive}
	for _, r := range g.reports {
		b.Reports = append(b.Reports, r.GiveReport)
	}
	return b
}

// settle answers the reports of operations, and frees the places of calls.
func (w *worker) settle(g *outbox, list []wire.LateLease) {
	late := map[string]string{}
	for _, l := range list {
		late[l.Lease] = l.Was
	}
	for _, r := range g.reports {
		if was, isLate := late[r.Lease]; isLate {
			r.done <- fmt.Errorf("%w: %s", ErrCancelled, was)
		} else {
			r.done <- nil
		}
	}
	w.leave(g.results)
	for lease, was := range late {
		w.mu.Lock()
		j := w.calls[lease]
		w.mu.Unlock()
		if j != nil {
			j.End(fmt.Errorf("%w: %s", ErrCancelled, was))
		}
	}
}

// pieces returns a delivery for each single result, report, text and heartbeat.
func (o *outbox) pieces() (list []*outbox) {
	for i := range o.logs {
		list = append(list, &outbox{logs: o.logs[i : i+1]})
	}
	for i := range o.reports {
		list = append(list, &outbox{reports: o.reports[i : i+1]})
	}
	for i := range o.results {
		list = append(list, &outbox{results: o.results[i : i+1]})
	}
	for i := range o.alive {
		list = append(list, &outbox{alive: o.alive[i : i+1]})
	}
	return list
}

package reactive

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/template/value"
)

// Digester is a Body that can say what it holds.
type Digester interface {
	// Digest writes everything that what it does next depends on. Instants are written relative to now.
	Digest(w io.Writer, now int64)
}

// Digest writes everything that what the run does next depends on, at an instant: two roots of one plan that write the same
// go on in the same way. What has only led there is left out: sequences, instants, and which of several failures was the
// first.
func (r *Root) Digest(w io.Writer, now int64) {
	fmt.Fprintf(w, "run %v %v %v %d %d;", r.Ledger.run.stopped, r.Ledger.run.above, r.Ledger.run.closed != nil, r.Ledger.tasks.pauses, r.Ledger.tasks.deciding)
	digestValue(w, r.Ledger.run.input)
	for _, v := range r.places.inOrder() {
		n := &r.Ledger.nodes[v]
		if n.status == Absent && n.fact == none {
			continue
		}
		fmt.Fprintf(w, "%s %d %d %d", r.Key(v), n.status, n.fact, n.flags&^queued)
		if !r.Final(v) { // how often a step was tried that has ended makes no difference to anybody
			fmt.Fprintf(w, " %d %d", n.attempt, n.count)
		}
		if n.fact != none {
			digestValue(w, n.output)
		}
		if n.failure != nil {
			fmt.Fprintf(w, " !%s", n.failure.Code)
		}
		if g := r.Ledger.fanOut.gathers[v]; g != nil {
			for _, d := range g.Dispatches() {
				fmt.Fprintf(w, " >%s %d %s", d.Participant, d.Attempt, d.State)
				digestValue(w, d.Output)
			}
		}
		if all := r.Ledger.reportLog.reports[v]; all != nil {
			digestValue(w, all.last)
		}
		if t := r.Ledger.tasks.tasks[v]; t != nil {
			fmt.Fprintf(w, " ?%s %d %v %v %v", t.state, t.asked, t.open, t.paused, t.wanted)
		}
		fmt.Fprint(w, ";")
	}
	for _, name := range slices.Sorted(maps.Keys(r.Ledger.mail.boxes)) {
		b := r.Ledger.mail.boxes[name]
		fmt.Fprintf(w, "mail %s", name)
		for _, req := range b.waits { // the oldest is served first
			fmt.Fprintf(w, " <%s", r.Key(req.Node))
		}
		for _, m := range b.messages {
			digestValue(w, m.payload)
		}
	}
	r.Ledger.timers.digestTimers(w, now)
	if d, ok := r.body.(Digester); ok {
		d.Digest(w, now)
	}
}

// digestTimers writes the timers in the order in which they go.
func (ts *timers) digestTimers(w io.Writer, now int64) {
	list := slices.DeleteFunc(slices.Clone(ts.l.timers.heap), func(t timer) bool { return !ts.alive(t) })
	slices.SortFunc(list, func(a, b timer) int {
		switch {
		case ts.earlier(a, b):
			return -1
		case ts.earlier(b, a):
			return 1
		}
		return 0
	})
	same := func(a, b timer) bool { return a.kind == b.kind && a.node == b.node && a.due == b.due }
	for _, t := range slices.CompactFunc(list, same) { // the second means nothing once the first has come
		key := ""
		if t.node >= 0 {
			key = ts.l.host.Key(t.node)
		}
		fmt.Fprintf(w, "timer %d %s %d;", t.kind, key, t.due-now)
	}
}

func digestValue(w io.Writer, v any) {
	text, err := value.JSON(v)
	if err != nil {
		text = []byte(err.Error())
	}
	fmt.Fprintf(w, " %s", text)
}

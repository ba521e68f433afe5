package ledger

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/template/value"
)

// Digest writes the state that determines the future of the ledger, at an instant. order is the order of the nodes.
func (k Keeper) Digest(w io.Writer, order []int32, now int64) {
	fmt.Fprintf(w, "run %v %v %v %d %d;", k.run.stopped, k.run.above, k.run.closed != nil, k.tasks.pauses, k.tasks.deciding)
	digestValue(w, k.run.input)
	for _, v := range order {
		n := &k.nodes[v]
		if n.Status == Absent && n.Fact == NoFact {
			continue
		}
		fmt.Fprintf(w, "%s %d %d %d", k.host.Key(v), n.Status, n.Fact, n.Flags&^Queued)
		if !k.Final(v) { // the attempts of an ended step make no difference
			fmt.Fprintf(w, " %d %d", n.Attempt, n.count)
		}
		if key := k.keys[k.host.Key(v)]; key != "" {
			fmt.Fprintf(w, " #%s", key)
		}
		if n.Fact != NoFact {
			digestValue(w, n.Output)
		}
		if n.Failure != nil {
			fmt.Fprintf(w, " !%s", n.Failure.Code)
		}
		if g := k.fanOut.gathers[v]; g != nil {
			for _, d := range g.Dispatches() {
				fmt.Fprintf(w, " >%s %d %s", d.Participant, d.Attempt, d.State)
				digestValue(w, d.Output)
			}
		}
		if all := k.reportLog.reports[v]; all != nil {
			digestValue(w, all.last)
		}
		if t := k.tasks.tasks[v]; t != nil {
			fmt.Fprintf(w, " ?%s %d %v %v %v", t.state, t.asked, t.open, t.paused, t.wanted)
		}
		fmt.Fprint(w, ";")
	}
	for _, name := range slices.Sorted(maps.Keys(k.mail.boxes)) {
		b := k.mail.boxes[name]
		fmt.Fprintf(w, "mail %s", name)
		for _, req := range b.waits { // in order: the oldest is served first
			fmt.Fprintf(w, " <%s", k.host.Key(req.Node))
		}
		for _, m := range b.messages {
			digestValue(w, m.payload)
		}
	}
	k.keptLog.digest(w)
	k.timers.digestTimers(w, now)
}

// digestTimers writes the timers in the order in which they fire.
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
	for _, t := range slices.CompactFunc(list, same) { // the second has no effect after the first
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

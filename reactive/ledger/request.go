package ledger

import (
	"net/url"
	"strconv"

	"github.com/sluiceflow/sluice/template/plan"
)

// Request identifies a call to make or to cancel: of a step, of one participant of a step, or of a decision source.
type Request struct {
	Node        int32  // row
	Attempt     int32  // from 1
	Use         int32  // in a routed run: number of the call that has the node, from 1; else 0
	Decision    int32  // number of a call to the step's decision source; 0: a call of the step itself
	Participant string // participant of the call; "": none
}

// Request identifies an attempt of a node.
func (l *Ledger) Request(v, attempt int32) Request {
	req := Request{Node: v, Attempt: attempt}
	if l.reused {
		req.Use, _ = l.host.Use(v)
	}
	return req
}

func (q Request) asking(participant string) Request {
	q.Participant = participant
	return q
}

func (q Request) deciding(number int32) Request {
	q.Decision = number
	return q
}

// RequestName returns the public name of a request, for journals, interfaces and operations.
func RequestName(key string, attempt int32) string {
	return key + "#" + strconv.Itoa(int(attempt))
}

// CallName returns the public name of a call: the name of its request, followed by the participant or by the number of the
// call to the step's decision source.
func CallName(key string, attempt int32, participant string, decision int32) string {
	name := RequestName(key, attempt)
	if participant != "" {
		name += ":" + url.PathEscape(participant)
	}
	if decision != 0 {
		name += "?" + strconv.Itoa(int(decision))
	}
	return name
}

// TakeCancels returns the calls to stop since the last TakeCancels, because their attempts were closed from outside.
func (l *Ledger) TakeCancels() []Request {
	c := l.cancels
	l.cancels = nil
	return c
}

// TakeCalls returns the calls to participants and decision sources to make since the last TakeCalls.
func (l *Ledger) TakeCalls() []Request {
	c := l.toMake
	l.toMake = nil
	return c
}

// openCalls appends the open calls of a node.
func (l *Ledger) openCalls(calls []Request, v int32) []Request {
	n := &l.nodes[v]
	if t := l.tasks.tasks[v]; t != nil && t.open {
		calls = append(calls, l.Request(v, n.Attempt).deciding(t.asked))
	}
	row := l.Row(v)
	if n.Fact != Requested || row.Kind != plan.Step || row.OpKind != plan.Call || n.Status == Absent {
		return calls
	}
	if !row.Asks {
		return append(calls, l.Request(v, n.Attempt))
	}
	for _, p := range l.fanOut.gathers[v].Waiting() {
		calls = append(calls, l.Request(v, n.Attempt).asking(p))
	}
	return calls
}

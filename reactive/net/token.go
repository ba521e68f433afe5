package net

import (
	"container/heap"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/routed"

	"github.com/sluiceflow/sluice/reactive/net/gate"
	"github.com/sluiceflow/sluice/template/value"
)

// token is a unit of control on its way to a step.
type token struct {
	id      uint64 // order of creation, from 1
	step    int
	args    map[string]value.Value
	event   value.Value  // end of the step that it comes from; nil: from outside
	group   *group       // innermost fan-out that it belongs to; nil: none. A held token has left it
	arc     int          // index of the arc by which its branch left the router of that fan-out
	from    string       // the step that it comes from
	status  string       // of its source step: done or failed
	ref     string       // key of the step-run that it comes from
	origins []string     // keys of the step-runs that it comes from: several if a join created it
	verdict gate.Verdict // newest verdict of its step's admission
	since   uint64       // sequence of the event that put it in its place
}

// tokens is a queue of tokens, oldest first.
type tokens []*token

func (q tokens) Len() int           { return len(q) }
func (q tokens) Less(i, j int) bool { return q[i].id < q[j].id }
func (q tokens) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *tokens) Push(x any)        { *q = append(*q, x.(*token)) }

// Pop implements heap.Interface.
func (q *tokens) Pop() any {
	old := *q
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return t
}

func (q *tokens) add(t *token) { heap.Push(q, t) }
func (q *tokens) pop() *token  { return heap.Pop(q).(*token) }

// tokenWork is the work of a token: with its place at a gate or a join, it takes one or two kilobytes, and tokens multiply in a net
// in which every step leads to many.
const tokenWork = 100

// put adds a token: it becomes ready, waits at its step's gate, or is held at its join.
func (n *Net) put(t *token) {
	n.token++
	t.id, t.since = n.token, n.event.Seq
	n.root.Meter().Add(tokenWork)
	n.emit(routed.View{Name: routed.TokenEnqueued, Step: n.book.Steps[t.step].Name, Token: t.id})
	if n.book.Steps[t.step].Join != nil && n.final == finalNone {
		n.fanOuts.hold(t)
		return
	}
	n.admit(t)
}

// admit judges a token by its step's admission.
func (n *Net) admit(t *token) {
	s := &n.steps[t.step]
	admit := n.book.Steps[t.step].Admit
	if admit != nil && admit.Coalesce && s.pending > 0 {
		n.fanOuts.leave(t.group) // merged into the waiting token
		return
	}
	t.verdict = admission{n}.Judge(t)
	n.emitVerdict(t)
	switch {
	case t.verdict.Allow:
		n.enable(t)
	case n.refused(t):
		n.discard(t)
	default:
		n.addPending(t)
	}
}

// refused reports whether a denied token must be discarded. A token with rules that could not be evaluated is not denied yet.
func (n *Net) refused(t *token) bool {
	return n.book.Steps[t.step].Admit.Discard && !t.verdict.Allow && t.verdict.Err == ""
}

// discard ends the branch of a token.
func (n *Net) discard(t *token) {
	n.tally.discarded++
	n.branchEnded(t.group, branchDiscarded)
}

// enable makes a token ready.
func (n *Net) enable(t *token) {
	n.touch(t.step).ready++
	n.ready.add(t)
}

// Ready reports whether there is an admitted token.
func (n *Net) Ready() bool { return n.ready.Len() > 0 && !n.stopped }

// Next returns the event that schedules a step-run for the oldest admitted token.
func (n *Net) Next(int64) (journal.Event, bool) {
	if !n.Ready() {
		return journal.Event{}, false
	}
	t := n.ready[0]
	return journal.Event{Type: journal.StepScheduled, Node: key(n.book.Steps[t.step].Name, n.steps[t.step].runs+1)}, true
}

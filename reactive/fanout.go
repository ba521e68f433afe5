package reactive

import (
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

// gather is the gathering of a step that asks participants; nil for any other.
func (r *Root) gather(v int32) *call.Gather {
	if !r.row(v).Asks {
		return nil
	}
	g := r.gathers[v]
	if g == nil {
		g = call.NewGather(r.node(v).Step.FanIn)
		r.gathers[v] = g
	}
	return g
}

// asksAll reports whether a retry of the step asks everyone again.
func (r *Root) asksAll(v int32) bool {
	t := r.node(v).Timing
	return t != nil && t.Retry != nil && t.Retry.Scope == template.ScopeAll
}

// Lacking are those of the participants to whom a step's next attempt has to turn: the ones without a usable answer, each
// once.
func (r *Root) Lacking(v int32, participants []string) []string {
	return r.gather(v).Lacking(participants, r.asksAll(v))
}

// Dispatches are the requests of a step to its participants, of all attempts; nil when it asks nobody in particular. The
// slice belongs to the root.
func (r *Root) Dispatches(v int32) []call.Dispatch {
	if g := r.gathers[v]; g != nil {
		return g.Dispatches()
	}
	return nil
}

// beginGather starts asking.
func (r *Root) beginGather(v int32, e *journal.Event) {
	g := r.gather(v)
	if g == nil {
		return
	}
	var participants []string
	if e.Detail != nil {
		participants = e.Detail.Participants
	}
	g.Begin(e.Attempt, participants, e.At, r.asksAll(v))
	for _, p := range g.Waiting() {
		r.calls = append(r.calls, Request{Node: v, Attempt: e.Attempt, Participant: p})
	}
	r.judge(v, e)
}

// foldAnswered takes how one dispatch of a step ended, and decides the step if that is enough.
func (r *Root) foldAnswered(v int32, e *journal.Event) Outcome {
	g := r.gather(v)
	n := &r.nodes[v]
	if g == nil || n.fact != running || e.Attempt != n.attempt {
		return Late
	}
	state, failure := call.Responded, e.Detail.Failure
	switch {
	case e.Type == journal.DispatchSettled:
		state = call.State(e.Detail.State)
	case e.Type == journal.CallError:
		state = call.Failed
	}
	if !g.Settle(e.Detail.Participant, e.Attempt, state, e.Value, failure, e.At) {
		return Late
	}
	r.judge(v, e)
	return Applied
}

// foldAsked takes that a further participant was asked.
func (r *Root) foldAsked(v int32, e *journal.Event) Outcome {
	g := r.gather(v)
	n := &r.nodes[v]
	if g == nil || n.fact != running || e.Attempt != n.attempt || g.Open(e.Detail.Participant, e.Attempt) {
		return Late
	}
	g.Ask(e.Detail.Participant, e.At)
	r.calls = append(r.calls, Request{Node: v, Attempt: e.Attempt, Participant: e.Detail.Participant})
	r.hedge(v)
	return Applied
}

// judge ends the attempt when the answers decide it.
func (r *Root) judge(v int32, e *journal.Event) {
	g := r.gather(v)
	waiting := g.Waiting()
	out, ok := g.Judge()
	if !ok {
		r.hedge(v)
		return
	}
	for _, p := range waiting {
		r.cancels = append(r.cancels, Request{Node: v, Attempt: r.nodes[v].attempt, Participant: p})
	}
	r.gathered(v, out, e)
}

// gathered ends an attempt with what was gathered.
func (r *Root) gathered(v int32, out call.Outcome, e *journal.Event) {
	n := &r.nodes[v]
	if out.Failure != nil {
		r.failAttempt(v, out.Failure, e)
	} else {
		r.complete(v, out.Output, e)
	}
	if n.fact != responded {
		n.output = nil
	}
	r.bank.Mark(v)
}

// hedge has the next participant asked: at once, or when it is time.
func (r *Root) hedge(v int32) {
	p, due, ok := r.gather(v).Next()
	switch {
	case !ok:
	case due == 0:
		r.hedges = append(r.hedges, Request{Node: v, Attempt: r.nodes[v].attempt, Participant: p})
	default:
		r.timers.add(timer{due: due, kind: hedgeTimer, node: v, attempt: r.nodes[v].attempt})
	}
}

// NextHedge is the next participant who is to be asked at once, because nobody's answer is waited for any more. It is
// forgotten by the call.
func (r *Root) NextHedge() (Request, bool) {
	for len(r.hedges) > 0 {
		h := r.hedges[0]
		r.hedges = r.hedges[1:]
		if n := &r.nodes[h.Node]; n.fact != running || n.attempt != h.Attempt || r.run.closed != nil {
			continue
		}
		if p, due, ok := r.gather(h.Node).Next(); ok && due == 0 && p == h.Participant {
			return h, true
		}
	}
	return Request{}, false
}

// closeGather ends the asking of an attempt that was ended by something else: by its time, or from outside.
func (r *Root) closeGather(v int32, expired bool) {
	g := r.gathers[v]
	if g == nil {
		return
	}
	for _, p := range g.Waiting() {
		r.cancels = append(r.cancels, Request{Node: v, Attempt: r.nodes[v].attempt, Participant: p})
	}
	if expired {
		g.Expire()
	} else {
		g.Close()
	}
}

// foldWindow takes the end of a best_of's window.
func (r *Root) foldWindow(v int32, e *journal.Event) Outcome {
	g := r.gather(v)
	n := &r.nodes[v]
	if g == nil || n.fact != running || e.Attempt != n.attempt || !g.Succeeds() {
		return Late
	}
	for _, p := range g.Waiting() {
		r.cancels = append(r.cancels, Request{Node: v, Attempt: n.attempt, Participant: p})
	}
	r.gathered(v, g.Expire(), e)
	return Applied
}

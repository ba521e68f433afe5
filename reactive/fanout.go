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
	if out, ok := g.Judge(); ok {
		r.gathered(v, out, e)
		return // there are too few to ask, so nobody is
	}
	r.hedge(v)
	for _, p := range g.Waiting() {
		r.calls = append(r.calls, r.Request(v, e.Attempt).asking(p))
	}
}

// foldAnswered takes how one dispatch of a step ended, and decides the step if that is enough.
func (r *Root) foldAnswered(v int32, e *journal.Event) Outcome {
	g := r.gather(v)
	n := &r.nodes[v]
	if g == nil || n.fact != running || e.Attempt != n.attempt {
		return Late
	}
	state, failure := settled(e)
	if !g.Settle(e.Detail.Participant, e.Attempt, state, e.Value, failure, receivedAt(e)) {
		return Late
	}
	r.judge(v, e)
	return Applied
}

// settled is how an event ends a dispatch. One that was stopped gave nothing, as one that failed.
func settled(e *journal.Event) (call.State, *journal.Failure) {
	switch e.Type {
	case journal.CallResponded, journal.CallCompleted:
		return call.Responded, nil
	case journal.DispatchSettled:
		if state := call.State(e.Detail.State); state != call.Failed {
			return state, e.Detail.Failure
		}
	case journal.CallAborted:
		return call.Failed, e.FailureOr(CodeAborted)
	}
	return call.Failed, e.FailureOr("error")
}

// receivedAt is when what an event tells came in, Unix nanoseconds.
func receivedAt(e *journal.Event) int64 {
	if e.Detail != nil && e.Detail.Received > 0 {
		return e.Detail.Received
	}
	return e.At
}

// foldAsked takes that a further participant was asked.
func (r *Root) foldAsked(v int32, e *journal.Event) Outcome {
	g := r.gather(v)
	n := &r.nodes[v]
	if g == nil || n.fact != running || e.Attempt != n.attempt || !g.Ask(e.Detail.Participant, e.At) {
		return Late
	}
	r.calls = append(r.calls, r.Request(v, e.Attempt).asking(e.Detail.Participant))
	r.hedge(v)
	return Applied
}

// judge ends the attempt when the answers decide it.
func (r *Root) judge(v int32, e *journal.Event) {
	out, ok := r.gather(v).Judge()
	if !ok {
		r.hedge(v)
		return
	}
	r.cancelDropped(v)
	r.gathered(v, out, e)
}

// cancelDropped has the calls stopped whose answers the end of an attempt has made useless.
func (r *Root) cancelDropped(v int32) {
	for _, p := range r.gathers[v].Dropped() {
		r.cancels = append(r.cancels, r.Request(v, r.nodes[v].attempt).asking(p))
	}
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
		r.hedges = append(r.hedges, r.Request(v, r.nodes[v].attempt).asking(p))
	default:
		r.addTimer(timer{due: due, kind: hedgeTimer, node: v, attempt: r.nodes[v].attempt})
	}
}

// NextHedge is the next participant who is to be asked at once, because nobody's answer is waited for any more. It is
// forgotten by the call.
func (r *Root) NextHedge() (Request, bool) {
	for len(r.hedges) > 0 {
		h := r.hedges[0]
		r.hedges = r.hedges[1:]
		if n := &r.nodes[h.Node]; n.fact != running || n.attempt != h.Attempt || h.Cell != r.Request(h.Node, 0).Cell || r.run.closed != nil {
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
	if expired {
		g.Expire(r.at)
	} else {
		g.Close(r.at)
	}
	r.cancelDropped(v)
}

// foldWindow takes the end of a best_of's window.
func (r *Root) foldWindow(v int32, e *journal.Event) Outcome {
	g := r.gather(v)
	n := &r.nodes[v]
	if g == nil || n.fact != running || e.Attempt != n.attempt || !g.Succeeds() {
		return Late
	}
	out := g.Expire(r.at)
	r.cancelDropped(v)
	r.gathered(v, out, e)
	return Applied
}

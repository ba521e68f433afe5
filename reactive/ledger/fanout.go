package ledger

import (
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

// fanOut records the participants that steps have asked, and their answers.
type fanOut struct {
	l       *Ledger
	gathers map[int32]*call.Gather
	hedges  []Request // to participants to ask at once
}

// gather returns the Gather of a step that asks participants, or nil.
func (f *fanOut) gather(v int32) *call.Gather {
	if !f.l.Row(v).Asks {
		return nil
	}
	g := f.gathers[v]
	if g == nil {
		g = call.NewGather(f.l.Place(v).Step.FanIn)
		f.gathers[v] = g
	}
	return g
}

// asksAll reports whether a retry of the step asks all participants again.
func (f *fanOut) asksAll(v int32) bool {
	t := f.l.Place(v).Timing
	return t != nil && t.Retry != nil && t.Retry.Scope == template.ScopeAll
}

// Lacking returns the participants that a step's next attempt asks: those without a usable answer, each once.
func (f *fanOut) Lacking(v int32, participants []string) []string {
	return f.gather(v).Lacking(participants, f.asksAll(v))
}

// Dispatches returns the requests of a step to its participants, of all attempts, or nil if it has no participants. The slice
// belongs to the root.
func (f *fanOut) Dispatches(v int32) []call.Dispatch {
	if g := f.gathers[v]; g != nil {
		return g.Dispatches()
	}
	return nil
}

// beginGather starts asking participants.
func (f *fanOut) beginGather(v int32, e *journal.Event) {
	g := f.gather(v)
	if g == nil {
		return
	}
	var participants []string
	if e.Detail != nil {
		participants = e.Detail.Participants
	}
	g.Begin(e.Attempt, participants, e.At, f.asksAll(v))
	if out, ok := g.Judge(); ok {
		f.gathered(v, out, e)
		return // there are too few participants
	}
	f.hedge(v)
	for _, p := range g.Waiting() {
		f.l.toMake = append(f.l.toMake, f.l.Request(v, e.Attempt).asking(p))
	}
}

// foldAnswered records the end of one dispatch of a step, and ends the attempt if that decides it.
func (f *fanOut) foldAnswered(v int32, e *journal.Event) Effect {
	g := f.gather(v)
	n := &f.l.nodes[v]
	if g == nil || n.Fact != Requested || e.Attempt != n.Attempt {
		return Late
	}
	state, failure := settled(e)
	if !g.Settle(e.Detail.Participant, e.Attempt, state, e.Value, failure, receivedAt(e)) {
		return Late
	}
	f.judge(v, e)
	return Applied
}

// settled returns the state of a dispatch after an event that ends it. A stopped dispatch has no output, like a failed one.
func settled(e *journal.Event) (call.State, *journal.Failure) {
	switch e.Type {
	case journal.CallResponded, journal.CallCompleted:
		return call.Responded, nil
	case journal.DispatchSettled:
		if state := call.State(e.Detail.State); state != call.Failed {
			return state, e.Detail.Failure
		}
	case journal.CallAborted:
		return call.Failed, e.FailureOr(call.CodeAborted)
	}
	return call.Failed, e.FailureOr("error")
}

// receivedAt returns the instant at which the content of an event was received, Unix nanoseconds.
func receivedAt(e *journal.Event) int64 {
	if e.Detail != nil && e.Detail.Received > 0 {
		return e.Detail.Received
	}
	return e.At
}

// foldAsked records that a further participant was asked.
func (f *fanOut) foldAsked(v int32, e *journal.Event) Effect {
	g := f.gather(v)
	n := &f.l.nodes[v]
	if g == nil || n.Fact != Requested || e.Attempt != n.Attempt || !g.Ask(e.Detail.Participant, e.At) {
		return Late
	}
	f.l.toMake = append(f.l.toMake, f.l.Request(v, e.Attempt).asking(e.Detail.Participant))
	f.hedge(v)
	return Applied
}

// judge ends the attempt if the answers decide it.
func (f *fanOut) judge(v int32, e *journal.Event) {
	out, ok := f.gather(v).Judge()
	if !ok {
		f.hedge(v)
		return
	}
	f.cancelDropped(v)
	f.gathered(v, out, e)
}

// cancelDropped stops the calls whose answers are no longer needed after the end of an attempt.
func (f *fanOut) cancelDropped(v int32) {
	for _, p := range f.gathers[v].Dropped() {
		f.l.cancels = append(f.l.cancels, f.l.Request(v, f.l.nodes[v].Attempt).asking(p))
	}
}

// gathered ends an attempt with the result of its Gather.
func (f *fanOut) gathered(v int32, out call.Result, e *journal.Event) {
	n := &f.l.nodes[v]
	if out.Failure != nil {
		f.l.failAttempt(v, out.Failure, e)
	} else {
		f.l.tasks.complete(v, out.Output, e)
	}
	if n.Fact != Responded {
		n.Output = nil
	}
	f.l.bank.Mark(v)
}

// hedge requests the next participant: at once, or with a timer.
func (f *fanOut) hedge(v int32) {
	p, due, ok := f.gather(v).Next()
	switch {
	case !ok:
	case due == 0:
		f.hedges = append(f.hedges, f.l.Request(v, f.l.nodes[v].Attempt).asking(p))
	default:
		f.l.timers.addTimer(timer{due: due, kind: hedgeTimer, node: v, attempt: f.l.nodes[v].Attempt})
	}
}

// NextHedge returns and removes the next participant to ask at once, because no answer is outstanding.
func (f *fanOut) NextHedge() (Request, bool) {
	for len(f.hedges) > 0 {
		h := f.hedges[0]
		f.hedges = f.hedges[1:]
		if n := &f.l.nodes[h.Node]; n.Fact != Requested || n.Attempt != h.Attempt || h.Use != f.l.Request(h.Node, 0).Use || f.l.run.closed != nil {
			continue
		}
		if p, due, ok := f.gather(h.Node).Next(); ok && due == 0 && p == h.Participant {
			return h, true
		}
	}
	return Request{}, false
}

// closeGather closes the Gather of an attempt that ended by its timeout (expired) or from outside.
func (f *fanOut) closeGather(v int32, expired bool) {
	g := f.gathers[v]
	if g == nil {
		return
	}
	if expired {
		g.Expire(f.l.at)
	} else {
		g.Close(f.l.at)
	}
	f.cancelDropped(v)
}

// foldWindow records the end of a best_of's window.
func (f *fanOut) foldWindow(v int32, e *journal.Event) Effect {
	g := f.gather(v)
	n := &f.l.nodes[v]
	if g == nil || n.Fact != Requested || e.Attempt != n.Attempt || !g.Succeeds() {
		return Late
	}
	out := g.Expire(f.l.at)
	f.cancelDropped(v)
	f.gathered(v, out, e)
	return Applied
}

// WaitsFor returns the participants of a running step that have not answered. It reports false for a step without participants.
func (f *fanOut) WaitsFor(v int32) (asked bool, waiting []string) {
	g := f.gathers[v]
	if g == nil {
		return false, nil
	}
	return true, g.Waiting()
}

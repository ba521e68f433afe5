package reactive

import (
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
)

// fold takes an event into the facts and marks what has to be derived anew. What depends on the order of history is
// decided here and nowhere else.
func (r *Root) fold(e *journal.Event) Outcome {
	switch e.Type {
	case journal.RunStarted:
		return r.foldStarted(e)
	case journal.RunFinished:
		kept := *e
		r.run.finished = &kept
		return Applied
	case journal.RunPaused, journal.RunResumed:
		return r.foldPause(e)
	case journal.MessageReceived:
		return r.foldMessage(e)
	case journal.RunReopened:
		return r.foldReopened()
	}
	if r.run.closed != nil {
		return Late
	}
	switch e.Type {
	case journal.RunCancelled, journal.RunClosed, journal.RunDeadlineExceeded:
		return r.foldClosed(e)
	}
	v := r.resolve(e)
	if v < 0 && r.body != nil {
		return Late // its call is over, or it is about what the body alone knows of
	}
	if v < 0 {
		return r.foldLoose(e)
	}
	if e.Type == journal.NodeAborted {
		return r.foldAborted(v, e)
	}
	switch r.row(v).Kind {
	case plan.Step:
		return r.foldStep(v, e)
	case plan.Gate, plan.Map:
		if e.Type == journal.BranchDecided || e.Type == journal.MapExpanded {
			return r.foldAnswer(v, e)
		}
	}
	return r.foldLoose(e)
}

// foldPause begins or ends one cause of a pause.
func (r *Root) foldPause(e *journal.Event) Outcome {
	cause := &r.run.stopped
	if e.Detail != nil && e.Detail.Cause != "" {
		cause = &r.run.above
	}
	paused := e.Type == journal.RunPaused
	if *cause == paused || r.run.closed != nil {
		return Late
	}
	*cause = paused
	return Applied
}

// foldStep takes an event about a step.
func (r *Root) foldStep(v int32, e *journal.Event) Outcome {
	switch e.Type {
	case journal.CallRequested:
		return r.foldRequested(v, e)
	case journal.CallResponded, journal.CallError, journal.CallAborted, journal.CallCompleted, journal.CallSkipped:
		if e.Detail != nil && e.Detail.Participant != "" {
			return r.foldAnswered(v, e)
		}
		return r.foldEnd(v, e)
	case journal.DispatchCreated:
		return r.foldAsked(v, e)
	case journal.DispatchSettled:
		return r.foldAnswered(v, e)
	case journal.DecisionRequested:
		return r.foldDecisionRequested(v, e)
	case journal.DecisionReceived, journal.DecisionOverridden:
		return r.foldDecision(v, e)
	case journal.StepFailed:
		return r.foldStepFailed(v, e)
	case journal.TimerFired:
		return r.foldTimer(v, e)
	case journal.CallReported:
		return r.foldReported(v, e)
	case journal.NodeRetried:
		return r.foldRetried(v, e)
	}
	return Unbound
}

// resolve finds the node an event is about; -1: none. The hint spares the lookup for events made in this process.
func (r *Root) resolve(e *journal.Event) int32 {
	if v := e.Hint - 1; v >= 0 && v < r.Len() && r.nodes[v].status != Absent && (r.cells == nil || r.cells.of(v).key == e.Node) {
		return v
	}
	v, ok := r.Node(e.Node)
	if !ok {
		return -1
	}
	e.Hint = v + 1
	return v
}

// foldStarted wakes the rows that wait for nothing.
func (r *Root) foldStarted(e *journal.Event) Outcome {
	if r.run.start != nil {
		return Duplicate
	}
	r.run.start, r.run.input, r.run.started = e.Detail.Start, e.Value, e.At
	for row := range r.plan.Nodes {
		v := int32(row)
		if r.nodes[v].status != Absent && r.bank.Count(v, plan.Unsettled) == 0 {
			r.bank.Mark(v)
		}
	}
	return Applied
}

// foldRequested begins an attempt, whatever the node's status was: the journal is the truth about calls.
func (r *Root) foldRequested(v int32, e *journal.Event) Outcome {
	n := &r.nodes[v]
	req := request{v, e.Attempt}
	if n.attempt == e.Attempt || r.older[req] != nil {
		return Duplicate
	}
	r.wake(v)
	if n.attempt != 0 {
		r.older[request{v, n.attempt}] = &attempt{open: n.fact == running, status: n.status}
	}
	r.stopWaiting(v)
	r.dropTask(v)
	delete(r.reports, v)
	n.attempt, n.fact, n.output, n.failure = e.Attempt, running, e.Value, nil
	n.count++
	n.flags &^= aborted | pending | retryDue | cascade | expired
	r.markStarted(v)
	if r.cells != nil {
		r.cells.of(v).asked = e.Seq
	}
	r.arm(v, e)
	r.beginGather(v, e)
	r.bank.Mark(v)
	if r.row(v).Feeds {
		r.tellGates(v, v)
	}
	if l := r.loose[looseRequest{e.Node, e.Attempt}]; l != nil && l.end != nil {
		delete(r.loose, looseRequest{e.Node, e.Attempt})
		r.foldEnd(v, l.end)
	}
	return Applied
}

// markStarted tells the gates and maps around v that something inside them was requested: from then on a gate's
// decision is frozen, and a map's items stand.
func (r *Root) markStarted(v int32) {
	for v >= 0 {
		n := r.row(v)
		around := int32(-1)
		switch {
		case n.Gate >= 0:
			around = r.beside(v, n.Gate)
			g := &r.nodes[around]
			if g.has(started) {
				return
			}
			g.flags |= started
			if g.fact != none {
				g.flags |= frozen
			}
		case n.Map >= 0:
			around = r.blocks[r.nodes[v].block].owner
			if r.nodes[around].has(started) {
				return
			}
			r.nodes[around].flags |= started
		}
		v = around
	}
}

// foldEnd ends an attempt. The first end of a request wins, and only the newest attempt of a node counts.
func (r *Root) foldEnd(v int32, e *journal.Event) Outcome {
	n := &r.nodes[v]
	if e.Attempt != n.attempt {
		return r.foldOlder(v, e)
	}
	if n.fact != running && !(n.has(pending) && e.Type == journal.CallSkipped) {
		return Late
	}
	timedOut := byTimer(e) && e.Type != journal.CallResponded
	switch {
	case n.fact == running && r.row(v).Asks:
		r.closeGather(v, timedOut)
	case n.fact == running && timedOut:
		r.cancel(v)
	}
	n.output = nil
	switch e.Type {
	case journal.CallResponded:
		r.complete(v, e.Value, e)
	case journal.CallCompleted:
		r.complete(v, nil, e)
	case journal.CallAborted:
		n.fact, n.failure = stopped, failureOf(e, CodeAborted)
		r.fails = append(r.fails, v)
	case journal.CallSkipped:
		n.fact, n.failure = dropped, failureOf(e, CodeTimeout)
		r.stopWaiting(v)
		n.flags &^= pending | retryDue
	case journal.CallError:
		if timedOut {
			n.flags |= expired
		}
		r.failAttempt(v, failureOf(e, "error"), e)
	}
	r.bank.Mark(v)
	return Applied
}

// failAttempt ends an attempt with a failure: for good, or until its retry.
func (r *Root) failAttempt(v int32, failure *journal.Failure, e *journal.Event) {
	n := &r.nodes[v]
	n.fact, n.failure = errored, failure
	again, ok := r.policy(v).Again(r.ended(v, e))
	if !ok {
		r.fails = append(r.fails, v)
		return
	}
	n.flags |= pending
	r.addTimer(timer{due: again, kind: retryTimer, node: v, attempt: n.attempt})
}

// foldOlder keeps the end of an attempt that is not the newest, or that has not been requested yet.
func (r *Root) foldOlder(v int32, e *journal.Event) Outcome {
	req := request{v, e.Attempt}
	if old := r.older[req]; old != nil {
		old.open = false
		return Late
	}
	return r.foldLoose(e)
}

// foldStepFailed fails a node without a request, or ends its waiting for a retry.
func (r *Root) foldStepFailed(v int32, e *journal.Event) Outcome {
	n := &r.nodes[v]
	if n.status == Running || n.status.Terminal() && !n.has(pending) {
		return Late
	}
	n.fact, n.failure = errored, failureOf(e, CodeInputResolution)
	r.stopWaiting(v)
	n.flags &^= pending | retryDue | expired
	if byTimer(e) {
		n.flags |= expired
	}
	r.fails = append(r.fails, v)
	r.markStarted(v)
	r.bank.Mark(v)
	return Applied
}

// byTimer reports whether an event is the consequence of a timer of the engine's. What an operation says is data, also
// when it calls its error a timeout.
func byTimer(e *journal.Event) bool { return e.Detail != nil && e.Detail.Due > 0 }

// foldAborted stops one node. A terminal one stays as it is.
func (r *Root) foldAborted(v int32, e *journal.Event) Outcome {
	if r.Final(v) {
		return Duplicate
	}
	r.abort(v, failureOf(e, CodeAborted))
	return Applied
}

// abort closes a node's open attempt, or, if it has none, the node as it stands. A failed node whose retry was to come
// stays failed, now for good; a completed one whose task is not decided is aborted. A map takes its unfinished items with
// it, a conditional its branches.
func (r *Root) abort(v int32, why *journal.Failure) {
	n := &r.nodes[v]
	switch {
	case n.has(held):
		r.dropTask(v)
		r.stopWaiting(v)
		n.flags &^= pending | retryDue
		n.fact, n.failure, n.output = stopped, why, nil
		r.fails = append(r.fails, v)
	case n.has(pending):
		n.flags &^= pending | retryDue
		r.stopWaiting(v)
		r.fails = append(r.fails, v)
	case n.fact == running:
		r.cancel(v)
		n.fact, n.failure = stopped, why
		r.fails = append(r.fails, v)
	default:
		n.flags |= aborted
		n.failure = why
		r.fails = append(r.fails, v)
	}
	r.bank.Mark(v)
	if x := r.maps[v]; x != nil && n.has(expanded) {
		r.abortItems(x, why)
	}
}

// cancel asks the shell to stop a call whose attempt was closed by anything but its own end.
func (r *Root) cancel(v int32) {
	if r.row(v).Asks {
		r.closeGather(v, false)
		return
	}
	r.cancels = append(r.cancels, r.Request(v, r.nodes[v].attempt))
}

// foldRetried makes a node a candidate for another attempt, whatever it has ended as. Where the work is answered and the
// decision about it is open, the decision is asked for again, unless the work is to be repeated.
func (r *Root) foldRetried(v int32, e *journal.Event) Outcome {
	n := &r.nodes[v]
	switch {
	case r.Undecided(v) && (e.Detail == nil || !e.Detail.Work):
		return r.askAgain(v)
	case r.Undecided(v):
		r.stopAsking(v)
	case !r.Retryable(v):
		return Late
	}
	delete(r.timers.first, v) // what a person asks for has its whole time
	n.flags |= pending | retryDue
	r.resumeMaps(v)
	r.want(v)
	r.bank.Mark(v)
	return Applied
}

// resumeMaps has the maps around a node go on that were aborted: something in them is to be done again.
func (r *Root) resumeMaps(v int32) {
	for b := r.nodes[v].block; b != 0; b = r.nodes[v].block {
		v = r.blocks[b].owner
		r.nodes[v].flags &^= aborted | cascade
		r.bank.Mark(v)
	}
}

// foldClosed ends everything at once: whatever is not terminal aborts, pending retries are given up, no gate decides
// any more and no later event counts. What is terminal stays as it is.
func (r *Root) foldClosed(e *journal.Event) Outcome {
	why := failureOf(e, CodeCancelled)
	if v := r.resolve(e); e.Node != "" && v >= 0 && !r.Final(v) {
		r.failNamed(v, why, e)
	}
	for v := range r.Len() {
		n := &r.nodes[v]
		switch {
		case n.has(held): // its work stays done, and nobody decides about it any more
			r.stopAsking(v)
			r.setTask(v, call.NoTask)
			delete(r.tasks, v)
			n.flags &^= pending | retryDue
		case n.status == Running && r.row(v).Kind == plan.Step:
			r.cancel(v)
			n.fact, n.failure = stopped, why
			r.setStatus(v, Aborted)
		case n.has(pending):
			n.flags &^= pending | retryDue
			r.setStatus(v, n.status)
		case n.status != Absent && !n.status.Terminal():
			n.failure = why
			r.setStatus(v, Aborted)
		}
	}
	r.timers.clear()
	kept := *e
	r.run.closed = &kept
	if r.signals != nil {
		r.signals.closed()
	}
	return Applied
}

// failNamed fails the step after which a run is closed.
func (r *Root) failNamed(v int32, why *journal.Failure, e *journal.Event) {
	n := &r.nodes[v]
	switch {
	case n.has(held):
		r.stopAsking(v)
	case n.fact == running && r.row(v).Asks:
		r.closeGather(v, byTimer(e))
	case n.fact == running:
		r.cancel(v)
	}
	n.flags &^= held | pending | retryDue
	if byTimer(e) {
		n.flags |= expired
	}
	n.fact, n.failure = errored, why
	r.fails = append(r.fails, v)
	r.setStatus(v, Failed)
}

// foldReopened lets a finished run go on.
func (r *Root) foldReopened() Outcome {
	if r.run.closed != nil || r.run.finished == nil {
		return Late
	}
	r.run.finished, r.run.deadline = nil, 0
	return Applied
}

// foldLoose keeps what is known of a request that belongs to no node, or not yet: when its node turns up and requests
// it, its end is already there.
func (r *Root) foldLoose(e *journal.Event) Outcome {
	if e.Attempt == 0 {
		return Unbound
	}
	req := looseRequest{e.Node, e.Attempt}
	l := r.loose[req]
	if l == nil {
		l = &loose{}
		r.loose[req] = l
		r.looseOrder = append(r.looseOrder, req)
	}
	kept := *e
	switch {
	case e.Type == journal.CallRequested && l.begin == nil:
		l.begin = &kept
	case e.Type != journal.CallRequested && l.end == nil:
		l.end = &kept
	default:
		return Duplicate
	}
	return Unbound
}

func failureOf(e *journal.Event, code string) *journal.Failure {
	if e.Detail != nil && e.Detail.Failure != nil {
		return e.Detail.Failure
	}
	f := &journal.Failure{Code: code}
	if e.Detail != nil {
		f.Message = e.Detail.Reason
	}
	return f
}

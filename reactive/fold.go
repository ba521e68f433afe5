package reactive

import (
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
		r.Ledger.run.finished = &kept
		return Applied
	case journal.RunPaused, journal.RunResumed:
		return r.Ledger.foldPause(e)
	case journal.MessageReceived:
		return r.Ledger.mail.foldMessage(e)
	case journal.RunReopened:
		return r.Ledger.foldReopened()
	}
	if r.Ledger.run.closed != nil {
		return Late
	}
	switch e.Type {
	case journal.RunCanceled, journal.RunClosed, journal.RunDeadlineExceeded:
		return r.foldClosed(e)
	}
	v := r.resolve(e)
	if v < 0 && r.body != nil {
		return Late // its call is over, or it is about what the body alone knows of
	}
	if v < 0 {
		return r.Ledger.foldLoose(e)
	}
	if e.Type == journal.NodeAborted {
		return r.tree.foldAborted(v, e)
	}
	switch r.Ledger.Row(v).Kind {
	case plan.Step:
		return r.Ledger.foldStep(v, e)
	case plan.Gate, plan.Map:
		if e.Type == journal.BranchDecided || e.Type == journal.MapExpanded {
			return r.tree.gates.foldAnswer(v, e)
		}
	}
	return r.Ledger.foldLoose(e)
}

// foldPause begins or ends one cause of a pause.
func (l *Ledger) foldPause(e *journal.Event) Outcome {
	cause := &l.run.stopped
	if e.Detail != nil && e.Detail.Cause != "" {
		cause = &l.run.above
	}
	paused := e.Type == journal.RunPaused
	if *cause == paused || l.run.closed != nil {
		return Late
	}
	*cause = paused
	return Applied
}

// foldStep takes an event about a step.
func (l *Ledger) foldStep(v int32, e *journal.Event) Outcome {
	switch e.Type {
	case journal.CallRequested:
		return l.foldRequested(v, e)
	case journal.CallResponded, journal.CallError, journal.CallAborted, journal.CallCompleted, journal.CallSkipped:
		if e.Detail != nil && e.Detail.Participant != "" {
			return l.fanOut.foldAnswered(v, e)
		}
		return l.foldEnd(v, e)
	case journal.DispatchCreated:
		return l.fanOut.foldAsked(v, e)
	case journal.DispatchSettled:
		return l.fanOut.foldAnswered(v, e)
	case journal.DecisionRequested:
		return l.tasks.foldDecisionRequested(v, e)
	case journal.DecisionReceived, journal.DecisionOverridden:
		return l.tasks.foldDecision(v, e)
	case journal.StepFailed:
		return l.foldStepFailed(v, e)
	case journal.TimerFired:
		return l.timers.foldTimer(v, e)
	case journal.CallReported:
		return l.reportLog.foldReported(v, e)
	case journal.NodeRetried:
		return l.foldRetried(v, e)
	}
	return Unbound
}

// resolve finds the node an event is about; -1: none. The hint spares the lookup for events made in this process.
func (r *Root) resolve(e *journal.Event) int32 {
	if v := e.Hint - 1; v >= 0 && v < r.Len() && r.Ledger.nodes[v].status != Absent && (r.places.routed == nil || r.places.routed.of(v).key == e.Node) {
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
	if r.Ledger.run.start != nil {
		return Duplicate
	}
	r.Ledger.run.start, r.Ledger.run.input, r.Ledger.run.started = e.Detail.Start, e.Value, e.At
	for row := range r.Ledger.plan.Nodes {
		v := int32(row)
		if r.Ledger.nodes[v].status != Absent && r.Ledger.bank.Count(v, plan.Unsettled) == 0 {
			r.Ledger.bank.Mark(v)
		}
	}
	return Applied
}

// foldRequested begins an attempt, whatever the node's status was: the journal is the truth about calls.
func (l *Ledger) foldRequested(v int32, e *journal.Event) Outcome {
	n := &l.nodes[v]
	req := request{v, e.Attempt}
	if n.attempt == e.Attempt || l.older[req] != nil {
		return Duplicate
	}
	l.host.Requested(v, e.Seq)
	if n.attempt != 0 {
		l.older[request{v, n.attempt}] = &attempt{open: n.fact == running, status: n.status}
	}
	l.unwant(v)
	l.tasks.dropTask(v)
	delete(l.reportLog.reports, v)
	n.attempt, n.fact, n.output, n.failure = e.Attempt, running, e.Value, nil
	n.count++
	n.flags &^= aborted | pending | retryDue | cascade | expired
	l.timers.arm(v, e)
	l.fanOut.beginGather(v, e)
	l.bank.Mark(v)
	if early := l.loose[looseRequest{e.Node, e.Attempt}]; early != nil && early.end != nil {
		delete(l.loose, looseRequest{e.Node, e.Attempt})
		l.foldEnd(v, early.end)
	}
	return Applied
}

// markStarted tells the gates and maps around v that something inside them was requested: from then on a gate's
// decision is frozen, and a map's items stand.
func (t *tree) markStarted(v int32) {
	for v >= 0 {
		n := t.l.Row(v)
		around := int32(-1)
		switch {
		case n.Gate >= 0:
			around = t.beside(v, n.Gate)
			g := &t.l.nodes[around]
			if g.has(started) {
				return
			}
			g.flags |= started
			if g.fact != none {
				g.flags |= frozen
			}
		case n.Map >= 0:
			around = t.blocks[t.l.nodes[v].block].owner
			if t.l.nodes[around].has(started) {
				return
			}
			t.l.nodes[around].flags |= started
		}
		v = around
	}
}

// foldEnd ends an attempt. The first end of a request wins, and only the newest attempt of a node counts.
func (l *Ledger) foldEnd(v int32, e *journal.Event) Outcome {
	n := &l.nodes[v]
	if e.Attempt != n.attempt {
		return l.foldOlder(v, e)
	}
	if n.fact != running && !(n.has(pending) && e.Type == journal.CallSkipped) {
		return Late
	}
	timedOut := e.ByTimer() && e.Type != journal.CallResponded
	switch {
	case n.fact == running && l.Row(v).Asks:
		l.fanOut.closeGather(v, timedOut)
	case n.fact == running && timedOut:
		l.cancel(v)
	}
	n.output = nil
	switch e.Type {
	case journal.CallResponded:
		l.tasks.complete(v, e.Value, e)
	case journal.CallCompleted:
		l.tasks.complete(v, nil, e)
	case journal.CallAborted:
		n.fact, n.failure = stopped, e.FailureOr(CodeAborted)
		l.fails = append(l.fails, v)
	case journal.CallSkipped:
		n.fact, n.failure = dropped, e.FailureOr(CodeTimeout)
		l.unwant(v)
		n.flags &^= pending | retryDue
	case journal.CallError:
		if timedOut {
			n.flags |= expired
		}
		l.failAttempt(v, e.FailureOr("error"), e)
	}
	l.bank.Mark(v)
	return Applied
}

// failAttempt ends an attempt with a failure: for good, or until its retry.
func (l *Ledger) failAttempt(v int32, failure *journal.Failure, e *journal.Event) {
	n := &l.nodes[v]
	n.fact, n.failure = errored, failure
	again, ok := l.policy(v).Again(l.ended(v, e))
	if !ok {
		l.fails = append(l.fails, v)
		return
	}
	n.flags |= pending
	l.timers.addTimer(timer{due: again, kind: retryTimer, node: v, attempt: n.attempt})
}

// foldOlder keeps the end of an attempt that is not the newest, or that has not been requested yet.
func (l *Ledger) foldOlder(v int32, e *journal.Event) Outcome {
	req := request{v, e.Attempt}
	if old := l.older[req]; old != nil {
		old.open = false
		return Late
	}
	return l.foldLoose(e)
}

// foldStepFailed fails a node without a request, or ends its waiting for a retry.
func (l *Ledger) foldStepFailed(v int32, e *journal.Event) Outcome {
	n := &l.nodes[v]
	if n.status == Running || n.status.Terminal() && !n.has(pending) {
		return Late
	}
	n.fact, n.failure = errored, e.FailureOr(CodeInputResolution)
	l.unwant(v)
	n.flags &^= pending | retryDue | expired
	if e.ByTimer() {
		n.flags |= expired
	}
	l.fails = append(l.fails, v)
	l.host.Started(v)
	l.bank.Mark(v)
	return Applied
}

// foldAborted stops one node. A terminal one stays as it is.
func (t *tree) foldAborted(v int32, e *journal.Event) Outcome {
	if t.l.Final(v) {
		return Duplicate
	}
	t.abortAll(v, e.FailureOr(CodeAborted))
	return Applied
}

// abort closes a node's open attempt, or, if it has none, the node as it stands. A failed node whose retry was to come
// stays failed, now for good; a completed one whose task is not decided is aborted. A map takes its unfinished items with
// it, a conditional its branches.
func (l *Ledger) abort(v int32, why *journal.Failure) {
	n := &l.nodes[v]
	switch {
	case n.has(held):
		l.tasks.dropTask(v)
		l.unwant(v)
		n.flags &^= pending | retryDue
		n.fact, n.failure, n.output = stopped, why, nil
		l.fails = append(l.fails, v)
	case n.has(pending):
		n.flags &^= pending | retryDue
		l.unwant(v)
		l.fails = append(l.fails, v)
	case n.fact == running:
		l.cancel(v)
		n.fact, n.failure = stopped, why
		l.fails = append(l.fails, v)
	default:
		n.flags |= aborted
		n.failure = why
		l.fails = append(l.fails, v)
	}
	l.bank.Mark(v)
}

// abort is that of any node: a map takes its unfinished items with it.
func (t *tree) abortAll(v int32, why *journal.Failure) {
	t.l.abort(v, why)
	if x := t.maps[v]; x != nil && t.l.nodes[v].has(expanded) {
		t.abortItems(x, why)
	}
}

// cancel asks the shell to stop a call whose attempt was closed by anything but its own end.
func (l *Ledger) cancel(v int32) {
	if l.Row(v).Asks {
		l.fanOut.closeGather(v, false)
		return
	}
	l.cancels = append(l.cancels, l.Request(v, l.nodes[v].attempt))
}

// foldRetried makes a node a candidate for another attempt, whatever it has ended as. Where the work is answered and the
// decision about it is open, the decision is asked for again, unless the work is to be repeated.
func (l *Ledger) foldRetried(v int32, e *journal.Event) Outcome {
	n := &l.nodes[v]
	switch {
	case l.tasks.Undecided(v) && (e.Detail == nil || !e.Detail.Work):
		return l.tasks.askAgain(v)
	case l.tasks.Undecided(v):
		l.tasks.stopAsking(v)
	case !l.Retryable(v):
		return Late
	}
	delete(l.timers.first, v) // what a person asks for has its whole time
	n.flags |= pending | retryDue
	l.host.Again(v)
	l.bank.Mark(v)
	return Applied
}

// resumeMaps has the maps around a node go on that were aborted: something in them is to be done again.
func (t *tree) resumeMaps(v int32) {
	for b := t.l.nodes[v].block; b != 0; b = t.l.nodes[v].block {
		v = t.blocks[b].owner
		t.l.nodes[v].flags &^= aborted | cascade
		t.l.bank.Mark(v)
	}
}

// foldClosed ends everything at once: whatever is not terminal aborts, pending retries are given up, no gate decides
// any more and no later event counts. What is terminal stays as it is.
func (r *Root) foldClosed(e *journal.Event) Outcome {
	why := e.FailureOr(CodeCanceled)
	if v := r.resolve(e); e.Node != "" && v >= 0 && !r.Final(v) {
		r.Ledger.failNamed(v, why, e)
		r.setStatus(v, Failed)
	}
	for v := range r.Len() {
		n := &r.Ledger.nodes[v]
		switch {
		case n.has(held): // its work stays done, and nobody decides about it any more
			r.Ledger.tasks.forgetTask(v)
			n.flags &^= pending | retryDue
		case n.status == Running && r.Ledger.Row(v).Kind == plan.Step:
			r.Ledger.cancel(v)
			n.fact, n.failure = stopped, why
			r.tree.setStatus(v, Aborted)
		case n.has(pending):
			n.flags &^= pending | retryDue
			r.tree.setStatus(v, n.status)
		case n.status != Absent && !n.status.Terminal():
			n.failure = why
			r.tree.setStatus(v, Aborted)
		}
	}
	r.Ledger.timers.clear()
	kept := *e
	r.Ledger.run.closed = &kept
	if r.tree.signals != nil {
		r.tree.signals.closed()
	}
	return Applied
}

// failNamed fails the step after which a run is closed.
func (l *Ledger) failNamed(v int32, why *journal.Failure, e *journal.Event) {
	n := &l.nodes[v]
	switch {
	case n.has(held):
		l.tasks.stopAsking(v)
	case n.fact == running && l.Row(v).Asks:
		l.fanOut.closeGather(v, e.ByTimer())
	case n.fact == running:
		l.cancel(v)
	}
	n.flags &^= held | pending | retryDue
	if e.ByTimer() {
		n.flags |= expired
	}
	n.fact, n.failure = errored, why
	l.fails = append(l.fails, v)
}

// foldReopened lets a finished run go on.
func (l *Ledger) foldReopened() Outcome {
	if l.run.closed != nil || l.run.finished == nil {
		return Late
	}
	l.run.finished, l.run.deadline = nil, 0
	return Applied
}

// foldLoose keeps what is known of a request that belongs to no node, or not yet: when its node turns up and requests
// it, its end is already there.
func (l *Ledger) foldLoose(e *journal.Event) Outcome {
	if e.Attempt == 0 {
		return Unbound
	}
	req := looseRequest{e.Node, e.Attempt}
	known := l.loose[req]
	if known == nil {
		known = &loose{}
		l.loose[req] = known
		l.looseOrder = append(l.looseOrder, req)
	}
	kept := *e
	switch {
	case e.Type == journal.CallRequested && known.begin == nil:
		known.begin = &kept
	case e.Type != journal.CallRequested && known.end == nil:
		known.end = &kept
	default:
		return Duplicate
	}
	return Unbound
}

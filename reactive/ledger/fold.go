package ledger

import (
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// request names an attempt of a node.
type request struct{ node, attempt int32 }

// attempt is an attempt that is not the newest of its node.
type attempt struct {
	open   bool
	status Status
}

// foldStep applies an event about a step.
func (l *Ledger) foldStep(v int32, e *journal.Event) Effect {
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
	case journal.ResultAdopted:
		return l.keptLog.foldAdopted(v, e)
	}
	return Unbound
}

// foldRequested begins an attempt from any status of the node, because the journal determines which calls were made.
func (l *Ledger) foldRequested(v int32, e *journal.Event) Effect {
	n := &l.nodes[v]
	req := request{v, e.Attempt}
	if n.Attempt == e.Attempt || l.older[req] != nil {
		return Duplicate
	}
	l.host.Requested(v, e.Seq)
	if n.Attempt != 0 {
		l.older[request{v, n.Attempt}] = &attempt{open: n.Fact == Requested, status: n.Status}
	}
	l.unwant(v)
	l.tasks.dropTask(v)
	delete(l.reportLog.reports, v)
	n.Attempt, n.Fact, n.Output, n.Failure = e.Attempt, Requested, e.Value, nil
	n.count++
	n.Flags &^= ByHand | Pending | RetryDue | Cascade | Expired
	l.timers.arm(v, e)
	l.fanOut.beginGather(v, e)
	l.bank.Mark(v)
	if early := l.loose[looseRequest{e.Node, e.Attempt}]; early != nil && early.end != nil {
		delete(l.loose, looseRequest{e.Node, e.Attempt})
		l.foldEnd(v, early.end)
	}
	return Applied
}

// foldEnd ends an attempt. The first end of a request wins, and only the newest attempt of a node counts.
func (l *Ledger) foldEnd(v int32, e *journal.Event) Effect {
	n := &l.nodes[v]
	if e.Attempt != n.Attempt {
		return l.foldOlder(v, e)
	}
	untaken := e.Type == journal.CallSkipped && n.Fact == NoFact && n.Status == Ready
	if n.Fact != Requested && !untaken && !(n.Has(Pending) && e.Type == journal.CallSkipped) {
		return Late
	}
	timedOut := e.ByTimer() && e.Type != journal.CallResponded
	switch {
	case n.Fact == Requested && l.Row(v).Asks:
		l.fanOut.closeGather(v, timedOut)
	case n.Fact == Requested && timedOut:
		l.cancel(v)
	}
	n.Output = nil
	switch e.Type {
	case journal.CallResponded:
		l.tasks.complete(v, e.Value, e)
	case journal.CallCompleted:
		l.tasks.complete(v, nil, e)
	case journal.CallAborted:
		n.Fact, n.Failure = Stopped, e.FailureOr(call.CodeAborted)
		l.fails = append(l.fails, v)
	case journal.CallSkipped:
		n.Fact, n.Failure = Dropped, e.FailureOr(call.CodeTimeout)
		l.unwant(v)
		n.Flags &^= Pending | RetryDue
		if untaken {
			l.host.Started(v)
		}
	case journal.CallError:
		if timedOut {
			n.Flags |= Expired
		}
		l.failAttempt(v, e.FailureOr("error"), e)
	}
	l.bank.Mark(v)
	return Applied
}

// failAttempt ends an attempt with a failure, for good or until its retry.
func (l *Ledger) failAttempt(v int32, failure *journal.Failure, e *journal.Event) {
	n := &l.nodes[v]
	n.Fact, n.Failure = Errored, failure
	again, ok := l.policy(v).Again(l.ended(v, e))
	if !ok {
		l.fails = append(l.fails, v)
		return
	}
	n.Flags |= Pending
	l.timers.addTimer(timer{due: again, kind: retryTimer, node: v, attempt: n.Attempt})
}

// foldOlder records the end of an attempt that is not the newest, or that has not been requested yet.
func (l *Ledger) foldOlder(v int32, e *journal.Event) Effect {
	req := request{v, e.Attempt}
	if old := l.older[req]; old != nil {
		old.open = false
		return Late
	}
	return l.foldLoose(e)
}

// foldStepFailed fails a node without a request, or ends its wait for a retry.
func (l *Ledger) foldStepFailed(v int32, e *journal.Event) Effect {
	n := &l.nodes[v]
	if n.Status == Running || n.Status.Terminal() && !n.Has(Pending) {
		return Late
	}
	n.Fact, n.Failure = Errored, e.FailureOr(call.CodeInputResolution)
	l.unwant(v)
	n.Flags &^= Pending | RetryDue | Expired
	if e.ByTimer() {
		n.Flags |= Expired
	}
	l.fails = append(l.fails, v)
	l.host.Started(v)
	l.bank.Mark(v)
	return Applied
}

// abort closes a node's open attempt or, if it has none, aborts the node. A failed node with a pending retry stays failed,
// now for good; a completed node with an undecided task is aborted. A map also aborts its unfinished items, a conditional its
// branches.
func (l *Ledger) abort(v int32, why *journal.Failure) {
	n := &l.nodes[v]
	switch {
	case n.Has(Held):
		l.tasks.dropTask(v)
		l.unwant(v)
		n.Flags &^= Pending | RetryDue
		n.Fact, n.Failure, n.Output = Stopped, why, nil
		l.fails = append(l.fails, v)
	case n.Has(Pending):
		n.Flags &^= Pending | RetryDue
		l.unwant(v)
		l.fails = append(l.fails, v)
	case n.Fact == Requested:
		l.cancel(v)
		n.Fact, n.Failure = Stopped, why
		l.fails = append(l.fails, v)
	default:
		n.Flags |= ByHand
		n.Failure = why
		l.fails = append(l.fails, v)
	}
	l.bank.Mark(v)
}

// cancel requests to stop a call whose attempt was closed from outside.
func (l *Ledger) cancel(v int32) {
	if l.Row(v).Asks {
		l.fanOut.closeGather(v, false)
		return
	}
	l.cancels = append(l.cancels, l.Request(v, l.nodes[v].Attempt))
}

// foldRetried makes a node a candidate for another attempt, whatever the end of the last one. If the step is completed and its
// task undecided, it requests the decision again, unless the command repeats the work.
func (l *Ledger) foldRetried(v int32, e *journal.Event) Effect {
	n := &l.nodes[v]
	switch {
	case l.tasks.Undecided(v) && (e.Detail == nil || !e.Detail.Work):
		return l.tasks.askAgain(v)
	case l.tasks.Undecided(v):
		l.tasks.stopAsking(v)
	case !l.Retryable(v):
		return Late
	}
	if e.Detail != nil && e.Detail.Key != "" {
		if l.keys == nil {
			l.keys = map[string]string{}
		}
		l.keys[l.host.Key(v)] = e.Detail.Key
	}
	delete(l.timers.first, v) // a retry by a person has the whole total timeout
	n.Flags |= Pending | RetryDue
	l.host.Again(v)
	l.bank.Mark(v)
	return Applied
}

// NewKey returns the part of the idempotency key with which a retry has replaced a node's key, or "". It is the same for all
// later attempts, until another retry replaces it.
func (l *Ledger) NewKey(node string) string { return l.keys[node] }

// failNamed fails the step that the closing of a run names.
func (l *Ledger) failNamed(v int32, why *journal.Failure, e *journal.Event) {
	n := &l.nodes[v]
	switch {
	case n.Has(Held):
		l.tasks.stopAsking(v)
	case n.Fact == Requested && l.Row(v).Asks:
		l.fanOut.closeGather(v, e.ByTimer())
	case n.Fact == Requested:
		l.cancel(v)
	}
	n.Flags &^= Held | Pending | RetryDue
	if e.ByTimer() {
		n.Flags |= Expired
	}
	n.Fact, n.Failure = Errored, why
	l.fails = append(l.fails, v)
}

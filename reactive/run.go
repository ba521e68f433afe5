package reactive

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
)

// Verdict is the end of a run.
type Verdict struct {
	Status  RunStatus        // a final one
	Failure *journal.Failure // nil if it completed
	Node    int32            // the node that the failure names; -1: none
	Output  any              // of a completed run: a value of package value, or the value in the event
}

// RunStatus returns the status of the run.
func (r *Root) RunStatus() RunStatus {
	switch {
	case r.Finished() != nil:
		return RunStatus(r.Finished().Detail.State)
	case r.Paused():
		return RunPaused
	case r.busy == 0 && !r.keeper.Deciding() && !r.Done() && !r.moving() && !r.starting():
		return RunWaiting
	}
	return RunRunning
}

// starting reports whether a node needs only room in the process to start now, such as a node with a due retry.
func (r *Root) starting() bool {
	_, ok := r.NextStart(nil)
	return ok
}

// Done reports whether the run is to be finished: it is closed, or every node has settled.
func (r *Root) Done() bool {
	if r.body != nil {
		return r.Started() && r.Finished() == nil && (r.Closed() || r.body.Done())
	}
	return r.Started() && r.Finished() == nil && (r.Closed() || r.top.unsettled == 0)
}

// Verdict returns the end of a run that is done. Its failure is the first uncaught one, in the order of the journal. A failure
// is caught if a conditional that has decided tests a node of its chain.
func (r *Root) Verdict() Verdict {
	if e := r.ClosedBy(); e != nil {
		return r.closedVerdict(e)
	}
	if r.body != nil {
		return r.body.Verdict()
	}
	if v := r.faults.firstFailure(); v >= 0 {
		status := RunFailed
		if r.keeper.Node(v).Has(ledger.Expired) {
			status = RunStepTimeout
		}
		return Verdict{Status: status, Failure: r.faults.attributed(r.Failure(v), v), Node: v}
	}
	out := r.places.plan.Checked.Output
	if out == nil {
		return Verdict{Status: RunCompleted, Node: -1}
	}
	v, err := rendered(out, env{r.tree, -1})
	if err != nil {
		return Verdict{Status: RunFailed, Failure: failed(CodeOutputResolution, err), Node: -1}
	}
	return Verdict{Status: RunCompleted, Output: v, Node: -1}
}

func (r *Root) closedVerdict(e *journal.Event) Verdict {
	out := Verdict{Failure: e.FailureOr(CodeCancelled), Node: -1}
	switch e.Type {
	case journal.RunCancelled:
		out.Status = RunAborted
	case journal.RunDeadlineExceeded:
		out.Status = RunDeadlineExceeded
	default:
		out.Status = RunFailed
		v, ok := r.Node(e.Node)
		if ok {
			out.Node = v
			out.Failure = r.faults.attributed(out.Failure, v)
		}
		if e.ByTimer() || ok && r.keeper.Node(v).Has(ledger.Expired) {
			out.Status = RunStepTimeout
		}
	}
	return out
}

// BlocksRetry reports whether another attempt of a node would be aborted at once: the failure policy aborts dependents, and a
// node that it or a map around it needs has failed.
func (t *tree) BlocksRetry(v int32) bool {
	if !t.abortDependents() {
		return false
	}
	for b := t.l.Node(v).Block; b != 0 && !t.blocked(v); b = t.l.Node(v).Block {
		v = t.blocks[b].owner
	}
	return t.blocked(v)
}

// OpenCalls returns all requested calls without an answer, in the order of their nodes, or of opening in a routed run. A
// recovered run makes them again with the same request ids.
func (r *Root) OpenCalls() []ledger.Request {
	var calls []ledger.Request
	for _, v := range r.inOrder() {
		calls = r.keeper.OpenCalls(calls, v)
	}
	return calls
}

// NextAsk returns the next gate or map whose Go function must be called. It returns the same one until its answer was applied.
func (gs *gates) NextAsk() (int32, bool) {
	if len(gs.asks) == 0 || gs.l.Closed() {
		return -1, false
	}
	return gs.asks[0], true
}

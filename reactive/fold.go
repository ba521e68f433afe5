package reactive

import (
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/plan"
)

// fold adds an event to the facts and marks the nodes to be recomputed. Only fold depends on the order of events.
func (r *Root) fold(e *journal.Event) ledger.Effect {
	switch e.Type {
	case journal.RunStarted:
		return r.foldStarted(e)
	case journal.RunFinished:
		r.keeper.Finish(e)
		return ledger.Applied
	case journal.RunPaused, journal.RunResumed:
		return r.keeper.Pause(e)
	case journal.MessageReceived:
		return r.foldMessage(e)
	case journal.RunReopened:
		return r.keeper.Reopen()
	case journal.ResultKept, journal.InputSet:
		return r.keeper.Keep(e)
	}
	if r.Closed() {
		return ledger.Late
	}
	switch e.Type {
	case journal.RunCancelled, journal.RunClosed, journal.RunDeadlineExceeded:
		return r.foldClosed(e)
	case journal.StepScheduled, journal.ContextPatched, journal.CellStepped, journal.CellFailed, journal.CellPaused, journal.CellResumed,
		journal.CellReset, journal.CellExpired, journal.WorldSnapshotted, journal.RunMoved:
		return ledger.Applied // the body applies it; the readers of the journal apply a move, with a root of the other workflow
	}
	v := r.resolve(e)
	if v < 0 && r.body != nil && (e.Type == journal.TimerFired || e.Type == journal.NodeAborted) {
		return ledger.Applied // of a step-run or a cell: the body applies it
	}
	if v < 0 && r.body != nil {
		return ledger.Late // the call has ended
	}
	if v < 0 {
		return r.keeper.Loose(e)
	}
	if e.Type == journal.NodeAborted {
		return r.foldAborted(v, e)
	}
	switch r.Row(v).Kind {
	case plan.Step:
		return r.keeper.Step(v, e)
	case plan.Gate, plan.Map:
		if e.Type == journal.BranchDecided || e.Type == journal.MapExpanded {
			return r.gates.foldAnswer(v, e)
		}
	}
	return r.keeper.Loose(e)
}

// foldMessage keeps a message for the steps that wait for one. In a world, the body applies messages.
func (r *Root) foldMessage(e *journal.Event) ledger.Effect {
	switch {
	case r.cells == nil:
		return r.keeper.Message(e)
	case r.Closed() || r.Finished() != nil:
		return ledger.Late
	}
	return ledger.Applied
}

// resolve returns the node of an event, or -1. The hint saves the lookup for events made in this process.
func (r *Root) resolve(e *journal.Event) int32 {
	if v := e.Hint - 1; v >= 0 && v < r.Len() && r.keeper.Node(v).Status != ledger.Absent && (r.routed == nil || r.routed.of(v).key == e.Node) {
		return v
	}
	v, ok := r.Node(e.Node)
	if !ok {
		return -1
	}
	e.Hint = v + 1
	return v
}

// foldStarted wakes the rows without predecessors.
func (r *Root) foldStarted(e *journal.Event) ledger.Effect {
	if out := r.keeper.Begin(e); out != ledger.Applied {
		return out
	}
	for row := range r.places.plan.Nodes {
		v := int32(row)
		if r.keeper.Node(v).Status != ledger.Absent && r.places.bank.Count(v, plan.Unsettled) == 0 {
			r.places.bank.Mark(v)
		}
	}
	return ledger.Applied
}

// markStarted records a request of v in the gates and maps around it: the decisions of the gates and the items of the maps are
// then final.
func (t *tree) markStarted(v int32) {
	for v >= 0 {
		n := t.l.Row(v)
		around := int32(-1)
		switch {
		case n.Gate >= 0:
			around = t.inSameBody(v, n.Gate)
			g := t.l.Node(around)
			if g.Has(ledger.Begun) {
				return
			}
			g.Flags |= ledger.Begun
			if g.Fact != ledger.NoFact {
				g.Flags |= ledger.Frozen
			}
		case n.Map >= 0:
			around = t.blocks[t.l.Node(v).Block].owner
			if t.l.Node(around).Has(ledger.Begun) {
				return
			}
			t.l.Node(around).Flags |= ledger.Begun
		}
		v = around
	}
}

// foldAborted aborts one node, unless it is terminal.
func (t *tree) foldAborted(v int32, e *journal.Event) ledger.Effect {
	if t.l.Final(v) {
		return ledger.Duplicate
	}
	t.abortAll(v, e.FailureOr(call.CodeAborted))
	return ledger.Applied
}

// abortAll aborts a node and, if it is a map, its unfinished items.
func (t *tree) abortAll(v int32, why *journal.Failure) {
	t.l.Abort(v, why)
	if x := t.maps[v]; x != nil && t.l.Node(v).Has(ledger.Expanded) {
		t.abortItems(x, why)
	}
}

// resumeMaps resumes the aborted maps around a node that gets another attempt.
func (t *tree) resumeMaps(v int32) {
	for b := t.l.Node(v).Block; b != 0; b = t.l.Node(v).Block {
		v = t.blocks[b].owner
		t.l.Node(v).Flags &^= ledger.ByHand | ledger.Cascade
		t.bank.Mark(v)
	}
}

// foldClosed ends the run: it aborts all nodes that are not terminal and drops pending retries. No gate decides any more, and
// later events have no effect.
func (r *Root) foldClosed(e *journal.Event) ledger.Effect {
	why := e.FailureOr(CodeCancelled)
	if v := r.resolve(e); e.Node != "" && v >= 0 && !r.Final(v) {
		r.keeper.FailNamed(v, why, e)
		r.setStatus(v, ledger.Failed)
	}
	for v := range r.Len() {
		n := r.keeper.Node(v)
		switch {
		case n.Has(ledger.Held): // it stays completed, without a decision
			r.keeper.ForgetTask(v)
			n.Flags &^= ledger.Pending | ledger.RetryDue
		case n.Status == ledger.Running && r.Row(v).Kind == plan.Step:
			r.keeper.Stop(v, why)
			r.setStatus(v, ledger.Aborted)
		case n.Has(ledger.Pending):
			n.Flags &^= ledger.Pending | ledger.RetryDue
			r.setStatus(v, n.Status)
		case n.Status != ledger.Absent && !n.Status.Terminal():
			n.Failure = why
			r.setStatus(v, ledger.Aborted)
		}
	}
	r.keeper.Close(e)
	if r.watcher != nil {
		r.watcher.Closed()
	}
	return ledger.Applied
}

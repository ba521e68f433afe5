package reactive

import (
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/plan"
)

// derive sets the status of a node from its facts, its predecessors and the nodes around it. The bank calls it for every
// marked node, predecessors first.
func (t *tree) derive(v int32) {
	row := t.l.Row(v)
	if t.l.Closed() {
		return
	}
	if row.Kind == plan.Join {
		t.deriveJoin(v)
		return
	}
	if t.l.Node(v).Status == ledger.Absent {
		return
	}
	if t.routed != nil {
		t.routed.touch(v)
	}
	t.notifyChanged(v)
	switch row.Kind {
	case plan.Step:
		t.deriveStep(v)
	case plan.Gate:
		t.gates.deriveGate(v)
	case plan.Map:
		t.deriveMap(v)
	}
}

// deriveJoin shows a join's predecessors to its successors.
func (t *tree) deriveJoin(v int32) {
	var out uint8
	if t.bank.Count(v, plan.Unsatisfied) == 0 {
		out |= plan.ShowsSatisfied
	}
	if t.bank.Count(v, plan.Unsettled) == 0 {
		out |= plan.ShowsSettled
	}
	if t.bank.Count(v, plan.Blocked) > 0 {
		out |= plan.ShowsBlocked
	} else {
		t.l.Node(v).Failure = nil // stored here by dependency
	}
	if t.bank.Count(v, plan.Moved) > 0 {
		out |= plan.ShowsMoved
	}
	t.bank.Show(v, out)
}

// branchState is the effect of a conditional on a node in one of its branches.
type branchState uint8

const (
	open     branchState = iota // no conditional, or it chose this branch
	closed                      // undecided: nothing inside starts
	notTaken                    // it chose the other branch, or was itself skipped
	broken                      // it failed or was aborted: everything inside aborts
)

// branch returns the effect of the innermost conditional around v, whose status reflects the conditionals around it.
func (t *tree) branch(v int32) branchState {
	row := t.l.Row(v)
	if row.Gate < 0 {
		return open
	}
	return t.chosen(v, row)
}

// chosen is branch for a node inside a conditional.
func (t *tree) chosen(v int32, row *plan.Row) branchState {
	g := t.l.Node(t.inSameBody(v, row.Gate))
	switch g.Status {
	case ledger.Completed:
		if g.Fact == ledger.DecidedThen == (row.Branch == plan.Then) {
			return open
		}
		return notTaken
	case ledger.Skipped:
		return notTaken
	case ledger.Failed, ledger.Aborted:
		return broken
	}
	return closed
}

// blocked reports whether a node that v needs, or the conditional around v, has failed.
func (t *tree) blocked(v int32) bool {
	return t.bank.Count(v, plan.Blocked) > 0 && !t.skippedWithBranch(v) || t.branch(v) == broken
}

// skippedWithBranch reports whether v was skipped with its branch. v may need nodes of the branch that was taken, and their later failures
// do not change this.
func (t *tree) skippedWithBranch(v int32) bool {
	return t.l.Node(v).Status == ledger.Skipped && t.branch(v) == notTaken
}

// satisfied reports whether no predecessor and no branch holds v back.
func (t *tree) satisfied(v int32) bool {
	return t.bank.Count(v, plan.Unsatisfied) == 0 && t.branch(v) == open
}

// deriveStep considers, in this order: the step's own attempt or abort, failures that block it, a branch not taken, whether it
// may start, and whether a predecessor has moved.
func (t *tree) deriveStep(v int32) {
	n := t.l.Node(v)
	if t.abortDependents() && (n.Fact == ledger.Requested || n.Has(ledger.Pending)) && t.blocked(v) {
		t.l.Abort(v, t.faults.dependency(v))
		n.Flags |= ledger.Cascade
	}
	if !n.Has(ledger.Pending) && (n.Fact != ledger.NoFact || n.Has(ledger.ByHand) || t.blocked(v) || !t.satisfied(v)) {
		n.Flags &^= ledger.Candidate | ledger.Granted
	}
	switch {
	case n.Fact == ledger.Requested:
		t.setStatus(v, ledger.Running)
	case n.Fact == ledger.Responded:
		t.setStatus(v, ledger.Completed)
	case n.Fact == ledger.Errored:
		t.setStatus(v, ledger.Failed)
	case n.Fact == ledger.Stopped, n.Has(ledger.ByHand):
		t.setStatus(v, ledger.Aborted)
	case n.Fact == ledger.Dropped:
		t.setStatus(v, ledger.Skipped)
	case t.blocked(v):
		n.Failure = t.faults.dependency(v)
		t.setStatus(v, ledger.Aborted)
	default:
		if n.Failure != nil { // the failed node continues after all
			n.Failure = nil
		}
		t.deriveUntouched(v)
	}
}

// deriveUntouched is deriveStep for a step without events that nothing blocks.
func (t *tree) deriveUntouched(v int32) {
	switch {
	case t.branch(v) == notTaken:
		t.setStatus(v, ledger.Skipped)
	case t.satisfied(v):
		t.wantStart(v)
	default:
		t.setStatus(v, t.moved(v))
	}
}

// moved returns the status of a node that waits for its predecessors.
func (t *tree) moved(v int32) ledger.Status {
	if t.bank.Count(v, plan.Moved) > 0 {
		return ledger.Waiting
	}
	return ledger.Idle
}

// wantStart makes a satisfied step ready, at once if nothing limits it, otherwise when it has its slots.
func (t *tree) wantStart(v int32) {
	n := t.l.Node(v)
	if n.Has(ledger.Granted) || t.l.Row(v).Group < 0 || t.room.groupOf(v) < 0 {
		t.setStatus(v, ledger.Ready)
		return
	}
	t.setStatus(v, ledger.Waiting)
	t.room.want(v)
}

// grant grants free slots to candidates, in template order. It runs after all statuses of the event are derived.
func (t *tree) grant() {
	for !t.l.Closed() {
		v, ok := t.room.nextGrant()
		if !ok {
			return
		}
		t.grantTo(v)
	}
}

// grantTo grants a node the slots that it waits for.
func (t *tree) grantTo(v int32) {
	n := t.l.Node(v)
	n.Flags = n.Flags&^ledger.Candidate | ledger.Granted
	if n.Has(ledger.Pending) {
		t.room.hold(v, true)
		t.room.queueStart(v)
		return
	}
	t.setStatus(v, ledger.Ready)
}

func (t *tree) abortDependents() bool {
	return t.plan.Workflow.FailurePolicy == template.AbortDependents
}

// setStatus sets and counts the status of a node. Only setStatus changes a status.
func (t *tree) setStatus(v int32, s ledger.Status) {
	n := t.l.Node(v)
	row := t.l.Row(v)
	old := n.Status
	n.Status = s
	if old != s {
		t.countBusy(row, old, s)
		t.notifyChanged(v)
		if t.l.Watched() {
			t.changes = append(t.changes, ledger.Change{Node: v, From: old, To: s, Seq: t.l.Seq(), Call: t.callChange(v)})
		}
		if row.Group >= 0 {
			t.room.hold(v, s == ledger.Ready || s == ledger.Running)
		}
		switch s {
		case ledger.Ready:
			t.room.queueStart(v)
		case ledger.Running:
			n.Flags &^= ledger.Candidate | ledger.Granted
		}
	}
	changed := t.show(v, shows(row.Kind, s, n.Flags))
	if row.Feeds && (changed || old != s) {
		t.gates.markGates(v, v)
	}
}

// countBusy counts the nodes that only this process can move.
func (t *tree) countBusy(row *plan.Row, old, s ledger.Status) {
	if row.Kind != plan.Step {
		return
	}
	t.steps.Move(old, s)
	engine := row.OpKind == plan.Sleep || row.OpKind == plan.Wait
	is := func(s ledger.Status) bool { return s == ledger.Ready || s == ledger.Running && !engine }
	if is(old) {
		t.busy--
	}
	if is(s) {
		t.busy++
	}
}

// show publishes a node's output to its successors, updates the counters of its body, and reports whether the output has
// changed.
func (t *tree) show(v int32, out uint8) bool {
	was := t.bank.Output(v)
	if was == out {
		return false
	}
	x, owner := &t.top, int32(-1)
	if b := t.l.Node(v).Block; b != 0 {
		owner = t.blocks[b].owner
		x = t.maps[owner]
	}
	before := x.unsettled
	x.unsettled += bit(was, plan.ShowsSettled) - bit(out, plan.ShowsSettled)
	x.bad += bit(out, plan.ShowsBlocked) - bit(was, plan.ShowsBlocked)
	t.steps.Show(t.l.Row(v).Kind, was, out)
	if owner >= 0 && (before == 0) != (x.unsettled == 0) {
		t.bank.Mark(owner)
	}
	t.bank.Show(v, out)
	return true
}

func bit(out, mask uint8) int32 {
	if out&mask != 0 {
		return 1
	}
	return 0
}

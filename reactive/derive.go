package reactive

import (
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/plan"
)

// derive gives a node the status that follows from its facts, its predecessors and what is around it. The bank calls it
// for every marked node, predecessors first.
func (r *Root) derive(v int32) {
	row := r.row(v)
	if r.run.closed != nil {
		return
	}
	if row.Kind == plan.Join {
		r.deriveJoin(v)
		return
	}
	if r.nodes[v].status == Absent {
		return
	}
	if r.cells != nil {
		r.cells.touch(v)
	}
	if r.signals != nil {
		r.signals.changed(v)
	}
	switch row.Kind {
	case plan.Step:
		r.deriveStep(v)
	case plan.Gate:
		r.deriveGate(v)
	case plan.Map:
		r.deriveMap(v)
	}
}

// deriveJoin passes on what its predecessors show.
func (r *Root) deriveJoin(v int32) {
	var out uint8
	if r.bank.Count(v, plan.Unsatisfied) == 0 {
		out |= plan.ShowsSatisfied
	}
	if r.bank.Count(v, plan.Unsettled) == 0 {
		out |= plan.ShowsSettled
	}
	if r.bank.Count(v, plan.Blocked) > 0 {
		out |= plan.ShowsBlocked
	} else {
		r.nodes[v].failure = nil // what dependency has kept here
	}
	if r.bank.Count(v, plan.Moved) > 0 {
		out |= plan.ShowsMoved
	}
	r.bank.Show(v, out)
}

// branchState is what a node learns from the conditional around it.
type branchState uint8

const (
	open     branchState = iota // there is none, or it chose this branch
	closed                      // undecided: nothing inside starts
	notTaken                    // it chose the other branch, or was itself skipped
	broken                      // it failed or was aborted: everything inside aborts
)

// branch is the state of the innermost conditional around v. Those further out speak through its status.
func (r *Root) branch(v int32) branchState {
	row := r.row(v)
	if row.Gate < 0 {
		return open
	}
	g := &r.nodes[r.beside(v, row.Gate)]
	switch g.status {
	case Completed:
		if g.fact == decidedThen == (row.Branch == plan.Then) {
			return open
		}
		return notTaken
	case Skipped:
		return notTaken
	case Failed, Aborted:
		return broken
	}
	return closed
}

// blocked reports whether something v needs has failed, or the conditional around it has.
func (r *Root) blocked(v int32) bool {
	return r.bank.Count(v, plan.Blocked) > 0 && !r.passed(v) || r.branch(v) == broken
}

// passed reports whether v was skipped with the branch that it stands in. It stays so whatever fails after that: in the
// branch that was taken there may be something that it would have needed.
func (r *Root) passed(v int32) bool {
	return r.nodes[v].status == Skipped && r.branch(v) == notTaken
}

// satisfied reports whether nothing before v holds it back any more.
func (r *Root) satisfied(v int32) bool {
	return r.bank.Count(v, plan.Unsatisfied) == 0 && r.branch(v) == open
}

// deriveStep: its own attempt or abort comes first, then what blocks it, then a branch not taken, then whether it may
// start, and at last whether anything before it has moved.
func (r *Root) deriveStep(v int32) {
	n := &r.nodes[v]
	if r.abortDependents() && (n.fact == running || n.has(pending)) && r.blocked(v) {
		r.abort(v, r.dependency(v))
		n.flags |= cascade
	}
	if !n.has(pending) && (n.fact != none || n.has(aborted) || r.blocked(v) || !r.satisfied(v)) {
		n.flags &^= candidate | granted
	}
	switch {
	case n.fact == running:
		r.setStatus(v, Running)
	case n.fact == responded:
		r.setStatus(v, Completed)
	case n.fact == errored:
		r.setStatus(v, Failed)
	case n.fact == stopped, n.has(aborted):
		r.setStatus(v, Aborted)
	case n.fact == dropped:
		r.setStatus(v, Skipped)
	case r.blocked(v):
		n.failure = r.dependency(v)
		r.setStatus(v, Aborted)
	default:
		if n.failure != nil { // what it depended on goes on after all
			n.failure = nil
		}
		r.deriveUntouched(v)
	}
}

// deriveUntouched is deriveStep for a step that nothing has happened to and nothing blocks.
func (r *Root) deriveUntouched(v int32) {
	switch {
	case r.branch(v) == notTaken:
		r.setStatus(v, Skipped)
	case r.satisfied(v):
		r.wantStart(v)
	default:
		r.setStatus(v, r.moved(v))
	}
}

// moved is the status of a node that waits for its predecessors.
func (r *Root) moved(v int32) Status {
	if r.bank.Count(v, plan.Moved) > 0 {
		return Waiting
	}
	return Idle
}

// wantStart makes a satisfied step ready, at once where nothing limits it and otherwise when it gets its slots.
func (r *Root) wantStart(v int32) {
	n := &r.nodes[v]
	if n.has(granted) || r.groupOf(v) < 0 {
		r.setStatus(v, Ready)
		return
	}
	r.setStatus(v, Waiting)
	r.want(v)
}

// want makes a node a candidate for the slots it needs; where it needs none it may start at once.
func (r *Root) want(v int32) {
	n := &r.nodes[v]
	if n.has(candidate) || n.has(granted) {
		return
	}
	g := r.groupOf(v)
	if g < 0 {
		n.flags |= granted
		r.queueStart(v)
		return
	}
	n.flags |= candidate
	r.slots.wait(g, r.entry(v))
}

// isCandidate tells the slots which of those waiting have ceased to.
func (r *Root) isCandidate(entry int32) bool {
	v, there := r.entered(entry)
	return there && r.nodes[v].has(candidate)
}

// stopWaiting takes back a node's wish to start.
func (r *Root) stopWaiting(v int32) {
	r.nodes[v].flags &^= candidate
	r.dropGrant(v)
}

// grant gives free slots to candidates, in template order, after everything else of the event has been derived.
func (r *Root) grant() {
	for r.run.closed == nil {
		e := r.slots.next(0)
		if e < 0 {
			return
		}
		v, _ := r.entered(e)
		n := &r.nodes[v]
		n.flags = n.flags&^candidate | granted
		if n.has(pending) {
			r.hold(v, true)
			r.queueStart(v)
			continue
		}
		r.setStatus(v, Ready)
	}
}

// dropGrant ends a grant: it lasts only while its node is ready, or is about to retry.
func (r *Root) dropGrant(v int32) {
	n := &r.nodes[v]
	if !n.has(granted) {
		return
	}
	n.flags &^= granted
	r.hold(v, n.status == Running)
}

// hold counts a node in its groups, or no longer.
func (r *Root) hold(v int32, on bool) {
	n := &r.nodes[v]
	g := r.groupOf(v)
	if g < 0 || n.has(holding) == on {
		return
	}
	n.flags ^= holding
	if on {
		r.slots.take(g)
	} else {
		r.slots.release(g)
	}
}

// groupOf is the innermost limited group of a step; -1: nothing limits it.
func (r *Root) groupOf(v int32) int32 {
	n := r.row(v)
	if n.Group < 0 || n.Kind != plan.Step {
		return -1
	}
	return r.groupBeside(v, n.Group)
}

// groupBeside finds the instance of a plan's group for node v: its own item's, or that of an item or run around it.
func (r *Root) groupBeside(v, g int32) int32 {
	home := r.plan.Groups[g].Map
	b := r.nodes[v].block
	for r.blocks[b].row != home {
		b = r.blocks[b].parent
	}
	if home < 0 {
		return g + 1
	}
	return r.blocks[b].slots + g - r.plan.Nodes[home].Slots[0]
}

// addGroups makes the slots of the plan's groups [lo, hi) for one body; v is any node in it.
func (r *Root) addGroups(lo, hi, v int32) int32 {
	first := int32(len(r.slots.groups))
	for g := lo; g < hi; g++ {
		parent := int32(0)
		if p := r.plan.Groups[g].Parent; p >= 0 {
			if p >= lo {
				parent = first + p - lo
			} else {
				parent = r.groupBeside(v, p)
			}
		}
		r.slots.add(parent, r.plan.Groups[g].Max)
	}
	return first
}

func (r *Root) abortDependents() bool {
	return r.plan.Workflow.FailurePolicy == template.AbortDependents
}

// setStatus is the one place where a status changes. Everything that counts statuses counts here.
func (r *Root) setStatus(v int32, s Status) {
	n := &r.nodes[v]
	row := r.row(v)
	old := n.status
	n.status = s
	if old != s {
		r.countBusy(row, old, s)
		if r.signals != nil {
			r.signals.changed(v)
		}
		if r.watched {
			r.changes = append(r.changes, Change{Node: v, From: old, To: s, Seq: r.seq, Cell: r.cellChange(v)})
		}
		switch s {
		case Ready:
			r.hold(v, true)
			r.queueStart(v)
		case Running:
			n.flags &^= candidate | granted
			r.hold(v, true)
		default:
			r.hold(v, false)
		}
	}
	changed := r.show(v, shows(row.Kind, s, n.flags))
	if row.Feeds && (changed || old != s) {
		r.tellGates(v, v)
	}
}

// countBusy keeps the number of nodes that this process itself can move.
func (r *Root) countBusy(row *plan.Row, old, s Status) {
	if row.Kind != plan.Step {
		return
	}
	engine := row.OpKind == plan.Sleep || row.OpKind == plan.Wait
	is := func(s Status) bool { return s == Ready || s == Running && !engine }
	if is(old) {
		r.run.busy--
	}
	if is(s) {
		r.run.busy++
	}
}

// show lets successors see a node's output, keeps the counters of the body it belongs to, and reports whether anything
// is different.
func (r *Root) show(v int32, out uint8) bool {
	was := r.bank.Output(v)
	if was == out {
		return false
	}
	x, owner := &r.top, int32(-1)
	if b := r.nodes[v].block; b != 0 {
		owner = r.blocks[b].owner
		x = r.maps[owner]
	}
	before := x.unsettled
	x.unsettled += bit(was, plan.ShowsSettled) - bit(out, plan.ShowsSettled)
	x.bad += bit(out, plan.ShowsBlocked) - bit(was, plan.ShowsBlocked)
	if owner >= 0 && (before == 0) != (x.unsettled == 0) {
		r.bank.Mark(owner)
	}
	r.bank.Show(v, out)
	return true
}

func bit(out, mask uint8) int32 {
	if out&mask != 0 {
		return 1
	}
	return 0
}

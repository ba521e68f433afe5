package reactive

import (
	"github.com/sluiceflow/sluice/reactive/decoded"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/signals"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
)

// shows returns the part of a status that is visible to successors. The branches of a gate wait once a predecessor of the
// gate has moved.
func shows(kind plan.Kind, s ledger.Status, f ledger.Flags) uint8 {
	switch s {
	case ledger.Waiting:
		if kind == plan.Gate {
			return plan.ShowsMoved
		}
	case ledger.Completed, ledger.Skipped:
		if f&(ledger.Held|ledger.Pending) != 0 { // its task is undecided, or a retry is pending
			return plan.ShowsMoved
		}
		return plan.ShowsSatisfied | plan.ShowsSettled | plan.ShowsMoved
	case ledger.Failed, ledger.Aborted:
		if f&ledger.Pending != 0 { // a retry is pending
			return plan.ShowsMoved
		}
		return plan.ShowsBlocked | plan.ShowsSettled | plan.ShowsMoved
	case ledger.Running:
		return plan.ShowsMoved
	}
	return 0
}

// tree derives the statuses of a run's steps, maps and conditionals from facts of the ledger and from each other.
type tree struct {
	*places
	plan    *plan.Plan
	bank    *signals.Bank
	l       ledger.Keeper
	room    *room
	gates   *gates
	faults  *faults
	meter   expr.Meter
	top     expansion // the run as one body: its counters
	changes []ledger.Change
	watcher Observer // nil: none
	decoded decoded.Outputs
	steps   ledger.Progress
	busy    int32 // nodes that only this process can change: ready, or running outside the engine
}

// init sets the parts of a tree.
func (t *tree) init(l ledger.Keeper, p *places, o *room) {
	t.l, t.places, t.room, t.plan, t.bank = l, p, o, p.plan, p.bank
	t.faults = &faults{l: l, places: p, tree: t, dependencies: map[int32]*dependents{}}
	t.gates = &gates{l: l, places: p, tree: t, blame: map[int32]*gateFailures{}, upstream: map[int32][]uint64{}}
}

// initNodes makes the nodes outside maps idle.
func (t *tree) initNodes() {
	for row := range t.l.Len() {
		n := &t.plan.Rows[row]
		if n.Map >= 0 || n.Kind == plan.Join {
			continue
		}
		t.l.Node(row).Status = ledger.Idle
		t.top.unsettled++
		if n.Kind == plan.Step {
			t.steps.Move(ledger.Absent, ledger.Idle)
		}
	}
}

// Progress counts the steps of a run, or the open calls of a routed run.
func (t *tree) Progress() ledger.Progress { return t.steps }

// attemptBegun records the first attempt of a node in the maps around it.
func (t *tree) attemptBegun(v int32) {
	t.gates.wake(v)
	t.markStarted(v)
	if t.l.Row(v).Feeds {
		t.gates.markGates(v, v)
	}
}

// Preconditions reports whether every node that a node needs is completed or skipped; true for a node without predecessors.
func (t *tree) Preconditions(v int32) bool {
	gate := plan.Unsatisfied
	if t.l.Row(v).Kind == plan.Gate {
		gate = plan.Unsettled
	}
	return t.bank.Count(v, gate) == 0
}

// Blocked reports whether a node that v needs failed or was aborted. If v is a conditional, failures that its test catches do
// not count.
func (t *tree) Blocked(v int32) bool {
	if t.l.Row(v).Kind == plan.Gate {
		return t.faults.blocker(v) >= 0
	}
	return t.bank.Count(v, plan.Blocked) > 0 || t.branch(v) == broken
}

// notifyChanged notifies the observer that a node and the maps around it have changed: the result of a map consists of its items'
// results.
func (t *tree) notifyChanged(v int32) {
	if t.watcher == nil {
		return
	}
	t.watcher.Changed(v)
	for b := t.l.Node(v).Block; b != 0; b = t.l.Node(v).Block {
		v = t.blocks[b].owner
		t.watcher.Changed(v)
	}
}

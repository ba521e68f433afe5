package reactive

import (
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
)

// shows is what a status lets successors see. A gate that has seen something move makes its branches wait.
func shows(kind plan.Kind, s ledger.Status, f ledger.Flags) uint8 {
	switch s {
	case ledger.Waiting:
		if kind == plan.Gate {
			return plan.ShowsMoved
		}
	case ledger.Completed, ledger.Skipped:
		if f&(ledger.Held|ledger.Pending) != 0 { // somebody is still to say that it is done, or it is to be done again
			return plan.ShowsMoved
		}
		return plan.ShowsSatisfied | plan.ShowsSettled | plan.ShowsMoved
	case ledger.Failed, ledger.Aborted:
		if f&ledger.Pending != 0 { // another attempt is to come
			return plan.ShowsMoved
		}
		return plan.ShowsBlocked | plan.ShowsSettled | plan.ShowsMoved
	case ledger.Running:
		return plan.ShowsMoved
	}
	return 0
}

// tree derives where the steps, maps and conditionals of a run stand, from what the ledger says of them and from what is around
// them.
type tree struct {
	*places
	l       ledger.Keeper
	room    *room
	gates   *gates
	faults  *faults
	meter   expr.Meter
	top     expansion // the run as one body: its counters
	changes []ledger.Change
	signals *Signals // nil until somebody asks for them
	opened  opened
	busy    int32 // nodes that only this process can move: ready, or running outside the engine
}

func newTree(l ledger.Keeper, p *places, o *room) *tree {
	t := &tree{l: l, places: p, room: o}
	t.faults = &faults{l: l, places: p, tree: t, dependencies: map[int32]*dependents{}}
	t.gates = &gates{l: l, places: p, tree: t, blame: map[int32]*blame{}, upstream: map[int32][]uint64{}}
	return t
}

// plant makes the nodes outside maps wait for the run's start.
func (t *tree) plant() {
	for row := range t.l.Len() {
		n := &t.plan.Nodes[row]
		if n.Map >= 0 || n.Kind == plan.Join {
			continue
		}
		t.l.Node(row).Status = ledger.Idle
		t.top.unsettled++
	}
}

// begun tells what is around a node that an attempt of it begins.
func (t *tree) begun(v int32) {
	t.gates.wake(v)
	t.markStarted(v)
	if t.l.Row(v).Feeds {
		t.gates.tellGates(v, v)
	}
}

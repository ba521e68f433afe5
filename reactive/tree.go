package reactive

import (
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
)

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

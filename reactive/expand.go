package reactive

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/plan"
)

// deriveMap considers, in this order: an abort of the map; the statuses of the items, once a node in one was requested; the
// failures that block the map; the branch around it; and its list, if the map may start.
func (t *tree) deriveMap(v int32) {
	n := t.l.Node(v)
	x := t.maps[v]
	if t.abortDependents() && n.Has(ledger.Begun) && n.Has(ledger.Expanded) && x.unsettled > 0 && !n.Has(ledger.ByHand) && t.blocked(v) {
		t.abortAll(v, t.faults.dependency(v))
		n.Flags |= ledger.Cascade
	}
	switch {
	case n.Has(ledger.ByHand):
		t.setStatus(v, ledger.Aborted)
	case n.Has(ledger.Begun) && n.Has(ledger.Expanded):
		t.setStatus(v, t.itemsStatus(v, x))
	case t.blocked(v):
		t.withdraw(v, ledger.Aborted)
		n.Failure = t.faults.dependency(v)
	case t.branch(v) == notTaken:
		t.withdraw(v, ledger.Skipped)
	case t.satisfied(v):
		if !n.Has(ledger.Expanded) && n.Fact == ledger.NoFact && !n.Has(ledger.Asked) {
			t.open(v)
		}
		t.setStatus(v, t.itemsStatus(v, t.maps[v]))
	default:
		t.withdraw(v, t.moved(v))
	}
}

// withdraw restores the state of a map before its expansion. Until one of its nodes is requested, its items exist only while
// the map may start.
func (t *tree) withdraw(v int32, s ledger.Status) {
	t.collapse(v)
	t.l.Node(v).Fact, t.l.Node(v).Failure = ledger.NoFact, nil
	t.l.Node(v).Flags &^= ledger.Asked
	t.setStatus(v, s)
}

// itemsStatus returns the status of a map that may start: running until its items have settled.
func (t *tree) itemsStatus(v int32, x *expansion) ledger.Status {
	switch {
	case t.l.Node(v).Fact == ledger.Errored:
		return ledger.Failed
	case !t.l.Node(v).Has(ledger.Expanded) || x.unsettled > 0:
		return ledger.Running
	case x.bad > 0 && t.failedItem(v, x) >= 0:
		return ledger.Failed
	}
	return ledger.Completed
}

// open evaluates a map's list, or requests a run of its Go function.
func (t *tree) open(v int32) {
	if t.l.Row(v).Func {
		t.l.Node(v).Flags |= ledger.Asked
		t.gates.asks = append(t.gates.asks, v)
		return
	}
	list, err := t.over(v)
	t.expand(v, list, err)
}

// expand makes the items of a map: one instance of the body for each.
func (t *tree) expand(v int32, list any, failure *journal.Failure) {
	n := t.l.Node(v)
	items, failure := t.items(v, list, failure)
	if failure != nil {
		n.Fact, n.Failure = ledger.Errored, failure
		t.l.Failed(v)
		return
	}
	x := t.maps[v]
	if x == nil {
		x = &expansion{}
		t.maps[v] = x
	}
	x.items = items
	n.Flags |= ledger.Expanded
	row := t.bank.Row(v)
	end := t.plan.Nodes[row].End
	for i := range items {
		if i == len(x.blocks) {
			x.blocks = append(x.blocks, t.addBlock(v, int32(i)))
		}
		base := t.blocks[x.blocks[i]].base
		for u := base; u < base+end-row-1; u++ {
			if t.l.Row(u).Map != row {
				continue // in a map of this body, whose items are separate blocks
			}
			if t.l.Row(u).Kind != plan.Join {
				t.setStatus(u, ledger.Idle)
				x.unsettled++
			}
			t.bank.Mark(u)
		}
	}
}

// items returns the items of a map, or a failure if there are too many.
func (t *tree) items(v int32, list any, failure *journal.Failure) ([]any, *journal.Failure) {
	if failure != nil {
		return nil, failure
	}
	items, ok := list.([]any)
	if !ok {
		return nil, &journal.Failure{Code: CodeOver, Message: fmt.Sprintf("a map needs a list, not %s", journal.KindOf(list))}
	}
	made := 0 // items of a withdrawn expansion, whose nodes are reused
	if x := t.maps[v]; x != nil {
		made = len(x.blocks)
	}
	row := t.bank.Row(v)
	more := (len(items) - made) * int(t.plan.Nodes[row].End-row-1)
	switch start := t.l.Start(); {
	case start.MapItemsMax > 0 && len(items) > int(start.MapItemsMax):
		return nil, &journal.Failure{Code: CodeLimit,
			Message: fmt.Sprintf("a list of %d items; a map may have %d", len(items), start.MapItemsMax)}
	case start.InstancesMax > 0 && more > 0 && int(t.l.Len())+more > int(start.InstancesMax):
		return nil, &journal.Failure{Code: CodeLimit, Message: fmt.Sprintf(
			"a list of %d items makes %d steps, conditionals and maps in the run; it may have %d", len(items), int(t.l.Len())+more, start.InstancesMax)}
	}
	return items, nil
}

// addBlock appends one instance of a map's body.
func (t *tree) addBlock(v, index int32) int32 {
	row := t.bank.Row(v)
	n := &t.plan.Nodes[row]
	b := int32(len(t.blocks))
	base := t.bank.Add(row+1, n.End)
	for range n.End - row - 1 {
		t.l.Add(ledger.Node{Block: b})
	}
	t.blocks = append(t.blocks, block{owner: v, parent: t.l.Node(v).Block, index: index, row: row, base: base})
	t.blocks[b].slots = t.room.addGroups(n.Slots[0], n.Slots[1], v)
	return b
}

// collapse removes the items of a map. A node that a person aborted stays aborted if its item returns.
func (t *tree) collapse(v int32) {
	n := t.l.Node(v)
	if !n.Has(ledger.Expanded) {
		return
	}
	n.Flags &^= ledger.Expanded
	x := t.maps[v]
	row := t.bank.Row(v)
	size := t.plan.Nodes[row].End - row - 1
	for i := range x.items {
		base := t.blocks[x.blocks[i]].base
		for u := base; u < base+size; u++ {
			if t.maps[u] != nil {
				t.collapse(u)
			}
			if t.l.Node(u).Status != ledger.Absent {
				t.setStatus(u, ledger.Absent)
			}
			keep := t.l.Node(u).Flags & (ledger.ByHand)
			*t.l.Node(u) = ledger.Node{Block: t.l.Node(u).Block, Flags: keep}
			delete(t.gates.blame, u)
		}
		t.bank.Reset(base, size)
	}
	x.items, x.unsettled, x.bad = nil, 0, 0
}

// abortItems stops all nodes of a map's items that have not ended.
func (t *tree) abortItems(x *expansion, why *journal.Failure) {
	for i := range x.items {
		b := &t.blocks[x.blocks[i]]
		size := t.plan.Nodes[b.row].End - b.row - 1
		for u := b.base; u < b.base+size; u++ {
			n := t.l.Node(u)
			if n.Status == ledger.Absent || t.l.Final(u) {
				continue
			}
			if t.l.Row(u).Kind == plan.Gate {
				n.Flags |= ledger.Stuck
				t.bank.Mark(u)
				continue
			}
			t.abortAll(u, why)
			n.Flags |= ledger.Cascade
		}
	}
}

// failedItem returns the index of a map's first failed item; -1 if conditionals of the body caught every failure. An item
// fails like a run.
func (t *tree) failedItem(v int32, x *expansion) int {
	for i := range x.items {
		if lo, hi := t.extent(x.blocks[i]); t.faults.firstUncaught(lo, hi) >= 0 {
			return i
		}
	}
	return -1
}

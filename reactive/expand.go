package reactive

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
)

// deriveMap: an abort stands; then what the items say, once one of them was requested; then what blocks the map, the
// branch around it, and, when it may start, its list.
func (t *tree) deriveMap(v int32) {
	n := &t.l.nodes[v]
	x := t.maps[v]
	if t.abortDependents() && n.has(started) && n.has(expanded) && x.unsettled > 0 && !n.has(aborted) && t.blocked(v) {
		t.abortAll(v, t.faults.dependency(v))
		n.flags |= cascade
	}
	switch {
	case n.has(aborted):
		t.setStatus(v, Aborted)
	case n.has(started) && n.has(expanded):
		t.setStatus(v, t.itemsStatus(v, x))
	case t.blocked(v):
		t.withdraw(v, Aborted)
		n.failure = t.faults.dependency(v)
	case t.branch(v) == notTaken:
		t.withdraw(v, Skipped)
	case t.satisfied(v):
		if !n.has(expanded) && n.fact == none && !n.has(asked) {
			t.open(v)
		}
		t.setStatus(v, t.itemsStatus(v, t.maps[v]))
	default:
		t.withdraw(v, t.moved(v))
	}
}

// withdraw takes a map back to before its expansion: as long as nothing in it was requested, its items exist only while
// it may start.
func (t *tree) withdraw(v int32, s Status) {
	t.collapse(v)
	t.l.nodes[v].fact, t.l.nodes[v].failure = none, nil
	t.l.nodes[v].flags &^= asked
	t.setStatus(v, s)
}

// itemsStatus is what a map that may start says: running until its items have settled.
func (t *tree) itemsStatus(v int32, x *expansion) Status {
	switch {
	case t.l.nodes[v].fact == errored:
		return Failed
	case !t.l.nodes[v].has(expanded) || x.unsettled > 0:
		return Running
	case x.bad > 0 && t.failedItem(v, x) >= 0:
		return Failed
	}
	return Completed
}

// open evaluates a map's list, or asks for its Go function to be run.
func (t *tree) open(v int32) {
	if t.l.Row(v).Func {
		t.l.nodes[v].flags |= asked
		t.gates.asks = append(t.gates.asks, v)
		return
	}
	list, err := t.over(v)
	t.expand(v, list, err)
}

// expand makes a map's items: an instance of its body each.
func (t *tree) expand(v int32, list any, failure *journal.Failure) {
	n := &t.l.nodes[v]
	items, failure := t.items(v, list, failure)
	if failure != nil {
		n.fact, n.failure = errored, failure
		t.l.fails = append(t.l.fails, v)
		return
	}
	x := t.maps[v]
	if x == nil {
		x = &expansion{}
		t.maps[v] = x
	}
	x.items = items
	n.flags |= expanded
	row := t.l.bank.Row(v)
	end := t.l.plan.Nodes[row].End
	for i := range items {
		if i == len(x.blocks) {
			x.blocks = append(x.blocks, t.addBlock(v, int32(i)))
		}
		base := t.blocks[x.blocks[i]].base
		for u := base; u < base+end-row-1; u++ {
			if t.l.Row(u).Map != row {
				continue // in a map of this body, whose items are blocks of their own
			}
			if t.l.Row(u).Kind != plan.Join {
				t.setStatus(u, Idle)
				x.unsettled++
			}
			t.l.bank.Mark(u)
		}
	}
}

// items are those that a map is to have, unless there may not be so many.
func (t *tree) items(v int32, list any, failure *journal.Failure) ([]any, *journal.Failure) {
	if failure != nil {
		return nil, failure
	}
	items, ok := list.([]any)
	if !ok {
		return nil, &journal.Failure{Code: CodeOver, Message: fmt.Sprintf("a map needs a list, not %s", kindOf(list))}
	}
	made := 0 // items of an expansion that was withdrawn: their nodes serve again
	if x := t.maps[v]; x != nil {
		made = len(x.blocks)
	}
	row := t.l.bank.Row(v)
	more := (len(items) - made) * int(t.l.plan.Nodes[row].End-row-1)
	switch start := t.l.run.start; {
	case start.MapItemsMax > 0 && len(items) > int(start.MapItemsMax):
		return nil, &journal.Failure{Code: CodeLimit,
			Message: fmt.Sprintf("a list of %d items; a map may have %d", len(items), start.MapItemsMax)}
	case start.InstancesMax > 0 && more > 0 && len(t.l.nodes)+more > int(start.InstancesMax):
		return nil, &journal.Failure{Code: CodeLimit, Message: fmt.Sprintf(
			"a list of %d items makes %d steps, conditionals and maps in the run; it may have %d", len(items), len(t.l.nodes)+more, start.InstancesMax)}
	}
	return items, nil
}

// addBlock appends one instance of a map's body.
func (t *tree) addBlock(v, index int32) int32 {
	row := t.l.bank.Row(v)
	n := &t.l.plan.Nodes[row]
	b := int32(len(t.blocks))
	base := t.l.bank.Add(row+1, n.End)
	for range n.End - row - 1 {
		t.l.nodes = append(t.l.nodes, node{block: b})
	}
	t.blocks = append(t.blocks, block{owner: v, parent: t.l.nodes[v].block, index: index, row: row, base: base})
	t.blocks[b].slots = t.room.addGroups(n.Slots[0], n.Slots[1], v)
	return b
}

// collapse takes the items of a map away again. What a person aborted stays aborted, should the item come back.
func (t *tree) collapse(v int32) {
	n := &t.l.nodes[v]
	if !n.has(expanded) {
		return
	}
	n.flags &^= expanded
	x := t.maps[v]
	row := t.l.bank.Row(v)
	size := t.l.plan.Nodes[row].End - row - 1
	for i := range x.items {
		base := t.blocks[x.blocks[i]].base
		for u := base; u < base+size; u++ {
			if t.maps[u] != nil {
				t.collapse(u)
			}
			if t.l.nodes[u].status != Absent {
				t.setStatus(u, Absent)
			}
			keep := t.l.nodes[u].flags & (aborted)
			t.l.nodes[u] = node{block: t.l.nodes[u].block, flags: keep}
			delete(t.gates.blame, u)
		}
		t.l.bank.Reset(base, size)
	}
	x.items, x.unsettled, x.bad = nil, 0, 0
}

// abortItems stops what has not ended in a map's items.
func (t *tree) abortItems(x *expansion, why *journal.Failure) {
	for i := range x.items {
		b := &t.blocks[x.blocks[i]]
		size := t.l.plan.Nodes[b.row].End - b.row - 1
		for u := b.base; u < b.base+size; u++ {
			n := &t.l.nodes[u]
			if n.status == Absent || t.l.Final(u) {
				continue
			}
			if t.l.Row(u).Kind == plan.Gate {
				n.flags |= stuck
				t.l.bank.Mark(u)
				continue
			}
			t.abortAll(u, why)
			n.flags |= cascade
		}
	}
}

// failedItem is the index of a map's first failed item; -1: every failure in it was caught by a conditional of its
// body. An item fails like a run does.
func (t *tree) failedItem(v int32, x *expansion) int {
	for i := range x.items {
		if lo, hi := t.extent(x.blocks[i]); t.faults.firstUncaught(lo, hi) >= 0 {
			return i
		}
	}
	return -1
}

package reactive

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
)

// deriveMap: an abort stands; then what the items say, once one of them was requested; then what blocks the map, the
// branch around it, and, when it may start, its list.
func (r *Root) deriveMap(v int32) {
	n := &r.nodes[v]
	x := r.maps[v]
	if r.abortDependents() && n.has(started) && n.has(expanded) && x.unsettled > 0 && !n.has(aborted) && r.blocked(v) {
		r.abort(v, r.dependency(v))
		n.flags |= cascade
	}
	switch {
	case n.has(aborted):
		r.setStatus(v, Aborted)
	case n.has(started) && n.has(expanded):
		r.setStatus(v, r.itemsStatus(v, x))
	case r.blocked(v):
		r.withdraw(v, Aborted)
		n.failure = r.dependency(v)
	case r.branch(v) == notTaken:
		r.withdraw(v, Skipped)
	case r.satisfied(v):
		if !n.has(expanded) && n.fact == none && !n.has(asked) {
			r.open(v)
		}
		r.setStatus(v, r.itemsStatus(v, r.maps[v]))
	default:
		r.withdraw(v, r.moved(v))
	}
}

// withdraw takes a map back to before its expansion: as long as nothing in it was requested, its items exist only while
// it may start.
func (r *Root) withdraw(v int32, s Status) {
	r.collapse(v)
	r.nodes[v].fact, r.nodes[v].failure = none, nil
	r.nodes[v].flags &^= asked
	r.setStatus(v, s)
}

// itemsStatus is what a map that may start says: running until its items have settled.
func (r *Root) itemsStatus(v int32, x *expansion) Status {
	switch {
	case r.nodes[v].fact == errored:
		return Failed
	case !r.nodes[v].has(expanded) || x.unsettled > 0:
		return Running
	case x.bad > 0 && r.failedItem(v, x) >= 0:
		return Failed
	}
	return Completed
}

// open evaluates a map's list, or asks for its Go function to be run.
func (r *Root) open(v int32) {
	if r.row(v).Func {
		r.nodes[v].flags |= asked
		r.asks = append(r.asks, v)
		return
	}
	list, err := r.over(v)
	r.expand(v, list, err)
}

// expand makes a map's items: an instance of its body each.
func (r *Root) expand(v int32, list any, failure *journal.Failure) {
	n := &r.nodes[v]
	items, failure := r.items(v, list, failure)
	if failure != nil {
		n.fact, n.failure = errored, failure
		r.fails = append(r.fails, v)
		return
	}
	x := r.maps[v]
	if x == nil {
		x = &expansion{}
		r.maps[v] = x
	}
	x.items = items
	n.flags |= expanded
	row := r.bank.Row(v)
	end := r.plan.Nodes[row].End
	for i := range items {
		if i == len(x.blocks) {
			x.blocks = append(x.blocks, r.addBlock(v, int32(i)))
		}
		base := r.blocks[x.blocks[i]].base
		for u := base; u < base+end-row-1; u++ {
			if r.row(u).Map != row {
				continue // in a map of this body, whose items are blocks of their own
			}
			if r.row(u).Kind != plan.Join {
				r.setStatus(u, Idle)
				x.unsettled++
			}
			r.bank.Mark(u)
		}
	}
}

// items are those that a map is to have, unless there may not be so many.
func (r *Root) items(v int32, list any, failure *journal.Failure) ([]any, *journal.Failure) {
	if failure != nil {
		return nil, failure
	}
	items, ok := list.([]any)
	if !ok {
		return nil, &journal.Failure{Code: CodeOver, Message: fmt.Sprintf("a map needs a list, not %s", kindOf(list))}
	}
	made := 0 // items of an expansion that was withdrawn: their nodes serve again
	if x := r.maps[v]; x != nil {
		made = len(x.blocks)
	}
	row := r.bank.Row(v)
	more := (len(items) - made) * int(r.plan.Nodes[row].End-row-1)
	switch start := r.run.start; {
	case start.MapItemsMax > 0 && len(items) > int(start.MapItemsMax):
		return nil, &journal.Failure{Code: CodeLimit,
			Message: fmt.Sprintf("a list of %d items; a map may have %d", len(items), start.MapItemsMax)}
	case start.InstancesMax > 0 && more > 0 && len(r.nodes)+more > int(start.InstancesMax):
		return nil, &journal.Failure{Code: CodeLimit, Message: fmt.Sprintf(
			"a list of %d items makes %d steps, conditionals and maps in the run; it may have %d", len(items), len(r.nodes)+more, start.InstancesMax)}
	}
	return items, nil
}

// addBlock appends one instance of a map's body.
func (r *Root) addBlock(v, index int32) int32 {
	row := r.bank.Row(v)
	n := &r.plan.Nodes[row]
	b := int32(len(r.blocks))
	base := r.bank.Add(row+1, n.End)
	for range n.End - row - 1 {
		r.nodes = append(r.nodes, node{block: b})
	}
	r.blocks = append(r.blocks, block{owner: v, parent: r.nodes[v].block, index: index, row: row, base: base})
	r.blocks[b].slots = r.addGroups(n.Slots[0], n.Slots[1], v)
	return b
}

// collapse takes the items of a map away again. What a person aborted stays aborted, should the item come back.
func (r *Root) collapse(v int32) {
	n := &r.nodes[v]
	if !n.has(expanded) {
		return
	}
	n.flags &^= expanded
	x := r.maps[v]
	row := r.bank.Row(v)
	size := r.plan.Nodes[row].End - row - 1
	for i := range x.items {
		base := r.blocks[x.blocks[i]].base
		for u := base; u < base+size; u++ {
			if r.maps[u] != nil {
				r.collapse(u)
			}
			if r.nodes[u].status != Absent {
				r.setStatus(u, Absent)
			}
			keep := r.nodes[u].flags & (aborted)
			r.nodes[u] = node{block: r.nodes[u].block, flags: keep}
			delete(r.blame, u)
		}
		r.bank.Reset(base, size)
	}
	x.items, x.unsettled, x.bad = nil, 0, 0
}

// abortItems stops what has not ended in a map's items.
func (r *Root) abortItems(x *expansion, why *journal.Failure) {
	for i := range x.items {
		b := &r.blocks[x.blocks[i]]
		size := r.plan.Nodes[b.row].End - b.row - 1
		for u := b.base; u < b.base+size; u++ {
			n := &r.nodes[u]
			if n.status == Absent || r.Final(u) {
				continue
			}
			if r.row(u).Kind == plan.Gate {
				n.flags |= stuck
				r.bank.Mark(u)
				continue
			}
			r.abort(u, why)
			n.flags |= cascade
		}
	}
}

// failedItem is the index of a map's first failed item; -1: every failure in it was caught by a conditional of its
// body. An item fails like a run does.
func (r *Root) failedItem(v int32, x *expansion) int {
	for i := range x.items {
		if lo, hi := r.extent(x.blocks[i]); r.firstUncaught(lo, hi) >= 0 {
			return i
		}
	}
	return -1
}

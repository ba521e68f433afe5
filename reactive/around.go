package reactive

import (
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/plan"
)

// Chose returns the branch that a conditional has chosen, Undecided before it has chosen.
func (t *tree) Chose(v int32) plan.Branch {
	switch t.l.Node(v).Fact {
	case ledger.DecidedThen:
		return plan.Then
	case ledger.DecidedElse:
		return plan.Else
	}
	return plan.Undecided
}

// Inside returns the branch of the surrounding conditional that a node is in.
func (t *tree) Inside(v int32) plan.Branch { return t.l.Row(v).Branch }

// Around returns the innermost conditional around a node. It reports false if there is none.
func (t *tree) Around(v int32) (int32, bool) {
	g := t.l.Row(v).Gate
	if g < 0 {
		return -1, false
	}
	return t.inSameBody(v, g), true
}

// Items returns the steps, maps and conditionals in the current items of a map, in the order of the items.
func (t *tree) Items(v int32) []int32 {
	x := t.maps[v]
	if x == nil {
		return nil
	}
	var list []int32
	for i := range x.items {
		b := &t.blocks[x.blocks[i]]
		size := t.plan.Nodes[b.row].End - b.row - 1
		for u := b.base; u < b.base+size; u++ {
			if t.l.Status(u) != Absent && t.l.Row(u).Kind != plan.Join {
				list = append(list, u)
			}
		}
	}
	return list
}

// Unmet returns the predecessors that a node still waits for. It looks through joins, so a predecessor that is reached
// through several of them appears once for each.
func (t *tree) Unmet(v int32) []int32 { return t.unmet(v, plan.ShowsSatisfied) }

func (t *tree) unmet(v int32, wanted uint8) []int32 {
	var list []int32
	for _, p := range t.plan.Predecessors(t.bank.Row(v)) {
		u := t.inSameBody(v, p)
		need := wanted
		if t.l.Row(v).Kind == plan.Gate || t.faults.settles(u, v) {
			need = plan.ShowsSettled
		}
		switch {
		case t.plan.Nodes[p].Kind == plan.Join:
			list = append(list, t.unmet(u, need)...)
		case t.l.Row(v).Gate == p, t.bank.Output(u)&need != 0:
		default:
			list = append(list, u)
		}
	}
	return list
}

// Causes returns the nodes whose failure made a node abort. It looks through joins, so a node that is reached through
// several of them appears once for each.
func (fs *faults) Causes(v int32) []int32 {
	var list []int32
	for _, u := range fs.causes(v) {
		if fs.l.Row(u).Kind == plan.Join {
			list = append(list, fs.Causes(u)...)
			continue
		}
		list = append(list, u)
	}
	return list
}

// Full returns the limit that keeps a node from starting, and the nodes that hold its slots. It reports false if no limit keeps
// the node from starting.
func (o *room) Full(v int32) (limit int32, holders []int32, ok bool) {
	if !o.l.Node(v).Has(ledger.Candidate) {
		return 0, nil, false
	}
	for g := o.groupOf(v); g >= 0; g = o.slots.Parent(g) {
		limit, used := o.slots.Limit(g)
		if limit == 0 || used < limit {
			continue
		}
		for u := int32(0); u < o.l.Len() && len(holders) < int(used); u++ { // stops early: thousands of nodes may wait for a few slots
			if o.l.Node(u).Has(ledger.Holding) && o.within(u, g) {
				holders = append(holders, u)
			}
		}
		return limit, holders, true
	}
	return 0, nil, false
}

// within reports whether a node's slots count in a group.
func (o *room) within(v, group int32) bool {
	for g := o.groupOf(v); g >= 0; g = o.slots.Parent(g) {
		if g == group {
			return true
		}
	}
	return false
}

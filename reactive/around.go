package reactive

import (
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/plan"
)

// Chose returns the branch that a conditional has decided for; Undecided when it has not.
func (t *tree) Chose(v int32) plan.Branch {
	switch t.l.Node(v).Fact {
	case ledger.DecidedThen:
		return plan.Then
	case ledger.DecidedElse:
		return plan.Else
	}
	return plan.Undecided
}

// Inside returns the branch of the conditional around it that a node stands in.
func (t *tree) Inside(v int32) plan.Branch { return t.l.Row(v).Branch }

// Around returns the conditional around a node. It reports false when there is none.
func (t *tree) Around(v int32) (int32, bool) {
	g := t.l.Row(v).Gate
	if g < 0 {
		return -1, false
	}
	return t.beside(v, g), true
}

// Items returns the steps, maps and conditionals of the items that a map has now, in the order of the items.
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

// Unmet returns the predecessors of a node that have not come as far as it needs, those behind meeting points included; one that is
// behind several is there as often.
func (t *tree) Unmet(v int32) []int32 { return t.unmet(v, plan.ShowsSatisfied) }

func (t *tree) unmet(v int32, wanted uint8) []int32 {
	var list []int32
	for _, p := range t.plan.Predecessors(t.bank.Row(v)) {
		u := t.beside(v, p)
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

// Behind returns the nodes whose failure has taken a node with it, those behind meeting points included; one that is behind several is
// there as often.
func (fs *faults) Behind(v int32) []int32 {
	var list []int32
	for _, u := range fs.behindOf(v) {
		if fs.l.Row(u).Kind == plan.Join {
			list = append(list, fs.Behind(u)...)
			continue
		}
		list = append(list, u)
	}
	return list
}

// Full returns the limit that keeps a node from starting, and the holders of its slots. It reports false when none does.
func (o *room) Full(v int32) (limit int32, holders []int32, ok bool) {
	if !o.l.Node(v).Has(ledger.Candidate) {
		return 0, nil, false
	}
	for g := o.groupOf(v); g >= 0; g = o.slots.Parent(g) {
		limit, used := o.slots.Limit(g)
		if limit == 0 || used < limit {
			continue
		}
		for u := int32(0); u < o.l.Len() && len(holders) < int(used); u++ { // thousands may wait for what the first few hold
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

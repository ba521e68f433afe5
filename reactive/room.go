package reactive

import "github.com/sluiceflow/sluice/reactive/ledger"

// room says which nodes may start: it gives them their slots, and keeps those that have them in the order of the template, by
// what a process must have for them.
type room struct {
	*places
	l      ledger.Keeper
	slots  slots
	starts starts
	apart  []starts // those whose calls need another room than most, by that; nil: they are among the others
	rooms  []Room   // by operation; nil: all need the same
}

func newRoom(l ledger.Keeper, p *places) *room {
	o := &room{l: l, places: p}
	o.slots.less, o.slots.valid = o.entryBefore, o.isCandidate
	o.starts = newStarts(int(l.Len()), o.entryBefore)
	o.slots.add(-1, 0)
	o.addGroups(0, int32(len(p.plan.Groups)), 0)
	return o
}

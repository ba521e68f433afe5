package reactive

import (
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/plan"
)

// block is one item of a map: an instance of the map's body.
//
// Node lo+i of the body's rows [row+1, End) is node base+i.
type block struct {
	owner  int32 // node of the map
	parent int32 // block that holds the map
	index  int32 // of the item
	row    int32 // row of the map
	base   int32 // first node
	slots  int32 // first of its groups
}

// expansion is what a map has made of its list.
type expansion struct {
	items     []any
	blocks    []int32 // by item; may be longer than items: those of a former, longer list are kept for reuse
	unsettled int32   // nodes of the items that have not settled
	bad       int32   // nodes of the items that are failed for good or aborted
}

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

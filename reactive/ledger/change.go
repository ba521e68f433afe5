package ledger

import (
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Effect is the effect of an event.
type Effect uint8

// The effects.
const (
	Applied   Effect = iota // it changed the state of the run
	Duplicate               // it repeats an earlier event
	Late                    // its attempt, or the run, had already ended
	Unbound                 // it belongs to no node (yet)
)

var outcomeNames = [...]string{"applied", "duplicate", "late", "unbound"}

// Counted reports whether the event changed the state of the run.
func (o Effect) Counted() bool { return o == Applied }

func (o Effect) String() string { return outcomeNames[o] }

// Change is a change of one node's status, caused by the event with sequence Seq.
type Change struct {
	Node     int32       // row
	From, To Status      // before and after the event
	Seq      uint64      // sequence of the event
	Call     *CallChange // nil unless the run is routed
}

// TaskChange is a change of the state of a step's task, caused by the event applied last.
type TaskChange struct {
	Key      string           // of the node
	Attempt  int32            // of the step, from 1
	From, To call.Fulfillment // before and after the event
	Failure  *journal.Failure // set if the step failed or was skipped by it
}

// CallChange is a copy of a call's state at the change of its status. Another call may have the node meanwhile.
type CallChange struct {
	Key     string           // of the call within the step-run
	Attempt int32            // newest, from 1
	Pending bool             // failed, with a pending retry
	Failure *journal.Failure // set if it failed or was aborted
	Output  any              // set if it has completed
}

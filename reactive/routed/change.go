package routed

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
)

// StepChange is the change of a step's status.
type StepChange struct {
	Step     string           // the step, or the key of its run
	From, To ledger.Status    // before and after the event
	Failure  *journal.Failure // set if it failed, was aborted or was skipped by its timing; its Step is its origin, if another step
}

// LoopChange is the progress of a loop.
type LoopChange struct {
	Step         string // key of the step-run, such as `fetch@2`
	Done, Failed int    // iterations
	Items        int    // number of items
}

// Changes collects the changes of the steps of a body, which it watches.
type Changes interface {
	// Take returns the changes since the last Take: of statuses in order, and of each loop only the last.
	Take() ([]StepChange, []LoopChange)

	// Marks returns the markings that had changed at the last Take, and the sequence of the last event that has written to the
	// context.
	Marks() ([]Marking, uint64)
}

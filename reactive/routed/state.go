package routed

import (
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/value"
)

// StepState is the state of one step, over all of its runs.
type StepState struct {
	Step    string           // name
	Status  ledger.Status    // of its newest run; waiting if a token is at its gate or join and no run is in progress
	Runs    int              // runs scheduled so far
	Live    int              // runs in progress
	Ready   int              // admitted tokens that wait for their turn
	Pending int              // tokens at its gate
	Held    int              // tokens at its join
	Failure *journal.Failure // of its newest failed run
	Result  value.Value      // newest
	Routed  Arcs             // its newest run
}

// Arcs describes the arcs that the newest run of a step took.
type Arcs struct {
	Run     string           // key of the step-run; "": no run has ended yet
	Seq     uint64           // of the event that ended it
	Arcs    []int            // indexes of the arcs taken
	Failure *journal.Failure // set if the arcs could not be followed
	Taken   []int            // indexes of the arcs by which any run has put a token, sorted
}

// Ended records the newest ended run: the arcs that it takes, or the error if they could not be followed.
func (a *Arcs) Ended(run string, seq uint64, arcs []int, why *journal.Failure) {
	*a = Arcs{Run: run, Seq: seq, Arcs: arcs, Failure: why, Taken: a.Taken}
}

// Put records that a token was put by an arc. It does not change a returned Taken.
func (a *Arcs) Put(arc int) {
	if at, ok := slices.BinarySearch(a.Taken, arc); !ok {
		a.Taken = slices.Insert(slices.Clone(a.Taken), at, arc)
	}
}

// Marking is a step as a place and a transition of a net: the tokens before it, and its step-runs.
type Marking struct {
	Step    string // name
	Ready   int    // admitted tokens that wait for their turn
	Pending int    // tokens at its gate
	Held    int    // tokens at its join
	Runs    int    // step-runs so far, each for one token
	Live    int    // step-runs in progress
	Arcs    []int  // indexes of the arcs by which its newest ended run has put tokens
	Taken   []int  // indexes of the arcs by which any run has put tokens
}

// Marking returns a step as part of a net.
func (s *StepState) Marking() Marking {
	return Marking{Step: s.Step, Ready: s.Ready, Pending: s.Pending, Held: s.Held, Runs: s.Runs, Live: s.Live, Arcs: s.Routed.Arcs, Taken: s.Routed.Taken}
}

// Counts are the totals of a run.
type Counts struct {
	StepsRun, Succeeded, Failed  int // step-runs; StepsRun excludes the final step
	NormalBranches, BadBranches  int // completed and failed branches
	Discarded, Pending, Admitted int // tokens
	Jumps                        int // in all pipelines
}

// Place describes the task that a call belongs to.
type Place struct {
	Step, Run, Task, Kind string // name of the step, key of the step-run, label and kind of the task
	Iteration             int    // of its loop, from 0; -1: the step has none
}

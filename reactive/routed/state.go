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
	Status  ledger.Status    // of its newest run; waiting while a token is at its gate or join and none of it runs
	Runs    int              // scheduled so far
	Live    int              // under way
	Ready   int              // tokens that are let in, and wait for their turn
	Pending int              // tokens at its gate
	Held    int              // tokens at its join
	Failure *journal.Failure // of its newest failed run
	Result  value.Value      // newest
	Routed  Arcs             // its newest run
}

// Arcs describes the arcs that the newest run of a step took.
type Arcs struct {
	Run     string           // key of the step-run; "": none has ended yet
	Seq     uint64           // of the event that ended it
	Arcs    []int            // indexes of the arcs taken
	Failure *journal.Failure // why the arcs could not be followed
	Taken   []int            // indexes of the arcs by which any run has put a token, in order
}

// Ended notes the newest run that has ended: the arcs that it takes, or why they could not be followed.
func (a *Arcs) Ended(run string, seq uint64, arcs []int, why *journal.Failure) {
	*a = Arcs{Run: run, Seq: seq, Arcs: arcs, Failure: why, Taken: a.Taken}
}

// Put notes that a token was put by an arc. It changes no Taken that was handed out.
func (a *Arcs) Put(arc int) {
	if at, ok := slices.BinarySearch(a.Taken, arc); !ok {
		a.Taken = slices.Insert(slices.Clone(a.Taken), at, arc)
	}
}

// Marking is a step as a place and a transition of a net: how many tokens are before it, and how often it has taken one.
type Marking struct {
	Step    string // name
	Ready   int    // tokens that are let in, and wait for their turn
	Pending int    // tokens at its gate
	Held    int    // tokens at its join
	Runs    int    // step-runs so far: each has taken a token
	Live    int    // step-runs under way
	Arcs    []int  // indexes of the arcs by which its newest ended run has put tokens
	Taken   []int  // indexes of the arcs by which any run has put tokens
}

// Marking returns a step as part of a net.
func (s *StepState) Marking() Marking {
	return Marking{Step: s.Step, Ready: s.Ready, Pending: s.Pending, Held: s.Held, Runs: s.Runs, Live: s.Live, Arcs: s.Routed.Arcs, Taken: s.Routed.Taken}
}

// Counts are the totals of a run.
type Counts struct {
	StepsRun, Succeeded, Failed  int // step-runs; the final step's are not among StepsRun
	NormalBranches, BadBranches  int // branches that completed; that failed
	Discarded, Pending, Admitted int // tokens
	Jumps                        int // in all pipelines
}

// Place describes the task that a call belongs to.
type Place struct {
	Step, Run, Task, Kind string // name of the step, key of the step-run, label and kind of the task
	Iteration             int    // of its loop, from 0; -1: the step has none
}

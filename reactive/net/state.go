package net

import (
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// StepState is where one step stands, over all of its runs.
type StepState struct {
	Step    string
	Status  reactive.Status  // of its newest run; waiting while a token is at its gate or join and none of it runs
	Runs    int              // scheduled so far
	Live    int              // under way
	Pending int              // tokens at its gate
	Parked  int              // tokens at its join
	Failure *journal.Failure // of its newest failed run
	Result  value.Value      // newest
	Routed  Routed           // its newest run
}

// Routed is where the newest run of a step that has arcs went.
type Routed struct {
	Run     string           // "": none has ended yet
	Seq     uint64           // of the event that ended it
	Arcs    []int            // those that its tokens left by
	Failure *journal.Failure // why the arcs could not be followed
}

// Step gives where a step stands, by its index.
func (n *Net) Step(i int) StepState {
	s := &n.steps[i]
	out := StepState{
		Step: n.book.Steps[i].Name, Status: s.status, Runs: int(s.runs), Live: int(s.live), Pending: int(s.pending),
		Parked: int(s.parked), Failure: s.failure, Result: s.result, Routed: s.routed,
	}
	switch {
	case s.live > 0:
		out.Status = reactive.Running
	case s.pending+s.parked > 0:
		out.Status = reactive.Waiting
	}
	return out
}

// StepNow is where a step stands, by its name, and what its newest run with a result has returned.
func (n *Net) StepNow(name string) (reactive.Status, any, bool) {
	i, ok := n.book.StepIndex(name)
	if !ok {
		return reactive.Absent, nil, false
	}
	s := n.Step(i)
	return s.Status, s.Result, true
}

// Counts are how much of what there was.
type Counts struct {
	StepsRun, Succeeded, Failed  int // step-runs; the final step's are not among StepsRun
	NormalBranches, BadBranches  int
	Discarded, Pending, Admitted int // tokens
	Jumps                        int
}

// Counts gives the net's counts.
func (n *Net) Counts() Counts {
	return Counts{
		StepsRun: n.runs.scheduled, Succeeded: n.tally.succeeded, Failed: n.tally.failed,
		NormalBranches: n.tally.normal, BadBranches: n.tally.bad,
		Discarded: n.tally.discarded, Pending: n.gates.Len(), Admitted: n.ready.Len(), Jumps: n.pipelines.jumps,
	}
}

// Secrets gives the marks of those that the call of a cell is given; none when it is not open.
func (n *Net) Secrets(v int32) []string {
	if it := n.pipelines.byCell[v]; it != nil {
		return it.task().Secrets
	}
	return nil
}

// Place is what a call of the net is for.
type Place struct {
	Step, Run, Task, Kind string
	Iteration             int // of its loop, from 0; -1: the step has none
}

// Place says what a cell is for. It reports false when the cell is not open.
func (n *Net) Place(v int32) (Place, bool) {
	it := n.pipelines.byCell[v]
	if it == nil {
		return Place{}, false
	}
	p := Place{Step: it.run.step.Name, Run: it.run.key, Task: it.task().Label, Kind: it.task().Kind, Iteration: -1}
	if it.run.step.Loop != nil {
		p.Iteration = int(it.index)
	}
	return p, true
}

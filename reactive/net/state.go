package net

import (
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/explain"
	"github.com/sluiceflow/sluice/reactive/net/queries"
	"github.com/sluiceflow/sluice/reactive/routed"
)

// Step returns the state of a step, by its index.
func (n *Net) Step(i int) routed.StepState {
	s := &n.steps[i]
	out := routed.StepState{
		Step: n.book.Steps[i].Name, Status: s.status, Runs: int(s.runs), Live: int(s.live), Ready: int(s.ready),
		Pending: int(s.pending), Held: int(s.held), Failure: s.failure, Result: s.result, Routed: s.routed,
	}
	switch {
	case s.live > 0:
		out.Status = reactive.Running
	case s.pending+s.held > 0:
		out.Status = reactive.Waiting
	}
	return out
}

// touch returns the state of a step and records that its marking changes.
func (n *Net) touch(step int) *stepState {
	if n.watch != nil {
		n.marks.Touch(step)
	}
	return &n.steps[step]
}

// Names returns the names of the playbook's steps.
func (n *Net) Names() []string { return n.book.StepNames() }

// Tasks returns the labels of a step's tasks, or nil if there is no such step.
func (n *Net) Tasks(step string) []string {
	i, ok := n.book.StepIndex(step)
	if !ok {
		return nil
	}
	labels := make([]string, len(n.book.Steps[i].Tasks))
	for k, t := range n.book.Steps[i].Tasks {
		labels[k] = t.Label
	}
	return labels
}

// StepNow returns the state of a step, by its name. It reports false if there is no such step.
func (n *Net) StepNow(name string) (routed.StepState, bool) {
	i, ok := n.book.StepIndex(name)
	if !ok {
		return routed.StepState{}, false
	}
	return n.Step(i), true
}

// Counts returns the net's counts.
func (n *Net) Counts() routed.Counts {
	return routed.Counts{
		StepsRun: n.runs.scheduled, Succeeded: n.tally.succeeded, Failed: n.tally.failed,
		NormalBranches: n.tally.normal, BadBranches: n.tally.bad,
		Discarded: n.tally.discarded, Pending: n.gates.Len(), Admitted: n.ready.Len(), Jumps: n.pipelines.jumps,
	}
}

// Secrets returns the marks of the secrets of a call; none if the call is not open.
func (n *Net) Secrets(v int32) []string {
	if it := n.pipelines.byCall[v]; it != nil {
		return it.task().Secrets
	}
	return nil
}

// Place returns the task that a call belongs to. It reports false if the call is not open.
func (n *Net) Place(v int32) (routed.Place, bool) {
	it := n.pipelines.byCall[v]
	if it == nil {
		return routed.Place{}, false
	}
	p := routed.Place{Step: it.run.step.Name, Run: it.run.key, Task: it.task().Label, Kind: it.task().Kind, Iteration: -1}
	if it.run.step.Loop != nil {
		p.Iteration = int(it.index)
	}
	return p, true
}

// Explain returns the explainer of the net, which it watches.
func (n *Net) Explain(run explain.Run) explain.Body { return queries.NewExplainer(n, n.root, run) }

// Changes returns a recorder of the later changes of the net's steps. It watches the net.
func (n *Net) Changes() routed.Changes { return queries.NewChanges(n, &n.marks) }

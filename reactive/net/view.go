package net

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// ViewName says what a View tells of.
type ViewName string

// What happens in a net. None of it is in the journal: it follows from the journal's events, and is told when they are
// applied, in this order for a step-run:
//
//	policy.admit.evaluated → step.scheduled → step.started → [loop.started → loop.iteration.*] → task.* → step.done │ step.failed
//	→ next.evaluated → token.enqueued
const (
	ExecutionRequested ViewName = "playbook.execution.requested"
	RequestEvaluated   ViewName = "playbook.request.evaluated"
	WorkflowStarted    ViewName = "workflow.started"
	TokenEnqueued      ViewName = "token.enqueued"
	AdmitEvaluated     ViewName = "policy.admit.evaluated"
	StepScheduled      ViewName = "step.scheduled"
	StepStarted        ViewName = "step.started"
	LoopStarted        ViewName = "loop.started"
	IterationScheduled ViewName = "loop.iteration.scheduled"
	IterationStarted   ViewName = "loop.iteration.started"
	TaskStarted        ViewName = "task.started"
	AttemptStarted     ViewName = "task.attempt.started"
	AttemptDone        ViewName = "task.attempt.done"
	AttemptFailed      ViewName = "task.attempt.failed"
	PolicyEvaluated    ViewName = "policy.task.evaluated"
	TaskDone           ViewName = "task.done"
	TaskFailed         ViewName = "task.failed"
	ContextPatched     ViewName = "ctx.patched"
	IterationDone      ViewName = "loop.iteration.done"
	IterationFailed    ViewName = "loop.iteration.failed"
	LoopDone           ViewName = "loop.done"
	StepDone           ViewName = "step.done"
	StepFailed         ViewName = "step.failed"
	NextEvaluated      ViewName = "next.evaluated"
	ExecutionWaiting   ViewName = "execution.waiting"
	ExecutionCancelled ViewName = "execution.cancelled"
	WorkflowFinished   ViewName = "workflow.finished"
	PlaybookProcessed  ViewName = "playbook.processed"
)

// View is one thing that has happened in a net. Only the fields that its name has use for are set.
type View struct {
	Name      ViewName
	Seq       uint64 // of the journal's event that it follows from
	At        int64  // instant of that event, Unix nanoseconds
	Step      string
	Run       string   // key of the step-run
	Runs      []string // of a run that was ended: the step-runs that were under way, oldest first; of a token that was taken: those that it comes from
	Iteration int      // from 1; 0: none
	Task      string
	Attempt   int
	Token     uint64
	Status    string // what was decided, or how it ended
	Count     int    // of items, arcs or tokens
	Failure   *journal.Failure
	Reads     map[string]value.Value // what the rules of a gate that denies, or the guards of arcs, have read, by how it is written
}

func (n *Net) tell(v View) {
	if n.watch != nil {
		v.Seq, v.At = n.event.Seq, n.event.At
		n.watch(v)
	}
}

// at completes what is told of an iteration's task.
func (n *Net) at(it *iteration, v View) View {
	v.Step, v.Run = it.run.step.Name, it.run.key
	if it.run.step.Loop != nil {
		v.Iteration = int(it.index) + 1
	}
	if it.pc < len(it.run.step.Tasks) {
		v.Task, v.Attempt = it.task().Label, max(1, it.tries)
	}
	return v
}

// about completes what is told of where an expression stands.
func (n *Net) about(s *scope, v View) View {
	switch {
	case s.it != nil:
		return n.at(s.it, v)
	case s.run != nil:
		v.Step, v.Run = s.run.step.Name, s.run.key
	}
	return v
}

func (n *Net) tellVerdict(t *token) {
	v := View{Name: AdmitEvaluated, Step: n.book.Steps[t.step].Name, Token: t.id, Status: "deny", Count: t.verdict.Rule}
	switch {
	case t.verdict.Allow:
		v.Status = "allow"
	case t.verdict.Err != "":
		v.Status, v.Failure = "error", failure(KindExpression, "%s", t.verdict.Err)
	}
	if n.watch != nil && !t.verdict.Allow {
		v.Reads = n.readAtGate(t)
	}
	n.tell(v)
}

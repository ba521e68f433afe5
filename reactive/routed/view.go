package routed

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// ViewName is the kind of a View.
type ViewName string

// The kinds of views. Views are not journaled: they are derived from the journal's events and reported when these are
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

// View is a change in a body. Only the fields that its name uses are set.
type View struct {
	Name      ViewName               // the kind of event
	Seq       uint64                 // of the journal's event that it follows from
	At        int64                  // instant of that event, Unix nanoseconds
	Step      string                 // name
	Run       string                 // key of the step-run
	Runs      []string               // of an ended run: its open step-runs, oldest first; of a taken token: its source step-runs
	Iteration int                    // from 1; 0: none
	Task      string                 // label
	Attempt   int                    // of the task, from 1; 0: none
	Token     uint64                 // number, from 1; 0: none
	Status    string                 // the decision, or the end
	Count     int                    // of items, arcs or tokens
	Failure   *journal.Failure       // set if it failed
	Reads     map[string]value.Value // values that the rules of a denying gate, or the guards of arcs, have read, by expression
}

package httpapi

import (
	"github.com/sluiceflow/sluice/coordinator/httpapi/answers"
	"github.com/sluiceflow/sluice/coordinator/httpapi/bodies"
)

// Answers that are described where they are written.
type (
	RunPage        = answers.RunPage        // a part of a list of runs
	StepList       = answers.StepList       // the steps of a run
	CallList       = answers.CallList       // the calls of a run and those around it
	EventPage      = answers.EventPage      // a part of the events of a run
	VersionAnswer  = answers.VersionAnswer  // the version of the server
	HealthAnswer   = answers.HealthAnswer   // says that the server works
	Decision       = answers.Decision       // a task that a person is to decide about
	DecisionPage   = answers.DecisionPage   // a part of the inbox
	PublishPreview = answers.PublishPreview // previews a publish
	WorkflowPage   = answers.WorkflowPage   // a part of the list of published workflows
	VersionPage    = answers.VersionPage    // a part of the list of the versions of a workflow
	Definition     = answers.Definition     // a version of a workflow with its document
	ActList        = answers.ActList        // the acts on many runs
	ActAnswer      = answers.ActAnswer      // an act, and its outcome for each run
	RuleList       = answers.RuleList       // says how long runs are kept
	CollectAnswer  = answers.CollectAnswer  // deletions
	CellList       = answers.CellList       // the cells of a world
	ViewList       = answers.ViewList       // the history of a playbook or a world
	RerunPlan      = answers.RerunPlan      // previews a rerun
	ShadowList     = answers.ShadowList     // how runs would have gone
	ImportList     = answers.ImportList     // the outcomes of the runs of a file
)

// Bodies that are described where they are read.
type (
	ReasonBody  = bodies.ReasonBody  // says why something is done
	MessageBody = bodies.MessageBody // a message to a run
	PatchBody   = bodies.PatchBody   // writes to the context of a playbook's run
	DecideBody  = bodies.DecideBody  // decides whether a step's task is done
	RetryBody   = bodies.RetryBody   // attempts a step again
	SweepBody   = bodies.SweepBody   // selects the events that a world keeps
	EmptyBody   = bodies.EmptyBody   // a body without keys
)

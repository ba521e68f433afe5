package httpapi

import "github.com/sluiceflow/sluice/coordinator/httpapi/answers"

// Answers that are described where they are written.
type (
	Decision       = answers.Decision       // a task that a person is to decide about
	DecisionPage   = answers.DecisionPage   // a part of the inbox
	PublishPreview = answers.PublishPreview // says what a publish would do
	WorkflowPage   = answers.WorkflowPage   // a part of the list of published workflows
	VersionPage    = answers.VersionPage    // a part of the list of the versions of a workflow
	Definition     = answers.Definition     // a version of a workflow with its document
	ActList        = answers.ActList        // the acts on many runs
	ActAnswer      = answers.ActAnswer      // an act, and what it has done to each run
	RuleList       = answers.RuleList       // says how long runs are kept
	CollectAnswer  = answers.CollectAnswer  // what was deleted
	CellList       = answers.CellList       // the cells of a world
	ViewList       = answers.ViewList       // what has happened in a playbook or a world
	RerunPlan      = answers.RerunPlan      // says what a rerun would do
	ShadowList     = answers.ShadowList     // how runs would have gone
	ImportList     = answers.ImportList     // what has become of the runs of a file
)

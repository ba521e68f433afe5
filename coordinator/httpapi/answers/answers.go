// Package answers defines the answers of the HTTP API, and writes them.
package answers

import (
	"encoding/json"
	"time"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/catalog"
	"github.com/sluiceflow/sluice/coordinator/versions"
)

// Decision is a task that a person is to decide about.
type Decision struct {
	ID       string            `json:"id"`                // of the decision: a step's attempt
	Run      string            `json:"run"`               // id
	Step     string            `json:"step"`              // key
	Attempt  int32             `json:"attempt"`           // of the step
	Workflow string            `json:"workflow"`          // name
	Labels   map[string]string `json:"labels,omitempty"`  // of the run
	Seq      uint64            `json:"seq"`               // number of the run's newest event: the ETag of the decision
	Since    time.Time         `json:"since,omitzero"`    // when the work was answered
	Until    time.Time         `json:"until,omitzero"`    // when it is given up
	Then     string            `json:"then,omitempty"`    // the consequence at Until, for people
	Output   json.RawMessage   `json:"output,omitempty"`  // of the step, if it has at most 1 KiB
	Preview  string            `json:"preview,omitempty"` // else its beginning
}

// DecisionPage is a part of the inbox.
type DecisionPage struct {
	Items []*Decision `json:"items"`          // of the newest run first
	Next  string      `json:"next,omitempty"` // cursor of the next part; "": this is the last
}

// PublishPreview previews a publish.
type PublishPreview struct {
	Name      string         `json:"name"`                // of the workflow
	Hash      string         `json:"hash"`                // of its definition
	Unchanged bool           `json:"unchanged,omitempty"` // it is the newest already
	Effect    *versions.Diff `json:"effect,omitempty"`    // how it differs from the newest, and the consequences for open runs; not there: it is the first
	Warning   string         `json:"warning,omitempty"`   // that workers carry out some of its operations
}

// WorkflowPage is a part of the list of published workflows.
type WorkflowPage struct {
	Items []*api.Version `json:"items"`          // the newest version of each, by name
	Next  string         `json:"next,omitempty"` // cursor of the next part; "": this is the last
}

// VersionPage is a part of the list of the versions of a workflow.
type VersionPage struct {
	Items []*api.Version `json:"items"`          // the newest first
	Next  string         `json:"next,omitempty"` // cursor of the next part; "": this is the last
}

// Definition is a version of a workflow with its document.
type Definition struct {
	Version  *api.Version    `json:"version"`         // which it is
	Document json.RawMessage `json:"document"`        // in canonical form
	Input    json.RawMessage `json:"input,omitempty"` // JSON Schema of the input of a run; not there: anything
	Steps    []catalog.Step  `json:"steps"`           // its calls, in its order
}

// ActList is the acts on many runs.
type ActList struct {
	Items []*api.Act `json:"items"` // the newest first
}

// ActAnswer is an act, and its outcome for each run.
type ActAnswer struct {
	Act      *api.Act       `json:"act"`                // the act
	Outcomes []*api.Outcome `json:"outcomes,omitempty"` // as long as they are kept
}

// RuleList says how long runs are kept.
type RuleList struct {
	Items []*api.Rule `json:"items"` // each with its query
}

// CollectAnswer lists the deletions.
type CollectAnswer struct {
	Items     []*api.Gone    `json:"items"`     // each thing
	Collected *api.Collected `json:"collected"` // counts
}

// CellList is the cells of a world.
type CellList struct {
	Items   []*api.Cell `json:"items"`             // in the order of their addresses
	Warning string      `json:"warning,omitempty"` // why the condition could not be evaluated for some
}

// ViewList lists the views of the past of a playbook or a world.
type ViewList struct {
	Items []*api.View `json:"items"` // in order
}

// RerunPlan previews a rerun.
type RerunPlan struct {
	Seq   uint64           `json:"seq"`   // of the run's newest event that counts
	Items []*api.RerunStep `json:"items"` // steps that will run, then those that may, then kept ones
}

// ShadowList is how runs would have gone.
type ShadowList struct {
	Items []*api.Shadowed `json:"items"` // one for each run
}

// ImportList lists the results of importing the runs of a file.
type ImportList struct {
	Items []*api.Imported `json:"items"` // in the order of the file
}

package answers

import (
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/query"
)

// Answers about runs, and about the server.
type (
	// RunPage is a part of a list of runs.
	RunPage struct {
		Items []*api.Run `json:"items"`          // newest first
		Next  string     `json:"next,omitempty"` // cursor of the next part; "": this is the last

		Query *query.Explanation `json:"query,omitempty"` // with dry: how the runs would be found
	}

	// StepList is the steps of a run.
	StepList struct {
		Items []*api.Step `json:"items"` // in the order of the workflow
	}

	// CallList is the calls of a run and those around it.
	CallList struct {
		Items []*api.Call `json:"items"` // in no particular order
	}

	// EventPage is a part of the events of a run.
	EventPage struct {
		Items []*api.Event `json:"items"`          // in order
		Next  string       `json:"next,omitempty"` // cursor of the next part; "": this is the last for now
	}

	// VersionAnswer is the version of the server.
	VersionAnswer struct {
		Version string `json:"version"` // as sluice --version prints it
	}

	// HealthAnswer says that the server works.
	HealthAnswer struct {
		Status string `json:"status"` // ok
	}
)

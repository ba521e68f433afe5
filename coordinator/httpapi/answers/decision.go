package answers

import (
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/httpapi/names"
)

// DecisionOf returns the decision about a step of a run.
func DecisionOf(run *api.Run, s *api.Step) *Decision {
	d := &Decision{
		ID: names.Decision{Run: run.Run, Step: s.Step, Attempt: s.Attempts}.String(), Run: run.Run, Step: s.Step, Attempt: s.Attempts, Workflow: run.Workflow, Labels: run.Labels,
		Seq: run.Events, Since: s.Ended, Output: s.Output, Preview: s.Preview.Preview,
	}
	for i := range run.Awaits {
		if a := &run.Awaits[i]; a.Step == s.Step && a.Kind == "person" {
			d.Until, d.Then = a.Until, a.Then
		}
	}
	return d
}

package api

import (
	"encoding/json"
	"time"

	"github.com/sluiceflow/sluice/reactive/routed"

	"github.com/sluiceflow/sluice/coordinator"
)

// Counts counts events in a playbook's run.
type Counts struct {
	StepsRun      int      `json:"steps_run"`      // step-runs, without the final step's
	Succeeded     int      `json:"succeeded"`      // step-runs that completed
	Failed        int      `json:"failed"`         // step-runs that failed
	Branches      Branches `json:"branches"`       // ended branches
	TokensPending int      `json:"tokens_pending"` // tokens at gates
	Jumps         int      `json:"jumps"`          // taken by rules, in all pipelines
}

// Branches counts ended branches by their kind of end.
type Branches struct {
	Normal    int `json:"normal"`    // completed
	Failed    int `json:"failed"`    // ended by a failure
	Discarded int `json:"discarded"` // ended by a gate that discarded the token
}

// View is one change of the net of a playbook's run, or one change in a world. Empty fields are omitted.
type View struct {
	Seq       uint64    `json:"seq"`                   // of the causing event in the journal
	At        time.Time `json:"at"`                    // instant of that event
	Type      string    `json:"type"`                  // such as token.enqueued
	Step      string    `json:"step,omitempty"`        // name of the step
	StepRun   string    `json:"step_run_id,omitempty"` // key of the step-run, such as `fetch@2`
	Iteration int       `json:"iteration,omitempty"`   // from 1
	Task      string    `json:"task,omitempty"`        // label of the task
	Attempt   int       `json:"attempt,omitempty"`     // of the task, from 1
	Token     uint64    `json:"token_id,omitempty"`    // number of the token, from 1
	Status    string    `json:"status,omitempty"`      // the decision, or the kind of end
	Count     int       `json:"count,omitempty"`       // of items, arcs or tokens; of an admission, the rule's index
	Failure   *Failure  `json:"failure,omitempty"`     // of a failed one

	// Of a world, beside Seq, At, Type, Attempt and Failure.
	Cell   string          `json:"cell,omitempty"`   // address
	Cause  uint64          `json:"cause,omitempty"`  // sequence of the event that caused the activation
	Call   string          `json:"call,omitempty"`   // key of a call or timer
	Name   string          `json:"name,omitempty"`   // of a message, an event, an effect, or the kind of a report
	Issuer string          `json:"issuer,omitempty"` // of an effect; the name of a timer
	Intent string          `json:"intent,omitempty"` // identity of an effect, `sha256:…`
	Cells  []string        `json:"cells,omitempty"`  // receivers of a message or raised event
	Due    time.Time       `json:"due,omitzero"`     // of a timer
	Value  json.RawMessage `json:"value,omitempty"`  // state, note, params, payload, input or output, depending on the type
}

// routedOf sets the fields of Run that only runs of playbooks have.
func routedOf(r *Run, s *coordinator.Routed) {
	c := s.Counts
	r.Counts = &Counts{
		StepsRun: c.StepsRun, Succeeded: c.Succeeded, Failed: c.Failed, TokensPending: c.Pending, Jumps: c.Jumps,
		Branches: Branches{Normal: c.NormalBranches, Failed: c.BadBranches, Discarded: c.Discarded},
	}
	if len(s.Context) > 0 {
		r.Context = encoded(s.Context)
	}
}

func viewOf(v *routed.View) *View {
	return &View{
		Seq: v.Seq, At: instant(v.At), Type: string(v.Name), Step: v.Step, StepRun: v.Run, Iteration: v.Iteration, Task: v.Task,
		Attempt: v.Attempt, Token: v.Token, Status: v.Status, Count: v.Count, Failure: FailureOf(v.Failure),
	}
}

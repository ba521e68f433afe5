// Package many describes acts on many runs for requests and replies. Package api has its types under the same names.
//
//	api.Act     an act, and its progress                    GET /v1/bulk, sluice bulk list
//	api.Outcome the outcome for one run                     GET /v1/bulk/7, sluice bulk show 7
package many

import (
	"cmp"
	"time"

	"github.com/sluiceflow/sluice/coordinator/bulk"
)

// Act is an act on many runs, with its progress.
type Act struct {
	ID      uint64    `json:"id"`               // its number
	Act     string    `json:"act"`              // its verb, such as cancel
	Query   string    `json:"query"`            // the query that selected the runs
	How     string    `json:"how,omitempty"`    // of a rerun or a move: a short description of the steps and the workflow
	State   string    `json:"state"`            // a bulk.State
	Actor   string    `json:"actor,omitempty"`  // actor that began it
	Reason  string    `json:"reason,omitempty"` // in the words of the actor
	Began   time.Time `json:"began"`            // time when it had selected its runs
	Ended   time.Time `json:"ended,omitzero"`   // zero: it has not ended
	Count   int       `json:"count"`            // selected runs
	Done    int       `json:"done"`             // runs that it has changed
	Already int       `json:"already"`          // runs that needed no change, or that have ended meanwhile
	Refused int       `json:"refused"`          // runs that refused it
	Left    int       `json:"left"`             // runs on which it has not acted
}

// Outcome is the result of an act for one run.
type Outcome struct {
	Run    string `json:"run"`           // id
	New    string `json:"new,omitempty"` // of a completed rerun: id of the new run
	Result string `json:"result"`        // a bulk.Result, or Waiting
	Why    string `json:"why,omitempty"` // the reason; empty: the result needs none
}

func ended(s *bulk.Status) (at time.Time) {
	if s.Over() {
		at = time.Unix(0, s.Ended).UTC()
	}
	return at
}

// Waiting is the result of a run on which the act has not acted.
const Waiting = "waiting"

// ActPreview previews an act on many runs.
type ActPreview struct {
	Act     string     `json:"act"`                      // its verb, such as cancel
	Query   string     `json:"query"`                    // the query for the runs
	Count   int        `json:"count"`                    // runs that the query selects
	Will    int        `json:"will"`                     // of these, runs that it would change
	Already int        `json:"already"`                  // of these, runs that need no change, or have ended
	Refused int        `json:"refused"`                  // of these, runs that would refuse it
	Reasons []Reasoned `json:"reasons,omitempty"`        // for Already and Refused, the most frequent first
	Steps   int        `json:"steps,omitempty"`          // of a retry: steps that would be called again; of a rerun: steps that will run
	May     int        `json:"may,omitempty"`            // of a rerun: steps that may run
	Kept    int        `json:"kept,omitempty"`           // of a rerun: steps whose result is kept
	Again   []Again    `json:"not_idempotent,omitempty"` // steps that are not idempotent and would or may be called again
}

// Reasoned counts the runs whose outcome has the same reason.
type Reasoned struct {
	Why   string `json:"why"`   // the reason for the outcome
	Count int    `json:"count"` // number of runs
}

// Again counts the calls of a step that is not idempotent and would be called again.
type Again struct {
	Workflow string `json:"workflow"` // name
	Step     string `json:"step"`     // key, without the numbers of items
	Count    int    `json:"count"`    // number of calls
}

// Of describes an act.
func Of(s *bulk.Status) *Act {
	return &Act{
		ID: s.ID, Act: s.Verb, Query: s.Where, How: s.How, State: string(s.State), Actor: s.Actor, Reason: s.Reason, Began: time.Unix(0, s.Began).UTC(), Ended: ended(s),
		Count: s.Expect, Done: s.Done, Already: s.Already, Refused: s.Refused, Left: s.Left(),
	}
}

// PreviewOf describes a preview.
func PreviewOf(p *bulk.Preview) *ActPreview {
	out := &ActPreview{Act: p.Verb, Query: p.Where, Count: p.Count, Will: p.Will, Already: p.Already, Refused: p.Refused, Steps: p.Steps, May: p.May, Kept: p.Kept}
	for _, why := range p.Reasons() {
		out.Reasons = append(out.Reasons, Reasoned{why, p.Why[why]})
	}
	for _, again := range p.Again {
		out.Again = append(out.Again, Again(again))
	}
	return out
}

// OutcomeOf describes the outcome of an act for a run.
func OutcomeOf(o *bulk.Outcome) *Outcome {
	return &Outcome{Run: o.Run, New: o.New, Result: cmp.Or(string(o.Result), Waiting), Why: o.Why}
}

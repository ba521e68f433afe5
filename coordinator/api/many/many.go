// Package many describes acts on many runs, as requests and replies have them. Package api has its types under the same names.
//
//	api.Act     an act, and its progress                    GET /v1/bulk, sluice bulk list
//	api.Outcome the outcome for one run                     GET /v1/bulk/7, sluice bulk show 7
package many

import (
	"cmp"
	"time"

	"github.com/sluiceflow/sluice/coordinator/bulk"
)

// Act is an act on many runs, and how far it is.
type Act struct {
	ID      uint64    `json:"id"`               // its number
	Act     string    `json:"act"`              // its verb, such as cancel
	Query   string    `json:"query"`            // that has selected the runs
	How     string    `json:"how,omitempty"`    // of a rerun and a move: in some words, the selected steps and the workflow
	State   string    `json:"state"`            // a bulk.State
	Actor   string    `json:"actor,omitempty"`  // who began it
	Reason  string    `json:"reason,omitempty"` // in the words of the actor
	Began   time.Time `json:"began"`            // when it had chosen its runs
	Ended   time.Time `json:"ended,omitzero"`   // zero: it has not
	Count   int       `json:"count"`            // runs that it has chosen
	Done    int       `json:"done"`             // runs on which it acted
	Already int       `json:"already"`          // runs that were so already, or that have ended meanwhile
	Refused int       `json:"refused"`          // runs that have refused it
	Left    int       `json:"left"`             // runs that were not asked
}

// Outcome is the result of an act for one run.
type Outcome struct {
	Run    string `json:"run"`           // id
	New    string `json:"new,omitempty"` // of a rerun that is done: id of the run that it has started
	Result string `json:"result"`        // a bulk.Result, or waiting: it was not asked
	Why    string `json:"why,omitempty"` // not there: the result says all
}

func ended(s *bulk.Status) (at time.Time) {
	if s.Over() {
		at = time.Unix(0, s.Ended).UTC()
	}
	return at
}

// Waiting is the result of a run that an act has not asked.
const Waiting = "waiting"

// ActPreview previews an act on many runs.
type ActPreview struct {
	Act     string     `json:"act"`                      // its verb, such as cancel
	Query   string     `json:"query"`                    // that selects the runs
	Count   int        `json:"count"`                    // runs that the query selects
	Will    int        `json:"will"`                     // of these, to which it would be done
	Already int        `json:"already"`                  // of these, that are so already, or have ended
	Refused int        `json:"refused"`                  // of these, that would refuse it
	Reasons []Reasoned `json:"reasons,omitempty"`        // of both, the most frequent first
	Steps   int        `json:"steps,omitempty"`          // of a retry: that would be asked again; of a rerun: that will run
	May     int        `json:"may,omitempty"`            // of a rerun: steps that may run
	Kept    int        `json:"kept,omitempty"`           // of a rerun: steps whose result is kept
	Again   []Again    `json:"not_idempotent,omitempty"` // of those that would be asked again, or may be, the ones that are not idempotent
}

// Reasoned counts runs.
type Reasoned struct {
	Why   string `json:"why"`   // the reason for their outcome
	Count int    `json:"count"` // how many
}

// Again are steps of a workflow, not idempotent, that would be asked again.
type Again struct {
	Workflow string `json:"workflow"` // name
	Step     string `json:"step"`     // key, without the numbers of items
	Count    int    `json:"count"`    // how many
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

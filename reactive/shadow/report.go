package shadow

import (
	"fmt"
	"slices"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/template/value"
)

// Kind is the kind of a difference.
type Kind string

// The kinds of differences.
const (
	Unasked      Kind = "new"          // a call would be made that was never made
	Gone         Kind = "gone"         // a call would not be made that was made
	Operation    Kind = "operation"    // the step would call another operation
	Input        Kind = "input"        // the step would be called with another input
	Participants Kind = "participants" // other participants would be asked
	Branch       Kind = "branch"       // a conditional would decide differently
	Result       Kind = "result"       // a result or time of the engine itself would differ
	Refused      Kind = "refused"      // a command would be refused
	End          Kind = "end"          // the run would end differently, or at another place
)

// Difference is one difference between the run and the other workflow.
type Difference struct {
	Kind        Kind        `json:"kind"`                  // the kind of difference
	Run         string      `json:"run,omitempty"`         // of a child run: its id; "": the run of the report
	Step        string      `json:"step,omitempty"`        // key, in a child run preceded by the key of the starting step; "": the run
	Attempt     int32       `json:"attempt,omitempty"`     // of the step
	Participant string      `json:"participant,omitempty"` // participant of the step
	Seq         uint64      `json:"seq,omitempty"`         // of the run's event; if the run lacks it, of the event where it would be
	What        string      `json:"what,omitempty"`        // type of the event
	Begun       bool        `json:"begun"`                 // the run has begun the step that would differ
	Old         value.Value `json:"old,omitempty"`         // in the run
	New         value.Value `json:"new,omitempty"`         // under the other workflow

	ahead bool // the run does not have it
}

// Report compares a run with the same run under another workflow.
type Report struct {
	Run         string             `json:"run"`            // id
	Events      uint64             `json:"events"`         // of the run
	Status      reactive.RunStatus `json:"status"`         // of the run
	Shadow      reactive.RunStatus `json:"shadow"`         // under the other workflow
	Differences []Difference       `json:"differences"`    // in the order in which they were found
	More        int                `json:"more,omitempty"` // number of differences that are not listed

	Children []Child `json:"children,omitempty"` // child runs that would follow another workflow; their differences are in Differences
	Alike    int     `json:"alike,omitempty"`    // number of child runs that would follow the same workflow
}

// Child compares a child run, at any depth, with the same run under the workflow that the step above it would start.
type Child struct {
	Run    string             `json:"run"`              // id
	Events uint64             `json:"events,omitempty"` // of the child
	Status reactive.RunStatus `json:"status,omitempty"` // of the child
	Shadow reactive.RunStatus `json:"shadow,omitempty"` // under the other workflow
	Found  int                `json:"found"`            // number of its own differences
	Why    string             `json:"why,omitempty"`    // reason for having no shadow; "": it has one
}

// Same reports whether there is no difference, including child runs.
func (r *Report) Same() bool {
	return len(r.Differences) == 0 && r.More == 0 && !slices.ContainsFunc(r.Children, func(c Child) bool { return c.Why != "" })
}

// AddChild adds the differences of a child run, with a prefix for its steps.
func (r *Report) AddChild(child *Report, prefix string) {
	c := Child{Run: child.Run, Events: child.Events, Status: child.Status, Shadow: child.Shadow, Found: child.More + len(child.Differences)}
	for _, below := range child.Children {
		c.Found -= below.Found
	}
	r.More += child.More
	for _, d := range child.Differences {
		if d.Run == "" {
			d.Run = child.Run
		}
		if d.Step != "" {
			d.Step = prefix + d.Step
		}
		if len(r.Differences) >= differencesMax {
			r.More++
			continue
		}
		r.Differences = append(r.Differences, d)
	}
	r.Children, r.Alike = append(append(r.Children, c), child.Children...), r.Alike+child.Alike
}

// Past returns the first difference in a step that the run has begun, or nil if all differences are in the future.
func (r *Report) Past() *Difference {
	for i := range r.Differences {
		if r.Differences[i].Begun {
			return &r.Differences[i]
		}
	}
	return nil
}

// Report compares the run with its shadow as of the last added event. More events may be added.
func (s *Shadow) Report() (*Report, error) {
	s.flush()
	if s.err != nil {
		return nil, s.err
	}
	r := &Report{Events: s.was.Seq(), Status: s.was.RunStatus(), Shadow: s.is.RunStatus(), More: s.pairs.more}
	if start := s.was.Start(); start != nil {
		r.Run = start.Run
	}
	r.Differences = append(r.Differences, s.pairs.diffs...)
	r.Differences = append(r.Differences, s.branches()...)
	for _, d := range s.pairs.unpaired() {
		if len(r.Differences) >= differencesMax {
			r.More++
			continue
		}
		r.Differences = append(r.Differences, d)
	}
	for i := range r.Differences {
		r.Differences[i].Begun = s.begun(&r.Differences[i])
	}
	return r, nil
}

// begun reports whether a difference is about a part that the run has begun: any decision that the run has made, and a decision that
// it has not made about a requested step, or about its end. Tokens of a playbook depend on each other, so all differences count.
func (s *Shadow) begun(d *Difference) bool {
	switch {
	case s.is.Body() != nil:
		return true
	case d.Kind == Branch:
		return false
	case d.ahead:
		return d.Kind == End || s.asked[d.Step]
	}
	return true
}

// String describes a difference for people.
func (d *Difference) String() string {
	step := d.Step
	if d.Attempt > 1 {
		step = fmt.Sprintf("%s, attempt %d", step, d.Attempt)
	}
	if d.Participant != "" {
		step += ", participant " + d.Participant
	}
	run, at, of := "the run", "", ""
	if d.Run != "" {
		run, of = "run "+d.Run, " of run "+d.Run
	}
	if d.Seq > 0 {
		at = fmt.Sprintf(" (event %d%s)", d.Seq, of)
	}
	was, is := preview(d.Old), preview(d.New)
	switch d.Kind {
	case Unasked:
		return fmt.Sprintf("%s: would be asked, and was never asked%s", step, at)
	case Gone:
		return fmt.Sprintf("%s: was asked, and would not be asked any more%s", step, at)
	case Operation:
		if was == is {
			return fmt.Sprintf("%s: would call %s as it is bound now, which is another binding%s", step, is, at)
		}
		return fmt.Sprintf("%s: would call %s, and called %s%s", step, is, was, at)
	case Input:
		return fmt.Sprintf("%s: would be asked with %s, and was asked with %s%s", step, is, was, at)
	case Participants:
		return fmt.Sprintf("%s: would ask %s, and asked %s%s", step, is, was, at)
	case Branch:
		return fmt.Sprintf("%s: would go to %s, and went to %s", step, is, was)
	case Refused:
		if step != "" {
			step += ": "
		}
		return fmt.Sprintf("%s%s would be refused: %v%s", step, d.What, d.New, at)
	case End:
		return fmt.Sprintf("%s: would end with %s, and ended with %s%s", run, is, was, at)
	}
	return fmt.Sprintf("%s: %s would give %s, and gave %s%s", step, d.What, is, was, at)
}

// preview returns the beginning of a value.
func preview(v any) string {
	if v == nil {
		return "nothing"
	}
	if text, ok := v.(string); ok && len(text) < 200 {
		return text
	}
	text, whole, err := value.Preview(v, 200)
	switch {
	case err != nil:
		return "a value that cannot be shown"
	case !whole:
		return string(text) + "…"
	}
	return string(text)
}

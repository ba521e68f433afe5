package scenario

import (
	"fmt"
	"strings"
)

// Report is the result of a scenario. `sluice test -o json` prints its JSON.
type Report struct {
	Scenario    string       `json:"scenario"`              // its name
	File        string       `json:"file"`                  // of the scenario; "": parsed from memory
	Line        int          `json:"line"`                  // of its document
	Passed      bool         `json:"passed"`                // there are no differences
	Duration    string       `json:"duration"`              // of the run on the scenario's clock, ISO 8601
	Events      int          `json:"events"`                // in the journals of the run and its children
	Crashes     int          `json:"crashes"`               // of the engine
	Differences []Difference `json:"differences,omitempty"` // in the order of the timeline, the end last
	Refused     []Refusal    `json:"refused,omitempty"`     // commands of the timeline that the run refused
}

// Difference is one expectation that is not met.
type Difference struct {
	Where string `json:"where,omitempty"` // entry of the timeline, such as `timeline[2]`; "": at the end
	At    string `json:"at,omitempty"`    // instant since the start, ISO 8601
	Key   string `json:"key"`             // of the expectation, such as `steps.pay`
	Want  string `json:"want"`            // expected value
	Got   string `json:"got"`             // actual value
	Event *Event `json:"event,omitempty"` // that caused it; nil: no single event did
}

// Event identifies an event of a journal.
type Event struct {
	Run  string `json:"run,omitempty"`  // path of the steps that started the child run; "": the run itself
	Seq  uint64 `json:"seq"`            // number in its journal, from 1
	Type string `json:"type"`           // a journal.Type, such as call.error
	Node string `json:"node,omitempty"` // key of the step; "": the run
	At   string `json:"at"`             // instant since the start, ISO 8601
}

// Refusal is a command of the timeline that the run refused in its state. It is not a difference by itself.
type Refusal struct {
	At      string `json:"at"`      // instant since the start, ISO 8601
	Command string `json:"command"` // key of the entry, such as `pause`
	Reason  string `json:"reason"`  // the error, for people
}

// String returns a text such as `#7 call.responded pay at PT3S`.
func (e *Event) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d %s", e.Seq, e.Type)
	if e.Node != "" {
		b.WriteString(" " + e.Node)
	}
	if e.Run != "" {
		b.WriteString(" of " + e.Run)
	}
	b.WriteString(" at " + e.At)
	return b.String()
}

// String returns the difference on a few lines: its place, the expected and the actual value, and the causing event.
func (d *Difference) String() string {
	var b strings.Builder
	b.WriteString(d.Key)
	if d.Where != "" {
		b.WriteString(" (" + d.Where + ", at " + d.At + ")")
	}
	fmt.Fprintf(&b, "\n    want  %s\n    got   %s", indented(d.Want), indented(d.Got))
	if d.Event != nil {
		b.WriteString("\n    by    " + d.Event.String())
	}
	return b.String()
}

// String returns the report as text: one line, and the differences below it.
func (r *Report) String() string {
	mark := "✓"
	if !r.Passed {
		mark = "✗"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s  %s:%d  %s", mark, r.Scenario, r.File, r.Line, r.Duration)
	for i := range r.Differences {
		b.WriteString("\n  " + r.Differences[i].String())
	}
	if r.Passed {
		return b.String()
	}
	for _, w := range r.Refused {
		fmt.Fprintf(&b, "\n  %s at %s was refused: %s", w.Command, w.At, w.Reason)
	}
	return b.String()
}

// indented indents all lines of a text except the first.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n          ") }

package call

import (
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

// Fulfillment is the state of a step's task: a call may return a usable output although the task is not done.
type Fulfillment string

// The states of a task.
const (
	NoTask       Fulfillment = "none"
	Undecided    Fulfillment = "pending"
	Fulfilled    Fulfillment = "fulfilled"
	NotFulfilled Fulfillment = "not_fulfilled"
	Broken       Fulfillment = "error" // the decision itself failed
)

// Codes of failures that decisions cause.
const (
	CodeNotFulfilled  = "not_fulfilled"
	CodeDecisionError = "decision_error"
)

// Envelope is the schema of an answer that contains a decision. result_match does not affect such a decision.
const Envelope = "arca-task-fulfillment-decision.v1"

// Source is the source of the decision about a task.
type Source uint8

// The sources of decisions.
const (
	ByAnswer Source = iota // the answer itself, at once
	ByCall                 // a call of its own
	ByPerson               // a person, by an explicit decision
)

// SourceOf returns the source of decisions about a task with this specification.
func SourceOf(f *template.Fulfillment) Source {
	switch f.Policy {
	case template.Auto, template.OutputMatch:
		return ByAnswer
	case template.ExternalDecision:
		if s := f.Source; s != nil && (s.Kind == template.DecidedByCapability || s.Kind == template.DecidedAutomatically) {
			return ByCall
		}
	}
	return ByPerson
}

// Decide reads a decision from an answer. An envelope contains it; any other answer is compared with result_match by typed
// equality. If it cannot read a decision, it returns Broken and the reason.
func Decide(f *template.Fulfillment, answer any) (Fulfillment, string) {
	if f.Policy == template.Auto {
		return Fulfilled, ""
	}
	v, err := value.Of(answer)
	if err != nil {
		return Broken, err.Error()
	}
	if object, ok := v.(map[string]any); ok && object["schema"] == Envelope {
		switch status := object["fulfillment/status"]; status {
		case string(Fulfilled):
			return Fulfilled, ""
		case string(NotFulfilled):
			return NotFulfilled, value.Text(object["reason"])
		default:
			return Broken, "the envelope has an unknown fulfillment/status: " + value.Text(status)
		}
	}
	return match(f.ResultMatch, v)
}

func match(m *template.ResultMatch, v value.Value) (Fulfillment, string) {
	if m == nil {
		return Broken, "the answer is no decision envelope, and there is no result_match"
	}
	p, err := value.ParsePointer(m.Path)
	if err == nil {
		v, err = p.Lookup(v)
	}
	if err != nil {
		return Broken, err.Error()
	}
	equal := func(want value.Value) bool { return value.Equal(v, want) }
	switch {
	case slices.ContainsFunc(m.FulfilledValues, equal):
		return Fulfilled, ""
	case slices.ContainsFunc(m.NotFulfilledValues, equal):
		return NotFulfilled, value.Text(v)
	}
	return Broken, "the decision " + value.Text(v) + " is in neither list of result_match"
}

// Consequence returns the action for a decision other than fulfilled, and the failure that names the decision.
func Consequence(f *template.Fulfillment, decision Fulfillment, why string) (action string, failure *journal.Failure) {
	action, code := f.OnNotFulfilled, CodeNotFulfilled
	if decision == Broken {
		action, code = f.OnError, CodeDecisionError
	}
	if action == "" {
		action = template.ThenFail
	}
	return action, &journal.Failure{Code: code, Message: why}
}

package call_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

type object = map[string]any

func TestWhoDecides(t *testing.T) {
	by := func(kind string) *template.DecisionSource { return &template.DecisionSource{Kind: kind} }
	tests := []struct {
		name string
		f    template.Fulfillment
		want call.Source
	}{
		{"auto", template.Fulfillment{Policy: template.Auto}, call.ByAnswer},
		{"output_match", template.Fulfillment{Policy: template.OutputMatch}, call.ByAnswer},
		{"a capability", template.Fulfillment{Policy: template.ExternalDecision, Source: by(template.DecidedByCapability)}, call.ByCall},
		{"an operation", template.Fulfillment{Policy: template.ExternalDecision, Source: by(template.DecidedAutomatically)}, call.ByCall},
		{"an operator", template.Fulfillment{Policy: template.ExternalDecision, Source: by(template.DecidedByOperator)}, call.ByPerson},
		{"the requester", template.Fulfillment{Policy: template.ExternalDecision, Source: by(template.DecidedByRequester)}, call.ByPerson},
		{"requester_confirmation", template.Fulfillment{Policy: template.RequesterConfirmation}, call.ByPerson},
		{"requester_confirmation makes no call", template.Fulfillment{Policy: template.RequesterConfirmation, Source: by(template.DecidedByCapability)}, call.ByPerson},
		{"never", template.Fulfillment{Policy: template.Never}, call.ByPerson},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, call.SourceOf(&test.f)) })
	}
}

func TestReadingADecision(t *testing.T) {
	match := func(path string, yes, no []value.Value) *template.ResultMatch {
		return &template.ResultMatch{Path: path, FulfilledValues: yes, NotFulfilledValues: no}
	}
	status := match("/status", []value.Value{"done", true, int64(1)}, []value.Value{"rejected", false, nil})
	envelope := func(state, reason any) object {
		return object{"schema": call.Envelope, "fulfillment/status": state, "reason": reason, "status": "done"}
	}
	tests := []struct {
		name   string
		match  *template.ResultMatch
		answer any
		want   call.Fulfillment
		why    string // part of the explanation
	}{
		{"a listed value", status, object{"status": "done"}, call.Fulfilled, ""},
		{"another listed value", status, object{"status": true}, call.Fulfilled, ""},
		{"a whole float is the integer", status, object{"status": 1.0}, call.Fulfilled, ""},
		{"a value of the other list", status, object{"status": "rejected"}, call.NotFulfilled, "rejected"},
		{"null is a value", status, object{"status": nil}, call.NotFulfilled, "null"},
		{"a text is not the boolean it spells", status, object{"status": "true"}, call.Broken, "true"},
		{"a text is not the number it spells", status, object{"status": "1"}, call.Broken, "1"},
		{"case matters", status, object{"status": "Done"}, call.Broken, "Done"},
		{"a value in neither list", status, object{"status": "later"}, call.Broken, "later"},
		{"nothing at the path", status, object{"state": "done"}, call.Broken, "status"},
		{"no object at all", status, "done", call.Broken, ""},
		{"no answer at all", status, nil, call.Broken, ""},
		{"an invalid value", status, object{"status": func() {}}, call.Broken, ""},
		{"a value without an encoding", status, object{"status": math.NaN()}, call.Broken, ""},
		{"no result_match", nil, object{"status": "done"}, call.Broken, "result_match"},
		{"a Go struct", status, struct {
			Status string `json:"status"`
		}{"done"}, call.Fulfilled, ""},
		{"a list as a value", match("/tags", []value.Value{[]any{"a", int64(1)}}, nil), object{"tags": []any{"a", 1}}, call.Fulfilled, ""},
		{"an element of a list", match("/checks/1", []value.Value{"ok"}, nil), object{"checks": []any{"no", "ok"}}, call.Fulfilled, ""},
		{"a key that holds a slash", match("/verification~1status", []value.Value{"ok"}, nil), object{"verification/status": "ok"}, call.Fulfilled, ""},
		{"a path into objects is not a key with a slash", match("/verification/status", []value.Value{"ok"}, nil), object{"verification/status": "ok"}, call.Broken, ""},

		{"an envelope says it itself", nil, envelope("fulfilled", nil), call.Fulfilled, ""},
		{"an envelope goes before result_match", status, envelope("not_fulfilled", "too late"), call.NotFulfilled, "too late"},
		{"an envelope of an unknown status is no answer, whatever result_match says", status, envelope("perhaps", nil), call.Broken, "perhaps"},
		{"an envelope without a status", status, object{"schema": call.Envelope, "status": "done"}, call.Broken, "unknown"},
		{"an envelope whose status is no text", status, envelope(true, nil), call.Broken, "true"},
		{"another schema is no envelope", status, object{"schema": "other", "fulfillment/status": "not_fulfilled", "status": "done"}, call.Fulfilled, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := &template.Fulfillment{Policy: template.OutputMatch, ResultMatch: test.match}
			got, why := call.Decide(f, test.answer)
			require.Equal(t, test.want, got, why)
			require.Contains(t, why, test.why)
			if got == call.Broken {
				require.NotEmpty(t, why, "an unreadable decision is explained")
			}
		})
	}
}

func TestAutoIsFulfilledByAnyAnswer(t *testing.T) {
	for _, answer := range []any{nil, "x", object{"schema": call.Envelope, "fulfillment/status": "not_fulfilled"}, func() {}} {
		got, _ := call.Decide(&template.Fulfillment{Policy: template.Auto}, answer)
		require.Equal(t, call.Fulfilled, got)
	}
}

func TestWhatADecisionLeadsTo(t *testing.T) {
	f := &template.Fulfillment{OnNotFulfilled: template.ThenPause, OnError: template.ThenSkip}
	action, failure := call.Consequence(f, call.NotFulfilled, "why")
	require.Equal(t, template.ThenPause, action)
	require.Equal(t, &journal.Failure{Code: call.CodeNotFulfilled, Message: "why"}, failure)
	action, failure = call.Consequence(f, call.Broken, "why")
	require.Equal(t, template.ThenSkip, action)
	require.Equal(t, &journal.Failure{Code: call.CodeDecisionError, Message: "why"}, failure)

	for _, decision := range []call.Fulfillment{call.NotFulfilled, call.Broken} {
		action, failure = call.Consequence(&template.Fulfillment{}, decision, "")
		require.Equal(t, template.ThenFail, action, "by default a step fails")
		require.False(t, failure.Retryable, "and is not called again")
	}
}

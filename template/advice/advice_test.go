package advice_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/advice"
)

func TestKeysWithoutEffect(t *testing.T) {
	decided := func(rest string) string { return "fulfillment: {policy: " + rest + "}" }
	for name, c := range map[string]struct {
		step string
		want []string
	}{
		"on_timeout without a timeout": {"timing: {on_timeout: skip}", []string{`w.yaml:3:32: steps[0].timing.on_timeout: on_timeout has no effect: there is no timeout, total_timeout or queue_timeout`}},
		"on_timeout with one":          {"timing: {total_timeout: PT1S, on_timeout: skip}", nil},
		"on_timeout of a queue":        {"timing: {queue_timeout: PT1S, on_timeout: skip}", nil},
		"the default":                  {"timing: {on_timeout: fail, retry: {max_attempts: 2, scope: missing}}", nil},
		"a scope without a target":     {"timing: {retry: {max_attempts: 2, scope: all}}", []string{`w.yaml:3:40: steps[0].timing.retry.scope: scope has no effect: without a target, one is asked`}},
		"a scope of a target":          {"target: {resolve: static, participants: [p]}, timing: {retry: {max_attempts: 2, scope: all}}", nil},
		"delays that are none": {"timing: {retry: {max_attempts: 2, backoff_multiplier: 2, max_backoff: PT1S, jitter: 0.5}}", []string{
			`w.yaml:3:40: steps[0].timing.retry.backoff_multiplier: backoff_multiplier has no effect: there is no backoff, so a retry is made at once`,
			`w.yaml:3:40: steps[0].timing.retry.jitter: jitter has no effect: there is no backoff, so a retry is made at once`,
			`w.yaml:3:40: steps[0].timing.retry.max_backoff: max_backoff has no effect: there is no backoff, so a retry is made at once`}},
		"delays": {"timing: {retry: {max_attempts: 2, backoff: PT1S, backoff_multiplier: 2, max_backoff: PT1S, jitter: 0.5, on: [timeout]}}", nil},
		"retries that are none": {"timing: {retry: {max_attempts: 1, backoff: PT1S, on: [a], never: [b]}}", []string{
			`w.yaml:3:40: steps[0].timing.retry.backoff: backoff has no effect: max_attempts is 1, so nothing is retried`,
			`w.yaml:3:40: steps[0].timing.retry.never: never has no effect: max_attempts is 1, so nothing is retried`,
			`w.yaml:3:40: steps[0].timing.retry.on: on has no effect: max_attempts is 1, so nothing is retried`}},
		"a source that is not asked": {decided("auto, decision_source: {kind: operator}"), []string{`w.yaml:3:37: steps[0].fulfillment.decision_source: decision_source has no effect: policy is auto, so every answer is enough`}},
		"effects of decisions that are no": {decided("auto, on_error: pause, on_not_fulfilled: skip, result_match: {path: /a, fulfilled_values: [1]}"), []string{
			`w.yaml:3:37: steps[0].fulfillment.on_error: on_error has no effect: policy is auto, so every answer is enough`,
			`w.yaml:3:37: steps[0].fulfillment.on_not_fulfilled: on_not_fulfilled has no effect: policy is auto, so every answer is enough`,
			`w.yaml:3:37: steps[0].fulfillment.result_match: result_match has no effect: policy is auto, so every answer is enough`}},
		"a person who cannot fail":      {decided("never, on_error: retry"), []string{`w.yaml:3:37: steps[0].fulfillment.on_error: on_error has no effect: a person decides, for which decision_source sets no timeout`}},
		"a person who can be late":      {decided("external_decision, decision_source: {kind: operator, timing: {timeout: PT1H}}, on_error: pause"), nil},
		"an output that cannot be read": {decided("output_match, on_error: pause, result_match: {path: /a, fulfilled_values: [1]}"), nil},
		"an operation in place of which": {decided("external_decision, decision_source: {kind: operator, operation: a, capability_id: c, input: 1}"), []string{
			`w.yaml:3:82: steps[0].fulfillment.decision_source.capability_id: capability_id has no effect: kind is operator, so a person decides and nothing is called`,
			`w.yaml:3:82: steps[0].fulfillment.decision_source.input: input has no effect: kind is operator, so a person decides and nothing is called`,
			`w.yaml:3:82: steps[0].fulfillment.decision_source.operation: operation has no effect: kind is operator, so a person decides and nothing is called`}},
		"an operation that decides": {decided("external_decision, decision_source: {kind: automatic, operation: a, input: 1, timing: {retry: {max_attempts: 2}}}, on_error: retry"), nil},
		"a decision that is not asked for again": {decided("external_decision, decision_source: {kind: automatic, operation: a}, on_error: retry"), []string{
			`w.yaml:3:37: steps[0].fulfillment.on_error: on_error has no effect: decision_source has no timing.retry, so retry is like fail`}},
		"a retry of a decision that fails": {decided("external_decision, decision_source: {kind: automatic, operation: a, timing: {timeout: PT1S, on_timeout: skip, retry: {max_attempts: 2, jitter: 1}}}"), []string{
			`w.yaml:3:122: steps[0].fulfillment.decision_source.timing.on_timeout: on_timeout has no effect: on_error is what follows a late decision`,
			`w.yaml:3:122: steps[0].fulfillment.decision_source.timing.retry: retry has no effect: on_error is not retry`,
			`w.yaml:3:163: steps[0].fulfillment.decision_source.timing.retry.jitter: jitter has no effect: there is no backoff, so a retry is made at once`}},
		"a source of an output that decides": {decided("output_match, decision_source: {kind: operator}, result_match: {path: /a, fulfilled_values: [1]}, on_error: retry"), []string{
			`w.yaml:3:37: steps[0].fulfillment.decision_source: decision_source has no effect: policy is output_match, so the step's output decides`,
			`w.yaml:3:37: steps[0].fulfillment.on_error: on_error has no effect: policy is output_match, so the step's output decides, and retry is like fail`}},
		"an operation in place of the requester": {decided("requester_confirmation, decision_source: {kind: automatic, operation: a}, result_match: {path: /a, fulfilled_values: [1]}"), []string{
			`w.yaml:3:37: steps[0].fulfillment.result_match: result_match has no effect: policy is requester_confirmation, so a person decides and nothing is called`,
			`w.yaml:3:87: steps[0].fulfillment.decision_source.operation: operation has no effect: policy is requester_confirmation, so a person decides and nothing is called`}},
	} {
		t.Run(name, func(t *testing.T) {
			text := "kind: Workflow\nname: w\nsteps: [{operation: a, " + c.step + "}]\n"
			checked, err := template.Load("w.yaml", []byte(text), template.Known{Lenient: true})
			require.NoError(t, err)
			var got []string
			for _, w := range advice.Of(checked) {
				got = append(got, w.Error())
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestMapsAndConditionalsThatAlwaysFail(t *testing.T) {
	text := "kind: Workflow\nname: w\nsteps:\n- {operation: a}\n"
	for i, over := range []string{`abc`, `7`, `"{{ input.a }}, {{ input.b }}"`, `"{{ 1 + 2 }}"`, `{k: 1}`, `"{{ 1..3 }}"`, `{from: /steps/a/output}`, `[1, "{{ input }}"]`, `"{{ null }}"`} {
		text += fmt.Sprintf("- {map: {id: m%d, over: %s, steps: [{operation: a, id: x%d}]}}\n", i, over, i)
	}
	for i, test := range []string{`"{{ 'yes' }}"`, `"{{ [1 == 1] }}"`, `"{{ null }}"`, `"{{ 1 == 1 }}"`, `a`} {
		text += fmt.Sprintf("- {conditional: {id: c%d, test: %s, then: [{operation: a, id: y%d}]}}\n", i, test, i)
	}
	checked, err := template.Load("w.yaml", []byte(text), template.Known{Lenient: true})
	require.NoError(t, err)
	var got []string
	for _, w := range advice.Of(checked) {
		got = append(got, w.Error())
	}
	require.Equal(t, []string{
		`w.yaml:5:3: steps[1].map.over: over is never a list, so the map always fails`,
		`w.yaml:6:3: steps[2].map.over: over is never a list, so the map always fails`,
		`w.yaml:7:3: steps[3].map.over: over is never a list, so the map always fails`,
		`w.yaml:8:3: steps[4].map.over: over is never a list, so the map always fails`,
		`w.yaml:9:3: steps[5].map.over: over is never a list, so the map always fails`,
		`w.yaml:14:3: steps[10].conditional.test: test is never true or false, so the conditional always fails`,
		`w.yaml:15:3: steps[11].conditional.test: test is never true or false, so the conditional always fails`,
	}, got)
}

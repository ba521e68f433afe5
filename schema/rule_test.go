package schema

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/document"
)

// bound is the beginning of a workflow, before its first step.
const bound = "kind: Workflow\nname: w\noperations: {c: {command: {argv: [c]}}}\nsteps:\n- "

// Rules about several keys, and rules about the form of texts, match those of the readers: the schema refuses exactly the same
// mappings and texts.
func TestRulesAreThoseOfTheReaders(t *testing.T) {
	binding := func(text string) string { return "kind: Workflow\nname: w\nsteps: []\noperations: {c: " + text + "}" }
	call := func(text string) string { return bound + "{operation: c, " + text + "}" }
	target := func(text string) string { return call("target: {" + text + "}") }
	fanIn := func(text string) string {
		return call("target: {resolve: static, participants: [p, q]}, timing: {timeout: PT1S}, fan_in: {" + text + "}")
	}
	task := func(text string) string { return call("fulfillment: {" + text + "}") }
	tool := func(text string) string {
		return "kind: Playbook\napiVersion: sluice/v1\nmetadata: {name: p}\nworkflow: [{step: s, tool: [{kind: noop, name: a}, {kind: http, url: \"http://h\", spec: {" + text + "}}]}]"
	}
	rule := func(text string) string { return tool("policy: {rules: [" + text + "]}") }
	definition := func(text string) string {
		return "kind: WorkflowDefinition\nname: w\nplan: {steps: [{step_id: a, service_type: b}, {step_id: c, service_type: b, " + text + "}]}"
	}
	accepted := []string{
		binding("{command: {argv: [a]}}"), binding("{command: {shell: a}}"), binding("{command: {argv: [], shell: a}}"), binding(`{command: {argv: [a], shell: ""}}`),
		binding("{workflow: {path: a}}"), binding("{workflow: {name: a}}"), binding("{sleep: {for: PT1S}}"), binding(`{sleep: {for: "{{ input }}"}}`),
		binding("{sleep: {for: PT0.5S}}"), binding("{fail: {code: a, message: ''}}"),
		bound + "conditional: {test: '{{ true }}', then: []}", bound + "conditional: {func: {name: f}, then: []}",
		bound + "map: {id: m, over: [1], steps: [{operation: c}]}", bound + "map: {id: m, over: null, func: {name: f}, steps: [{operation: c}]}",
		bound + "map: {id: m, over: [1], as: item_2, steps: [{operation: c}]}",
		call("func: {name: f}"), call("func: {name: f}, input: null"), call("input: 1"), call("id: ä-1"),
		bound + "{operation: 'team/pay', id: pay}",
		target("resolve: static, participants: [p], filter: {}"), target("resolve: capability, capability_id: c, participants: [], limit: 2"), target("resolve: task_type, capability_id: c"),
		fanIn(""), fanIn("min_responses: 1, hedge_after: PT1S"), fanIn("policy: quorum, min_responses: 2"), fanIn("policy: best_of, score_field: a, score_order: asc"), fanIn("policy: all"),
		task("policy: auto"), task("policy: external_decision, decision_source: {kind: operator}"),
		task("policy: external_decision, decision_source: {kind: capability, capability_id: a}"), task("policy: external_decision, decision_source: {kind: automatic, operation: a}"),
		task("policy: output_match, result_match: {path: /a/~0b, fulfilled_values: [1], not_fulfilled_values: []}"),
		rule("{when: '{{ true }}', then: {do: jump, to: a}}"), rule("{else: {then: {do: retry, attempts: 2, delay: 0}}}"), rule("{else: null, then: {do: fail}}"), rule("{else: {do: fail}}"),
		tool("timeout: 0.5"), tool("timeout: {connect: 1, read: 2s}"), definition("input_from: a"), definition("input: 1"),
	}
	refused := []string{
		binding("{command: {}}"), binding("{command: {argv: [a], shell: a}}"), binding("{command: {argv: []}}"), binding("{command: {shell: ''}}"), binding(`{command: {shell: "a {{ input }}"}}`),
		binding("{workflow: {}}"), binding("{workflow: {path: a, name: a}}"), binding("{workflow: {path: ''}}"), binding("{sleep: {for: 5s}}"), binding("{sleep: {for: PT0S}}"), binding("{sleep: {for: ''}}"),
		binding("{wait: {message: ''}}"), binding("{http: {url: ''}}"), binding("{http: {url: a, method: ''}}"), binding("{fail: {code: ''}}"),
		bound + "conditional: {then: []}", bound + "conditional: {test: a, func: {name: f}, then: []}", bound + "conditional: {test: '', then: []}",
		bound + "map: {id: m, steps: [{operation: c}]}", bound + "map: {id: m, over: null, steps: [{operation: c}]}", bound + "map: {id: m, over: [1], func: {name: f}, steps: [{operation: c}]}",
		bound + "map: {id: m, over: [1], steps: []}", bound + "map: {id: 'm/n', over: [1], steps: [{operation: c}]}",
		call("func: {name: f}, input: 1"), call("func: {name: ''}"), call("id: 'a b'"), call("id: ''"), call("id: 'a[1]'"), call("id: " + strings.Repeat("a", 129)), call("fan_in: {}"),
		bound + "{operation: 'team/pay'}", bound + "{operation: ''}", call("timing: {timeout: PT0S}"), call("timing: {timeout: P0DT0.0S}"),
		target("resolve: static"), target("resolve: static, participants: []"), target("resolve: static, participants: ['']"), target("resolve: static, participants: [p], capability_id: c"),
		target("resolve: static, participants: [p], limit: 1"), target("resolve: static, participants: [p], filter: {a: 1}"), target("resolve: capability"),
		target("resolve: capability, capability_id: c, participants: [p]"), target("resolve: capability, capability_id: ''"), target("resolve: task_type, participants: [p]"), target("resolve: task_type, limit: 1"),
		fanIn("min_responses: 2"), fanIn("score_field: a"), fanIn("score_order: asc"), fanIn("policy: quorum"), fanIn("policy: quorum, min_responses: 1, hedge_after: PT1S"),
		fanIn("policy: all, min_responses: 1"), fanIn("policy: best_of"), fanIn("policy: best_of, score_field: ''"), fanIn("policy: all, score_order: asc"),
		task("policy: external_decision"), task("policy: output_match"), task("policy: external_decision, decision_source: {kind: capability}"), task("policy: external_decision, decision_source: {kind: automatic}"),
		task("policy: output_match, result_match: {path: /a}"), task("policy: output_match, result_match: {path: /a, fulfilled_values: []}"), task("policy: output_match, result_match: {path: a, fulfilled_values: [1]}"),
		task("policy: output_match, result_match: {path: /a~2, fulfilled_values: [1]}"), task("policy: output_match, result_match: {path: '', fulfilled_values: [1]}"),
		"kind: Playbook\napiVersion: sluice/v1\nmetadata: {name: p}\nworkflow: [{step: s, tool: []}]",
		"kind: Playbook\napiVersion: sluice/v1\nmetadata: {name: p}\nworkflow: [{step: s, tool: {kind: ''}}]",
		"kind: Playbook\napiVersion: sluice/v1\nmetadata: {name: p}\nworkbook: [{name: e, tool: {kind: ''}}]\nworkflow: [{step: s, tool: {kind: noop}}]",
		rule("{then: {do: fail}}"), rule("{when: '{{ true }}'}"), rule("{when: '{{ true }}', then: {do: fail}, else: {then: {do: fail}}}"), rule("{else: {then: {do: jump}}}"), rule("{else: {then: {do: fail, to: a}}}"),
		rule("{else: {then: {do: fail, attempts: 2}}}"), rule("{else: {then: {attempts: 2}}}"), rule("{else: {then: {to: a}}}"), tool("timeout: 0"), tool("timeout: -1"), tool("timeout: ''"), tool("timeout: {connect: 0}"), definition("input_from: a, input: 1"), definition("fan_in: {}"),
	}
	for _, name := range []string{"input", "run", "steps", "index", "participant", "attempt", "true", "false", "null", "nil", "let", "if", "else", "not", "in", "and", "or", "2a", "a-b", ""} {
		refused = append(refused, bound+"map: {id: m, over: [1], as: '"+name+"', steps: [{operation: c}]}")
	}
	for i, text := range append(accepted, refused...) {
		nodes, err := document.Parse("w.yaml", []byte(text), document.Limits{})
		require.NoError(t, err, text)
		kind := kindOf(nodes[0])
		err, invalid := read(t, kind, nodes[0]), compiled(t, kind).Validate(nodes[0].Value())
		if i < len(accepted) {
			assert.NoError(t, err, text)
			assert.NoError(t, invalid, text)
			continue
		}
		assert.Error(t, err, text)
		assert.Error(t, invalid, "%s\n%v", text, err)
	}
}

// The schema accepts every combination of keys that the readers accept, with the examples of the keys and with boundary values. The
// test tries 30 combinations for each shape, or 300 with SLUICE_EXHAUSTIVE.
func TestCombinationsOfKeysAreValidAsTheReadersSay(t *testing.T) {
	times := 30
	if os.Getenv("SLUICE_EXHAUSTIVE") != "" {
		times = 300
	}
	random := rand.New(rand.NewPCG(3, 4))
	values := []any{nil, true, 0, 1, "", "a", "{{ input }}", "PT1S", "/a", []any{}, []any{"a"}, map[string]any{}, removed}
	accepted := 0
	at := places(t)
	for _, s := range shapesOfAll() {
		for range times {
			keys := map[string]any{}
			for range 1 + random.IntN(3) {
				if len(s.keys) == 0 {
					break
				}
				k := s.keys[random.IntN(len(s.keys))]
				if s == workbookTool && k.name == "ref" { // the reader ignores it beside a task
					continue
				}
				keys[k.name] = k.examples()[0]
				if enum, ok := k.of.rule["enum"].([]any); ok && random.IntN(2) == 0 {
					keys[k.name] = enum[random.IntN(len(enum))]
				} else if random.IntN(2) == 0 {
					keys[k.name] = values[random.IntN(len(values))]
				}
			}
			text := probe(t, at[s], keys)
			nodes, err := document.Parse("probe.json", text, document.Limits{})
			require.NoError(t, err)
			if read(t, at[s].kind, nodes[0]) == nil {
				accepted++
				assert.NoError(t, compiled(t, at[s].kind).Validate(nodes[0].Value()), "%s: %v: %s", s.name, keys, show(t, keys))
			}
		}
	}
	t.Logf("%d combinations were accepted", accepted)
	require.Greater(t, accepted, 500)
}

func shapesOfAll() (all []*Shape) {
	known := references()
	for _, k := range Kinds() {
		for _, s := range shapesOf(k.root) {
			if known[s] == k {
				all = append(all, s)
			}
		}
	}
	return all
}

func show(t *testing.T, v map[string]any) string {
	shown := map[string]any{}
	for key, v := range v {
		if v != removed {
			shown[key] = v
		}
	}
	text, err := json.Marshal(shown)
	require.NoError(t, err)
	return string(text)
}

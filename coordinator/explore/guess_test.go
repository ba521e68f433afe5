package explore_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/explore"
	"github.com/sluiceflow/sluice/template/value"
)

// workflowOf returns a workflow of a step a and the nodes that decide by its outcome.
func workflowOf(rest string) string {
	return "kind: Workflow\nname: w\nsteps:\n  - parallel: {steps: [{operation: a}, {operation: s1}]}\n" + rest
}

// branch is a conditional, both branches of which can be taken.
func branch(test string) string {
	return `  - {conditional: {test: "{{ ` + test + ` }}", then: [{operation: b}], else: [{operation: c}]}}` + "\n"
}

// gate is a playbook whose step b has a gate.
func gate(rule string) string {
	return head + `
workflow:
  - {step: a, tool: {kind: noop}, next: {arcs: [{step: b, args: {n: 2}}]}}
  - {step: b, spec: {policy: {admit: {rules: [{when: "{{ ` + rule + ` }}", then: {allow: true}}]}}}, tool: {kind: noop}}
`
}

// In these, every step can run and every run can end, for outcomes that follow from the document.
func TestWhatADocumentAsksForIsGuessed(t *testing.T) {
	tests := map[string]string{
		"a flag":                         workflowOf(branch("steps.a.output.ok")),
		"a flag and a number":            workflowOf(branch("steps.a.output.ok && steps.a.output.price < 10")),
		"two fields of one output":       workflowOf(branch("steps.a.output.x == 1 && steps.a.output.y == 'z'")),
		"two outputs":                    workflowOf(branch("steps.a.output.x < steps.s1.output.x")),
		"a sum":                          workflowOf(branch("steps.a.output.x + steps.s1.output.x > 10")),
		"a default":                      workflowOf(branch("(steps.a.output.x ?? 0) > 3")),
		"a number below none":            workflowOf(branch("steps.a.output.x < -5")),
		"one of several":                 workflowOf(branch("steps.a.output.x in ['p', 'q']")),
		"what a list has":                workflowOf(branch("'p' in steps.a.output.list")),
		"the length of a list":           workflowOf(branch("len(steps.a.output.list) > 2")),
		"an element of a list":           workflowOf(branch("any(steps.a.output, .price > 3)")),
		"a part of a text":               workflowOf(branch("steps.a.output.name contains 'needle'")),
		"a step whose name ends in one":  workflowOf(branch("steps.s1.output.kind == 'x'")),
		"a name that is written in full": workflowOf(branch(`steps['s1'].output['kind'] == 'x'`)),
		"a step that is called input":    strings.ReplaceAll(workflowOf(branch("steps.input.output.b == 7")), "operation: a}", "operation: input}"),
		"a long text in another script":  workflowOf(branch("steps.a.output.k == '" + strings.Repeat("雪", 40) + "'")),
		"the code of a failure":          workflowOf(branch("steps.a.error.code == 'declined'")),
		"more than a few cases": workflowOf(branch("steps.a.output.k == 'v'") + `
  - {conditional: {test: "{{ steps.a.output.k == 'w' }}", then: [{operation: d}]}}
  - {conditional: {test: "{{ steps.a.output.k == 'x' }}", then: [{operation: e}]}}
  - {conditional: {test: "{{ steps.a.output.k == 'y' }}", then: [{operation: f}]}}
  - {conditional: {test: "{{ steps.a.output.k == 'z' }}", then: [{operation: g}]}}
  - {conditional: {test: "{{ steps.a.output.k == 'zz' }}", then: [{operation: h}]}}
`),
		"more at once than can be combined": workflowOf(branch("steps.a.output.ok && steps.a.output.n < 10 && steps.a.output.k == 'x' && steps.a.output.m > 5")),
		"an item of a map": workflowOf(`
  - map: {id: m, over: "{{ steps.a.output.lines }}", as: line, steps: [{conditional: {test: "{{ line.price > 3 }}", then: [{operation: b}], else: [{operation: c}]}}]}
`),
		"the input of the run":        workflowOf(branch("input.kind == 'x'")),
		"an input that is restricted": "input: {type: object, required: [kind], properties: {kind: {enum: [x, y]}}}\n" + workflowOf(branch("input.kind in ['x', 'y', 'z'] && input.kind != 'y'")),
		"an input that is one of two": "input: {type: object, required: [kind], properties: {kind: {enum: [x, y]}}}\n" + workflowOf(branch("input.kind == 'x'")),
		"what is passed on by a value": `
kind: Workflow
name: w
operations: {keep: {value: {kept: "{{ input }}"}}}
steps:
  - operation: a
  - {operation: keep, input: "{{ steps.a.output.x }}"}
` + branch("steps.keep.output.kept == 5"),

		"a message":                   "kind: Workflow\nname: w\noperations: {m: {wait: {message: go}}}\nsteps:\n  - operation: m\n" + branch("steps.m.output.n > 3"),
		"a message to a playbook":     head + strings.Replace(passing("message: go", `{n: "{{ event.result.n }}"}`, "args.n > 10"), "kind: call", "kind: wait", 1),
		"a number in the context":     gate("ctx.n > 3"),
		"between two numbers":         gate("ctx.n >= 3 && ctx.n < 5"),
		"an object in the context":    gate("ctx.limits.price == 3"),
		"a list in the context":       gate("'ann' in ctx.by"),
		"two keys":                    gate("ctx.n == 7 && ctx.name == 'ann'"),
		"any key":                     gate("ctx[args.n == 2 ? 'x' : 'y'] == true || ctx.z == 'z'"),
		"through the context and set": head + passing(`spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {st: "{{ outcome.result.st }}"}}}}]}}`, "{}", "ctx.st == 'go'"),
		"through args":                head + passing(`spec: {}`, `{n: "{{ event.result.n }}"}`, "args.n > 10"),
		"through a result by name":    head + passing(`spec: {}`, `{n: "{{ results.a_task.n }}"}`, "args.n > 10"),
		"the kind of an error":        head + passing(`spec: {}`, `{kind: "{{ event.error?.kind }}"}`, "args.kind == 'rate_limit'"),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			r := explored(t, text, explore.Options{})
			require.Empty(t, r.Findings, text)
			require.True(t, r.Complete)
			require.Contains(t, r.Ends, "completed")
		})
	}
}

// passing is a playbook in which step b decides by the answer of step a.
func passing(task, args, guard string) string {
	return `
workflow:
  - {step: a, tool: {kind: call, ` + task + `}, next: {arcs: [{step: b, args: ` + args + `}]}}
  - {step: b, tool: {kind: noop}, next: {arcs: [{step: c, when: "{{ ` + guard + ` }}"}, {step: d}]}}
  - {step: c, tool: {kind: noop}}
  - {step: d, tool: {kind: noop}}
`
}

// The same holds in the other dialect, in which the name of a step is its result.
func TestTheOtherDialectIsGuessed(t *testing.T) {
	r := explored(t, `
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: p, path: p}
workflow:
  - step: a
    tool: {kind: python, code: x}
    next: {arcs: [{step: b, when: "{{ event.name == 'call.error' }}"}, {step: b, when: "{{ (a.rows | length) >= 2 and a.get('state') == 'done' }}"}, {step: c, when: "{{ not a.ok }}"}, {step: d}]}
  - {step: b, tool: {kind: noop}}
  - {step: c, tool: {kind: noop}}
  - {step: d, tool: {kind: noop}}
`, explore.Options{})
	require.Empty(t, r.Findings)
	require.True(t, r.Complete)
}

// A guessed value must not hide a fault.
func TestWhatNoOutcomeLeadsToIsFound(t *testing.T) {
	tests := []struct{ name, text, kind, step string }{
		{"a test that cannot hold", workflowOf(branch("steps.a.output.x > 3 && steps.a.output.x < 3")), explore.NeverRuns, "b"},
		{"a value that is known", "kind: Workflow\nname: w\noperations: {a: {value: 5}}\nsteps:\n  - operation: a\n" + branch("steps.a.output > 3"), explore.NeverRuns, "c"},
		{"a gate on what a token has", gate("args.n == 3"), explore.NeverEnds, "b"},
		{"a gate that no value opens", gate("ctx.n > 3 && ctx.n < 2"), explore.NeverEnds, "b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Contains(t, kindsOf(explored(t, tt.text, explore.Options{})), tt.kind+" "+tt.step)
		})
	}
}

// A condition that must never hold may test for values that the document does not contain.
func TestAConditionsOwnLiteralsAreGuessed(t *testing.T) {
	r := explored(t, workflowOf(""), explore.Options{Never: []string{"{{ steps.a.output.amount > 100 }}"}})
	require.Equal(t, []string{explore.NeverHolds + " "}, kindsOf(r))
	require.Equal(t, []string{`a answers {"amount":101}`}, r.Findings[0].Trace)
}

// If runs may start with several inputs, a trace begins with its input.
func TestATraceBeginsWithTheInput(t *testing.T) {
	text := "kind: Workflow\nname: w\nsteps:\n" + branch("input.n > 3")
	o := explore.Options{Never: []string{`{{ steps.b.status == "completed" }}`}}
	r := explored(t, text, o)
	require.Equal(t, []string{`the run starts with {"n":4}`, "b answers"}, r.Findings[0].Trace)

	o.Input = map[string]value.Value{"n": int64(1)}
	r = explored(t, text, o)
	require.Equal(t, []string{explore.NeverRuns + " b"}, kindsOf(r), "what is given is what counts")
}

func TestTheBoundOfStatesIsKept(t *testing.T) {
	r := explored(t, workflowOf(branch("steps.a.output.x == 1 && steps.a.output.y == 2 && steps.a.output.z == 3")), explore.Options{StatesMax: 7})
	require.Equal(t, 7, r.States)
	require.False(t, r.Complete)
}

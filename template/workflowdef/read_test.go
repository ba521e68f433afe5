package workflowdef_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/workflowdef"
)

// steps returns a document with the given lines in its list of steps; the first of them is line 5.
func steps(lines ...string) string {
	return "kind: WorkflowDefinition\nname: w\nplan:\n  steps:\n  " + strings.Join(lines, "\n  ") + "\n"
}

// load reads a document for a program that has all operations whose names begin with an a.
func load(text string) (*template.Checked, error) {
	return workflowdef.Load("w.yaml", []byte(text), template.Known{
		Operation:  func(name string) bool { return strings.HasPrefix(name, "a") },
		Operations: []string{"a", "a/summary"},
	})
}

// Each document is equivalent to a Workflow, with the same identity; the plans of both have the same edges.
func TestADefinitionIsTheSameAsAWorkflow(t *testing.T) {
	for _, c := range []struct{ name, text, workflow string }{
		{"no steps", "{kind: WorkflowDefinition, name: w, plan: {steps: []}}", "{kind: Workflow, name: w, steps: []}"},
		{"steps without depends_on run in order",
			steps("- {step_id: s, service_type: a}", "- {step_id: t, service_type: a}", "- {step_id: u, service_type: a}"),
			`{kind: Workflow, name: w, steps: [{id: s, operation: a}, {id: t, operation: a}, {id: u, operation: a}]}`},
		{"the first step may say that it depends on nothing",
			steps("- {step_id: s, service_type: a, depends_on: []}", "- {step_id: t, service_type: a}"),
			`{kind: Workflow, name: w, steps: [{id: s, operation: a}, {id: t, operation: a}]}`},
		{"an empty depends_on starts at once",
			steps("- {step_id: s, service_type: a}", "- {step_id: t, service_type: a, depends_on: []}"),
			`{kind: Workflow, name: w, steps: [{parallel: {steps: [{id: s, operation: a}, {id: t, operation: a}]}}]}`},
		{"depends_on may name a later step",
			steps("- {step_id: s, service_type: a, depends_on: [t]}", "- {step_id: t, service_type: a, depends_on: []}"),
			`{kind: Workflow, name: w, steps: [{parallel: {steps: [{id: s, operation: a, needs: [t]}, {id: t, operation: a}]}}]}`},
		{"a step without depends_on follows the one before it, also among others that have it",
			steps("- {step_id: s, service_type: a}", "- {step_id: t, service_type: a}",
				"- {step_id: u, service_type: a, depends_on: [s]}", "- {step_id: v, service_type: a}", "- {step_id: x, service_type: a, depends_on: [t, v]}"),
			`{kind: Workflow, name: w, steps: [{parallel: {steps: [
				{sequential: {steps: [{id: s, operation: a}, {id: t, operation: a}]}},
				{sequential: {steps: [{id: u, operation: a, needs: [s]}, {id: v, operation: a}]}},
				{id: x, operation: a, needs: [t, v]}]}}]}`},
		{"the output of one step is the input",
			steps("- {step_id: s, service_type: a}", "- {step_id: t, service_type: a, input_from: s}"),
			`{kind: Workflow, name: w, steps: [{id: s, operation: a}, {id: t, operation: a, input: {from: /steps/s/output}}]}`},
		{"the outputs of several steps are an object",
			steps("- {step_id: s, service_type: a}", "- {step_id: t~1, service_type: a}", "- {step_id: u, service_type: a, input_from: [s, t~1]}"),
			`{kind: Workflow, name: w, steps: [{id: s, operation: a}, {id: "t~1", operation: a},
				{id: u, operation: a, input: {s: {from: /steps/s/output}, "t~1": {from: /steps/t~01/output}}}]}`},
		{"the outputs of no step are an empty object", steps("- {step_id: s, service_type: a, input_from: []}"),
			`{kind: Workflow, name: w, steps: [{id: s, operation: a, input: {}}]}`},
		{"a step called from gives no pointer",
			steps("- {step_id: from, service_type: a}", "- {step_id: required, service_type: a}", "- {step_id: u, service_type: a, input_from: [required, from]}"),
			`{kind: Workflow, name: w, steps: [{id: from, operation: a}, {id: required, operation: a},
				{id: u, operation: a, input: "{{ {\"from\": steps[\"from\"].output ?? null, \"required\": steps[\"required\"].output ?? null} }}"}]}`},
		{"everything that is said about a call",
			steps(`- {step_id: s, service_type: a, input: {n: "{{ input.n }}"}, idempotent: false,`,
				`   target: {resolve: capability, capability_id: c, filter: {k: 1}, limit: 2},`,
				`   fan_in: {policy: best_of, score_field: $.price, score_order: asc},`,
				`   timing: {timeout: PT30S, on_timeout: skip, retry: {max_attempts: 2}},`,
				`   fulfillment: {policy: requester_confirmation}, x-note: free}`),
			`{kind: Workflow, name: w, steps: [{id: s, operation: a, input: {n: "{{ input.n }}"}, idempotent: false,
				target: {resolve: capability, capability_id: c, filter: {k: 1}, limit: 2},
				fan_in: {policy: best_of, score_field: /price, score_order: asc},
				timing: {timeout: PT30S, on_timeout: skip, retry: {max_attempts: 2}},
				fulfillment: {policy: requester_confirmation}}]}`},
		{"everything beside the plan",
			`{kind: WorkflowDefinition, name: w, version: "2", input: {type: object}, deadline: PT5M, failure_policy: abort-all, max_concurrency: 3,
				operations: {b: {value: 1}}, directory: {participants: {p: {}}, capabilities: {c: [{participant: p}]}}, output: "{{ steps.s.output }}",
				x-note: free, plan: {steps: [{step_id: s, service_type: b}], x-note: free}}`,
			`{kind: Workflow, name: w, version: "2", input: {type: object}, deadline: PT5M, failure_policy: abort-all, max_concurrency: 3,
				operations: {b: {value: 1}}, directory: {participants: {p: {}}, capabilities: {c: [{participant: p}]}}, output: "{{ steps.s.output }}",
				steps: [{id: s, operation: b}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			checked, err := load(c.text)
			require.NoError(t, err)
			want, err := template.Load("want.yaml", []byte(c.workflow), template.Known{Lenient: true})
			require.NoError(t, err)
			got, err := json.Marshal(checked.Workflow)
			require.NoError(t, err)
			wanted, err := json.Marshal(want.Workflow)
			require.NoError(t, err)
			require.Equal(t, string(wanted), string(got))

			p, err := plan.Compile(checked)
			require.NoError(t, err)
			q, err := plan.Compile(want)
			require.NoError(t, err)
			require.Equal(t, q.Hash, p.Hash)
			require.Equal(t, q.Edges, p.Edges)
		})
	}
}

// Cycles are left to compilation, as in a Workflow; the fault has the place of the record of their first step.
func TestACycleIsShownWhereItBegins(t *testing.T) {
	checked, err := load(steps("- {step_id: s, service_type: a}", "- {step_id: t, service_type: a, depends_on: [u]}",
		"- {step_id: u, service_type: a, depends_on: [], input_from: t}"))
	require.NoError(t, err)
	_, err = plan.Compile(checked)
	require.EqualError(t, err, `w.yaml:6:5: plan.steps[1]: cycle: t -> u -> t`)
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"a list", "- a\n", []string{
			`w.yaml:1:1: the document must be a mapping, not a list`, `w.yaml:1:1: name: name is missing`}},
		{"nothing in it", "version: \"1\"\n", []string{
			`w.yaml:1:1: kind: kind is missing`, `w.yaml:1:1: name: name is missing`, `w.yaml:1:1: plan: plan is missing`}},
		{"another kind", "kind: Workflow\nname: w\nplan: {steps: []}\n", []string{`w.yaml:1:7: kind: kind must be WorkflowDefinition, not "Workflow"`}},
		{"two documents", "{kind: WorkflowDefinition, name: w, plan: {steps: []}}\n---\nb: 1\n", []string{
			`w.yaml:3:1: a second document in the file of a workflow`}},
		{"unknown keys of the root", "kind: WorkflowDefinition\nname: w\nplam: {}\ndeadlin: PT1S\nsteps: []\n", []string{
			`w.yaml:3:1: plam: unknown key "plam" (did you mean "plan"?)`,
			`w.yaml:4:1: deadlin: unknown key "deadlin" (did you mean "deadline"?)`,
			`w.yaml:5:1: steps: unknown key "steps"`}},
		{"a plan without steps", "kind: WorkflowDefinition\nname: w\nplan: {}\n", []string{`w.yaml:3:7: plan.steps: steps is missing`}},
		{"a plan with a misspelt key", "kind: WorkflowDefinition\nname: w\nplan: {step: []}\n", []string{
			`w.yaml:3:8: plan.step: unknown key "step" (did you mean "steps"?)`}},
		{"a plan that is a list", "kind: WorkflowDefinition\nname: w\nplan: []\n", []string{`w.yaml:3:7: plan: plan must be a mapping, not a list`}},
		{"steps that are a mapping", "kind: WorkflowDefinition\nname: w\nplan: {steps: {}}\n", []string{
			`w.yaml:3:15: plan.steps: steps must be a list, not a mapping`}},
		{"what stands beside the plan", "kind: WorkflowDefinition\nname: My w\ndeadline: P1M\nfailure_policy: abort-al\nmax_concurrency: 0\n" +
			"operations: {b: {valu: 1}, c: {sleep: {}}}\ndirectory: {capabilities: {q: [{revoked: 1}]}}\noutput: \"{{ steps.s.output }}\"\nplan: {steps: []}\n", []string{
			`w.yaml:2:7: name: invalid name "My w": a name has a-z, 0-9, dots, dashes and underscores, at most 500`,
			`w.yaml:3:11: deadline: invalid duration "P1M": years and months have no fixed length`,
			`w.yaml:4:17: failure_policy: failure_policy must be one of continue-running, abort-dependents, abort-all, not "abort-al" (did you mean "abort-all"?)`,
			`w.yaml:5:18: max_concurrency: max_concurrency must be at least 1, not 0`,
			`w.yaml:6:18: operations.b.valu: unknown key "valu" (did you mean "value"?)`,
			`w.yaml:6:39: operations.c.sleep.for: sleep needs for`,
			`w.yaml:7:32: directory.capabilities.q[0].participant: participant is missing`,
			`w.yaml:7:42: directory.capabilities.q[0].revoked: revoked must be a boolean, not an integer`,
			`w.yaml:8:9: output: unknown step "s"`}},

		{"a step that is a text", steps("- a", "- {step_id: t, service_type: b, depends_on: [t]}"), []string{
			`w.yaml:5:5: plan.steps[0]: a step must be a mapping, not a string: "a"`,
			`w.yaml:6:32: plan.steps[1].service_type: unknown operation "b": bind it under operations, or a program or worker must have it`,
			`w.yaml:6:48: plan.steps[1].depends_on[0]: cycle: t -> t`}},
		{"a step of nothing", steps("- {}", "- {}"), []string{
			`w.yaml:5:5: plan.steps[0].service_type: service_type is missing`, `w.yaml:5:5: plan.steps[0].step_id: step_id is missing`,
			`w.yaml:6:5: plan.steps[1].service_type: service_type is missing`, `w.yaml:6:5: plan.steps[1].step_id: step_id is missing`}},
		{"keys of a Workflow", steps("- {id: s, operation: a, needs: [], func: {name: f}}"), []string{
			`w.yaml:5:5: plan.steps[0].service_type: service_type is missing`, `w.yaml:5:5: plan.steps[0].step_id: step_id is missing`,
			`w.yaml:5:6: plan.steps[0].id: unknown key "id"`,
			`w.yaml:5:13: plan.steps[0].operation: unknown key "operation"`,
			`w.yaml:5:27: plan.steps[0].needs: unknown key "needs"`,
			`w.yaml:5:38: plan.steps[0].func: unknown key "func"`}},
		{"misspelt keys are not missing too", steps("- {stepid: s, servicetype: a, dependson: [], inputfrom: s}"), []string{
			`w.yaml:5:6: plan.steps[0].stepid: unknown key "stepid" (did you mean "step_id"?)`,
			`w.yaml:5:17: plan.steps[0].servicetype: unknown key "servicetype" (did you mean "service_type"?)`,
			`w.yaml:5:33: plan.steps[0].dependson: unknown key "dependson" (did you mean "depends_on"?)`,
			`w.yaml:5:48: plan.steps[0].inputfrom: unknown key "inputfrom" (did you mean "input_from"?)`}},
		{"values of the wrong kind", steps("- {step_id: 1, service_type: [a], depends_on: s, input_from: {s: 1}, idempotent: 1}"), []string{
			`w.yaml:5:15: plan.steps[0].step_id: step_id must be a string, not an integer`,
			`w.yaml:5:32: plan.steps[0].service_type: service_type must be a string, not a list`,
			`w.yaml:5:49: plan.steps[0].depends_on: depends_on must be a list, not a string: "s"`,
			`w.yaml:5:64: plan.steps[0].input_from: input_from must be a step id or a list of them, not a mapping`,
			`w.yaml:5:84: plan.steps[0].idempotent: idempotent must be a boolean, not an integer`}},
		{"ids", steps("- {step_id: a b, service_type: a}", "- {step_id: a, service_type: a}", "- {step_id: a, service_type: a}",
			"- {step_id: a/summary, service_type: a/summary}"), []string{
			`w.yaml:5:15: plan.steps[0].step_id: invalid step id "a b": an id has no spaces and none of / [ ] #`,
			`w.yaml:7:15: plan.steps[2].step_id: duplicate step id "a", first at plan.steps[1]`,
			`w.yaml:8:15: plan.steps[3].step_id: invalid step id "a/summary": an id has no spaces and none of / [ ] #`}},
		{"an unknown operation", steps("- {step_id: s, service_type: q/summary}"), []string{
			`w.yaml:5:32: plan.steps[0].service_type: unknown operation "q/summary" (did you mean "a/summary"?)`}},
		{"depends_on of what is not there", steps("- {step_id: draft, service_type: a}", "- {step_id: t, service_type: a, depends_on: [draft, drat]}"), []string{
			`w.yaml:6:55: plan.steps[1].depends_on[1]: unknown step "drat" (did you mean "draft"?)`}},
		{"depends_on of a step that follows", steps("- {step_id: s, service_type: a, depends_on: [t]}", "- {step_id: t, service_type: a}"), []string{
			`w.yaml:5:48: plan.steps[0].depends_on[0]: step "t" comes later`}},
		{"input_from what is not there", steps("- {step_id: draft, service_type: a}", "- {step_id: t, service_type: a, input_from: drat}",
			"- {step_id: u, service_type: a, input_from: [draft, drat, u, v]}", "- {step_id: v, service_type: a}"), []string{
			`w.yaml:6:47: plan.steps[1].input_from: unknown step "drat" (did you mean "draft"?)`,
			`w.yaml:7:55: plan.steps[2].input_from[1]: unknown step "drat" (did you mean "draft"?)`,
			`w.yaml:7:61: plan.steps[2].input_from[2]: cycle: u -> u`,
			`w.yaml:7:64: plan.steps[2].input_from[3]: step "v" comes later`}},
		{"input_from steps called from", steps("- {step_id: t, service_type: a, input_from: [from]}"), []string{
			`w.yaml:5:47: plan.steps[0].input_from: unknown step "from"`}},
		{"input_from beside input", steps("- {step_id: s, service_type: a}", "- {step_id: t, service_type: a, input_from: s, input: 1}"), []string{
			`w.yaml:6:47: plan.steps[1].input_from: input_from cannot be combined with input: "s"`}},
		{"expressions", steps("- {step_id: s, service_type: a, input: {n: \"{{ inptu.n }}\", m: [{from: /steps/t/output}]}}"), []string{
			`w.yaml:5:46: plan.steps[0].input.n: unknown name "inptu" (did you mean "input"?)`}},
		{"what is said about a call", steps("- {step_id: s, service_type: a, target: {resolve: statik}, fan_in: {policy: best_of}, timing: {timeout: 5s},",
			"   fulfillment: {policy: output_match}}", "- {step_id: t, service_type: a, depends_on: [], fan_in: {policy: quorum}}"), []string{
			`w.yaml:5:53: plan.steps[0].target.resolve: resolve must be one of static, capability, task_type, not "statik" (did you mean "static"?)`,
			`w.yaml:5:70: plan.steps[0].fan_in.score_field: best_of needs score_field`,
			`w.yaml:5:107: plan.steps[0].timing.timeout: invalid duration "5s": write it as PT30S, PT5M or P1DT12H`,
			`w.yaml:6:19: plan.steps[0].fulfillment.result_match: output_match needs result_match`,
			`w.yaml:7:59: plan.steps[1].fan_in: fan_in needs a target`,
			`w.yaml:7:59: plan.steps[1].fan_in.min_responses: quorum needs min_responses`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			checked, err := load(c.text)
			require.Nil(t, checked)
			require.Equal(t, strings.Join(c.want, "\n"), err.Error())
		})
	}
}

// Every definition of the scenarios is valid, and reads its directory and deadline like a Workflow.
func TestDefinitionsOfScenariosAreAccepted(t *testing.T) {
	file := filepath.Join("testdata", "definitions.yaml")
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	scenarios, err := document.Parse(file, data, document.Limits{})
	require.NoError(t, err)
	definitions := 0
	for _, n := range scenarios {
		w, err := workflowdef.ParseNode(n.Get("workflow"))
		require.NoError(t, err)
		checked, err := template.Check(w, template.Known{Lenient: true})
		require.NoError(t, err)
		_, err = plan.Compile(checked)
		require.NoError(t, err)
		definitions++
	}
	require.Equal(t, 4, definitions)
}

// FuzzLoad: no document causes a panic; an accepted one is a Workflow document with the same identity.
func FuzzLoad(f *testing.F) {
	f.Add(steps("- {step_id: s, service_type: a}", "- {step_id: t, service_type: a, input_from: s}"))
	f.Add(steps("- {step_id: s, service_type: a, depends_on: [t]}", "- {step_id: t, service_type: a, depends_on: [], input_from: [from, s]}"))
	f.Add(steps("- {step_id: s, service_type: a, input_from: [s, 1], input: 1}", "- 1", "- {}"))
	f.Add(`{"kind": "WorkflowDefinition", "name": "w", "plan": {"steps": {}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		checked, err := workflowdef.Load("w.yaml", []byte(text), template.Known{Lenient: true})
		if err != nil {
			require.NotEmpty(t, err.Error())
			require.Nil(t, checked)
			return
		}
		hash, err := checked.Workflow.Hash()
		require.NoError(t, err)
		data, err := json.Marshal(checked.Workflow)
		require.NoError(t, err)
		back, err := template.Load("back.json", data, template.Known{Lenient: true})
		require.NoError(t, err, "%s", data)
		again, err := back.Workflow.Hash()
		require.NoError(t, err)
		require.Equal(t, hash, again)
	})
}

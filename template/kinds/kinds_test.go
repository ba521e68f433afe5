package kinds_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

func TestEveryKindIsReadByItsReader(t *testing.T) {
	texts := map[string]struct{ text, id string }{
		"Workflow":           {"{kind: Workflow, name: w, steps: [{id: s, operation: a}]}", "s"},
		"WorkflowDefinition": {"{kind: WorkflowDefinition, name: w, plan: {steps: [{step_id: s, service_type: a}]}}", "s"},
		"Playbook":           {"{kind: Playbook, apiVersion: sluice/v1, metadata: {name: w}, workflow: [{step: s, tool: {kind: a}}]}", "s.s_task"},
		"World":              {"{kind: World, name: w, effects: {a: {params: unit, receipt: unit}}, machines: {m: {state: unit, event: [], emits: []}}}", "a"},
	}
	hashes := map[string]string{}
	for _, kind := range kinds.Kinds() {
		require.Contains(t, texts, kind)
		checked, err := kinds.Load("w.yaml", []byte(texts[kind].text), template.Known{Lenient: true})
		require.NoError(t, err)
		require.NotNil(t, checked.ByID[texts[kind].id])
		hash, err := checked.Workflow.Hash()
		require.NoError(t, err)
		hashes[kind] = hash
	}
	require.Equal(t, hashes["Workflow"], hashes["WorkflowDefinition"], "these documents say the same")
	require.NotEqual(t, hashes["Workflow"], hashes["Playbook"], "what orders the steps is not the tree")
}

func TestKindsThatNobodyReadsAreRefused(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"misspelt", "kind: WorkflowDefinitoin\nsteps: []\n",
			`w.yaml:1:7: kind: kind must be one of Workflow, WorkflowDefinition, Playbook, World, not "WorkflowDefinitoin" (did you mean "WorkflowDefinition"?)`},
		{"in lower case", "kind: workflow\n",
			`w.yaml:1:7: kind: kind must be one of Workflow, WorkflowDefinition, Playbook, World, not "workflow" (did you mean "Workflow"?)`},
		{"near nothing", "kind: Recipe\n", `w.yaml:1:7: kind: kind must be one of Workflow, WorkflowDefinition, Playbook, World, not "Recipe"`},
		{"a scenario", "kind: Scenario\n---\nkind: Scenario\n",
			`w.yaml:1:7: kind: kind must be one of Workflow, WorkflowDefinition, Playbook, World, not "Scenario", which sluice test runs`},
		{"missing", "name: w\nplan: {}\n", `w.yaml:1:1: kind: kind is missing: it must be one of Workflow, WorkflowDefinition, Playbook, World`},
		{"a misspelt key", "name: w\nknd: Workflow\n", `w.yaml:2:1: knd: unknown key "knd" (did you mean "kind"?)`},
		{"no text", "kind: 1\n", `w.yaml:1:7: kind: kind must be a string, not an integer`},
		{"no mapping", "[kind]\n", `w.yaml:1:1: the document must be a mapping, not a list`},
		{"no document", "# nothing\n", `w.yaml: no document`},
		{"faults of its own reader", "kind: Workflow\nname: w\nsteps: [{operation: b}]\n", `w.yaml:3:21: steps[0].operation: unknown operation "b": bind it under operations, or a program or worker must have it`},
	} {
		t.Run(c.name, func(t *testing.T) {
			checked, err := kinds.Load("w.yaml", []byte(c.text), template.Known{})
			require.Nil(t, checked)
			require.EqualError(t, err, c.want)
		})
	}
}

func ExampleLoad() {
	checked, err := kinds.Load("blog.yaml", []byte(`
kind: WorkflowDefinition
name: blog
plan:
  steps:
    - {step_id: draft, service_type: text/draft}
    - {step_id: publish, service_type: text/publish, input_from: draft}
`), template.Known{Lenient: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, item := range checked.Items {
		fmt.Println(item.ID, item.Path)
	}
	// Output:
	// draft plan.steps[0]
	// publish plan.steps[1]
}

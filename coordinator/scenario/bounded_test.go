package scenario_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/scenario"
)

// played runs the scenario of a document that is found as main.yaml.
func played(t *testing.T, document, keys string, o scenario.Options) *scenario.Report {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.yaml"), []byte(document), 0o600))
	file := filepath.Join(dir, "test.yaml")
	require.NoError(t, os.WriteFile(file, []byte("kind: Scenario\nname: s\nworkflow: main.yaml\n"+keys+"\n"), 0o600))
	list, err := scenario.Load(file)
	require.NoError(t, err)
	return list[0].Run(o)
}

// Depth alone does not bound a map whose step runs its own document: it starts 20 to the power of 16 runs.
func TestDescendantsAreBounded(t *testing.T) {
	const itself = `{kind: Workflow, name: w, operations: {self: {workflow: {path: main.yaml}}, nap: {sleep: {for: PT1S}}},
		steps: [{operation: nap}, {map: {id: m, over: "{{ 1..20 }}", steps: [{operation: self}]}}]}`
	r := played(t, itself, "expect: {run: failed, events: [run.started]}", scenario.Options{Limits: coordinator.Limits{DescendantsMax: 50}})
	require.True(t, r.Passed, r)
	require.Less(t, r.Events, 51*100)

	// The error names the limit, however many turns so many runs take in one instant.
	awake := strings.Replace(itself, "{operation: nap}, ", "", 1)
	r = played(t, awake, "expect: {run: completed}", scenario.Options{Limits: coordinator.Limits{DescendantsMax: 4000}})
	require.Contains(t, r.String(), "got   failed (child_failed: ")
	require.Contains(t, r.String(), "DescendantsMax is 4000")

	r = played(t, itself, "expect: {run: failed}", scenario.Options{Limits: coordinator.Limits{DepthMax: 1}})
	require.True(t, r.Passed, r)
	require.Less(t, r.Events, 21*100)

	r = played(t, itself, "expect: {run: failed}", scenario.Options{Limits: coordinator.Limits{EventsMax: 200, DescendantsMax: 50}})
	require.False(t, r.Passed)
	require.Contains(t, r.String(), "at most 200 events of all runs together")
}

func TestWhatRunsTakeIsBounded(t *testing.T) {
	const heavy = `{apiVersion: sluice/v1, kind: Playbook, metadata: {name: p}, workflow: [
		{step: a, loop: {in: "{{ 1..1000 }}", iterator: i}, tool: [{name: t, kind: noop, spec: {policy: {rules: [{when: "{{ count(1..%d, # == 1) == 7 }}", then: {do: fail}},
			{else: {then: {do: continue}}}]}}}]%s}]}`
	r := played(t, fmt.Sprintf(heavy, 1000, ", next: {arcs: [{step: a}]}"), "expect: {run: failed}", scenario.Options{WorkMax: 1_000_000})
	require.Contains(t, r.String(), "at most 1000000 steps of work of all runs together")

	// The work that follows from one event is bounded for every run, because no run can be cancelled meanwhile.
	const gate = `{conditional: {test: "{{ count(1..300000, # == 1) == 7 }}", then: [{operation: v}]}},`
	gates := ""
	for i := range 300 {
		gates += strings.Replace(gate, "operation: v", fmt.Sprintf("operation: v, id: s%d", i), 1)
	}
	r = played(t, "{kind: Workflow, name: w, operations: {v: {value: 1}}, steps: [{parallel: {steps: ["+gates+"]}}]}", "expect: {run: failed, reason: x}", scenario.Options{WorkMax: 1 << 40})
	require.Contains(t, r.String(), "too much work together")

	r = played(t, `{kind: Workflow, name: w, operations: {v: {value: "{{ repeat('x', 100000) }}"}}, steps: [{operation: v}, {operation: v, id: w}]}`,
		"expect: {run: completed}", scenario.Options{BytesMax: 150_000})
	require.Contains(t, r.String(), "at most 150000 bytes of all runs together")
}

func TestALoopIsBoundedAsAMapIs(t *testing.T) {
	r := played(t, `{apiVersion: sluice/v1, kind: Playbook, metadata: {name: p}, workflow: [{step: a, loop: {in: "{{ 1..11 }}", iterator: i}, tool: {kind: noop}}]}`,
		"expect: {run: failed, reason: limit_exceeded}", scenario.Options{Limits: coordinator.Limits{MapItemsMax: 10}})
	require.True(t, r.Passed, r)
}

func TestAnAnswerIsDeliveredABoundedNumberOfTimes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "test.yaml")
	require.NoError(t, os.WriteFile(file, []byte("{kind: Scenario, name: s, workflow: x, expect: {}, operations: {a: {output: 1, deliver: 1000000000}}}"), 0o600))
	_, err := scenario.Load(file)
	require.ErrorContains(t, err, "an answer is delivered at most 1000 times, not 1000000000")
}

package scenario_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/scenario"
)

// played writes a document to main.yaml and runs a scenario of it.
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

// The step of the map runs its own document. Without the limit, only the depth would bound the runs: 20 to the power of 16.
func TestDescendantsAreBounded(t *testing.T) {
	const itself = `{kind: Workflow, name: w, operations: {self: {workflow: {path: main.yaml}}, nap: {sleep: {for: PT1S}}},
		steps: [{operation: nap}, {map: {id: m, over: "{{ 1..20 }}", steps: [{operation: self}]}}]}`
	r := played(t, itself, "expect: {run: failed, events: [run.started]}", scenario.Options{Limits: coordinator.Limits{DescendantsMax: 50}})
	require.True(t, r.Passed, r)
	require.Less(t, r.Events, 51*100)

	// The difference names the limit, even if the runs take many turns in one instant.
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

func TestTheResourcesOfRunsAreBounded(t *testing.T) {
	const heavy = `{apiVersion: sluice/v1, kind: Playbook, metadata: {name: p}, workflow: [
		{step: a, loop: {in: "{{ 1..1000 }}", iterator: i}, tool: [{name: t, kind: noop, spec: {policy: {rules: [{when: "{{ count(1..%d, # == 1) == 7 }}", then: {do: fail}},
			{else: {then: {do: continue}}}]}}}]%s}]}`
	r := played(t, fmt.Sprintf(heavy, 1000, ", next: {arcs: [{step: a}]}"), "expect: {run: failed}", scenario.Options{WorkMax: 1_000_000})
	require.Contains(t, r.String(), "at most 1000000 steps of work of all runs together")

	// The work for one event is bounded for every run, because a run cannot be cancelled meanwhile.
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

// One evaluation, step, turn or call may take as much as a whole scenario. The budgets are enforced within each.
func TestTheBudgetsHoldWithinATurn(t *testing.T) {
	const map300 = "{map: {id: m, over: '{{ 1..300 }}', steps: [{id: s, operation: %s}]}}"
	inputs := strings.Repeat("[],", 3000)
	for name, c := range map[string]struct{ document, keys, want string }{
		"an evaluation": {`{kind: Workflow, name: w, operations: {v: {value: "{{ len(1..1000000) }}"}}, steps: [{operation: v}]}`, "", "steps of work"},
		"the inputs of a step": {`{kind: Workflow, name: w, operations: {v: {value: "{{ 1..60000 }}"}, same: {value: "{{ input }}"}}, steps: [{operation: v, id: a},
			{map: {id: m, over: "{{ 1..300 }}", steps: [{id: s, operation: same, input: "{{ steps.a.output }}"}]}}]}`, "", "bytes of all runs"},
		"the outputs of a step": {`{kind: Workflow, name: w, operations: {v: {value: [` + inputs + `1]}}, steps: [` + fmt.Sprintf(map300, "v") + `]}`, "", "bytes of all runs"},
		"answers at one instant": {`{kind: Workflow, name: w, operations: {}, steps: [` + fmt.Sprintf(map300, "ask") + `]}`,
			"operations: {ask: {output: [" + inputs + "1], deliver: 1000}}", "bytes of all runs"},
		"reports": {`{kind: Workflow, name: w, operations: {}, steps: [` + fmt.Sprintf(map300, "ask") + `]}`,
			"operations: {ask: {output: 1, frames: [" + strings.Repeat("{kind: k},", 500) + "]}}", "steps of work"},
		"participants": {`{kind: Workflow, name: w, operations: {}, directory: {participants: {` + numbered("p%d: {},", 500) + `}}, steps: [{map: {id: m, over: "{{ 1..100 }}", steps: [
			{id: s, operation: ask, fan_in: {policy: all}, target: {resolve: static, participants: [` + numbered("p%d,", 500) + `]}}]}}]}`, "operations: {ask: {output: 1}}", "of all runs together"},
		"expectations": {`{kind: Workflow, name: w, operations: {v: {value: "{{ repeat('x', 200000) }}"}}, steps: [{operation: v, id: a}]}`,
			"timeline: [" + numbered("{at: PT%dS, expect: {outputs: {a: 1}}},", 300) + "]", "of all runs together"},
		"writes to a context": {`{apiVersion: sluice/v1, kind: Playbook, metadata: {name: p}, workflow: [{step: a, tool: [
			{name: t0, kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set: {` + numbered("ctx.k%d: 1,", 1000) + `}}}}]}}},
			{name: t, kind: noop, spec: {policy: {rules: [{else: {then: {do: jump, to: t, set: {ctx.k1: "{{ ctx.k2 }}"}}}}]}}}]}]}`, "", "steps of work"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r := played(t, c.document, cmp.Or(c.keys, "operations: {}")+"\nexpect: {run: completed}", scenario.Options{WorkMax: 200_000, BytesMax: 1 << 20})
			runtime.ReadMemStats(&after)
			require.Contains(t, r.String(), c.want)
			require.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(40), "MiB allocated")
		})
	}
}

// numbered returns n texts with the numbers from 1.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i+1)
	}
	return b.String()
}

// The documents of child runs count once each.
func TestWorkflowsOfChildRunsAreBounded(t *testing.T) {
	const itself = `{kind: Workflow, name: w, operations: {self: {workflow: {path: main.yaml}}}, steps: [{map: {id: m, over: "{{ 1..20 }}", steps: [{operation: self}]}}]} # `
	limits := coordinator.Limits{DescendantsMax: 50}
	r := played(t, itself+strings.Repeat("x", 20_000), "expect: {run: failed}", scenario.Options{BytesMax: 1 << 20, Limits: limits})
	require.True(t, r.Passed, r)
	r = played(t, itself+strings.Repeat("x", 40_000), "expect: {run: failed}", scenario.Options{BytesMax: 1 << 20, Limits: limits})
	require.Contains(t, r.String(), "at most 1048576 bytes of all runs together")
}

// A patch that would copy a large object for each of many keys is refused.
func TestPatchesThatCopyMuchAreRefused(t *testing.T) {
	const gate = `{apiVersion: sluice/v1, kind: Playbook, metadata: {name: p}, workflow: [{step: a, tool: [{name: t, kind: sleep, for: PT1H}]}]}`
	patch := "timeline: [{at: PT1S, patch: {ctx: {" + numbered("a.k%d: 1,", 3000) + "}}}]"
	r := played(t, gate, patch+"\nexpect: {ctx: {a: 1}}", scenario.Options{})
	require.Contains(t, r.String(), "it writes to many places of large objects")
	r = played(t, gate, strings.Replace(patch, "a.k", "k", 3000)+"\nexpect: {run: completed}", scenario.Options{})
	require.True(t, r.Passed, r)
}

func TestLoopsAreBoundedLikeMaps(t *testing.T) {
	r := played(t, `{apiVersion: sluice/v1, kind: Playbook, metadata: {name: p}, workflow: [{step: a, loop: {in: "{{ 1..11 }}", iterator: i}, tool: {kind: noop}}]}`,
		"expect: {run: failed, reason: limit_exceeded}", scenario.Options{Limits: coordinator.Limits{MapItemsMax: 10}})
	require.True(t, r.Passed, r)
}

func TestRepetitionsOfAnAnswerAreBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "test.yaml")
	require.NoError(t, os.WriteFile(file, []byte("{kind: Scenario, name: s, workflow: x, expect: {}, operations: {a: {output: 1, deliver: 1000000000}}}"), 0o600))
	_, err := scenario.Load(file)
	require.ErrorContains(t, err, "an answer comes in 1000 times at most, not 1000000000")
}

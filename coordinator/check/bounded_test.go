package check_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/check"
)

// Steps that all lead to all multiply with each run of one: 2 GB of tokens before the first of a few limits was reached.
func TestStepsThatAllLeadToAllAreBounded(t *testing.T) {
	var text strings.Builder
	text.WriteString("apiVersion: sluice/v1\nkind: Playbook\nmetadata: {name: p}\nworkflow:\n")
	for i := range 60 {
		fmt.Fprintf(&text, "  - step: s%d\n    tool: {kind: noop}\n    next:\n      spec: {mode: inclusive}\n      arcs:\n", i)
		for k := range 60 {
			fmt.Fprintf(&text, "        - {step: s%d}\n", k)
		}
	}
	p := compile(t, text.String())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	report, err := check.Explore(p, check.Options{})
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Equal(t, []string{"failed"}, report.Ends)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(1024), "MiB allocated")
}

// A state with many nodes was kept alive with 255 others like it, and every look at one was for nothing: 3 GB, and no end.
func TestStatesWithManyNodesAreBounded(t *testing.T) {
	p := compile(t, `{kind: Workflow, name: w, operations: {}, steps: [
		{map: {id: a, over: "{{ 1..40 }}", as: x, steps: [{map: {id: b, over: "{{ 1..50 }}", as: y, steps: [{operation: ask}]}}]}}]}`)
	const work = 20_000_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	report, err := check.Explore(p, check.Options{WorkMax: work})
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.False(t, report.Complete)
	require.Less(t, report.States, work/100/2000+1, "2,000 nodes count 100 each")
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(512), "MiB allocated")
}

func TestValuesOfStatesAreBounded(t *testing.T) {
	p := compile(t, `{kind: Workflow, name: w, operations: {}, steps: [{map: {id: a, over: "{{ 1..20 }}", steps: [{operation: ask, input: "{{ repeat('x', 100000) }}"}]}}]}`)
	report, err := check.Explore(p, check.Options{BytesMax: 1_000_000})
	require.NoError(t, err)
	require.False(t, report.Complete)
	require.Equal(t, 1, report.States)
}

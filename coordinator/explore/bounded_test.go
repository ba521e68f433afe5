package explore_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/explore"
)

// If all steps lead to all, each run of a step multiplies the tokens: without bounds, they took 2 GB before the first limit was reached.
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
	report, err := explore.Run(p, explore.Options{})
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Equal(t, []string{"failed"}, report.Ends)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(1024), "MiB allocated")
}

// chain is a playbook that calls once; the steps that follow call nothing.
func chain(steps int) string {
	var text strings.Builder
	text.WriteString(head + "workflow:\n  - {step: s0, tool: {kind: call}, next: {arcs: [{step: s1}]}}\n")
	for i := range steps {
		fmt.Fprintf(&text, "  - {step: s%d, tool: {kind: noop}, next: {arcs: [{step: s%d}]}}\n", i+1, i+2)
	}
	fmt.Fprintf(&text, "  - {step: s%d, tool: {kind: noop}}\n", steps+1)
	return text.String()
}

func TestAMoveThatBringsTooManyEventsIsNotFollowed(t *testing.T) {
	text := chain(4_000)
	whole := explored(t, text, explore.Options{})
	require.True(t, whole.Complete)
	require.Equal(t, []string{"completed", "failed"}, whole.Ends)

	cut := explored(t, text, explore.Options{}.Bounded(2_000, 1_000_000))
	require.False(t, cut.Complete, "what was not followed is no move that was refused")
	require.Empty(t, cut.Ends)

	_, err := explore.Run(compile(t, text), explore.Options{}.Bounded(1, 1_000_000))
	require.NoError(t, err, "a start that ends in one turn is looked at whole")
	direct := strings.Replace(text, "{kind: call}", "{kind: noop}", 1)
	_, err = explore.Run(compile(t, direct), explore.Options{}.Bounded(2_000, 1_000_000))
	require.ErrorContains(t, err, "the run goes on for ever, or for too long to be checked: ")
	require.ErrorContains(t, err, "at most 2000 in 100 are explored")
}

func TestStatesThatHoldTooManyEventsAreNotLeft(t *testing.T) {
	text := head + "workflow:\n"
	for i := range 6 {
		text += fmt.Sprintf("  - {step: s%d, tool: {kind: call}, next: {arcs: [{step: s%d}]}}\n", i, i+1)
	}
	text += "  - {step: s6, tool: {kind: call}}\n"
	whole := explored(t, text, explore.Options{})
	require.True(t, whole.Complete)
	cut := explored(t, text, explore.Options{}.Bounded(100_000, 10))
	require.False(t, cut.Complete)
	require.Less(t, cut.States, whole.States)
	require.Empty(t, cut.Findings, "nothing is said of what was not seen")
}

// A state with many nodes was kept in memory with 255 others like it, and each visit was wasted: 3 GB, and no end.
func TestStatesWithManyNodesAreBounded(t *testing.T) {
	p := compile(t, `{kind: Workflow, name: w, operations: {}, steps: [
		{map: {id: a, over: "{{ 1..40 }}", as: x, steps: [{map: {id: b, over: "{{ 1..50 }}", as: y, steps: [{operation: ask}]}}]}}]}`)
	const work = 20_000_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	report, err := explore.Run(p, explore.Options{WorkMax: work})
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.False(t, report.Complete)
	require.Less(t, report.States, work/100/2000+1, "2,000 nodes count 100 each")
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(512), "MiB allocated")
}

func TestValuesOfStatesAreBounded(t *testing.T) {
	p := compile(t, `{kind: Workflow, name: w, operations: {}, steps: [{map: {id: a, over: "{{ 1..20 }}", steps: [{operation: ask, input: "{{ repeat('x', 100000) }}"}]}}]}`)
	report, err := explore.Run(p, explore.Options{BytesMax: 1_000_000})
	require.NoError(t, err)
	require.False(t, report.Complete)
	require.Equal(t, 1, report.States)
}

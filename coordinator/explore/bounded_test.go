package explore_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/explore"
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
	report, err := explore.Run(p, explore.Options{})
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Equal(t, []string{"failed"}, report.Ends)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(1024), "MiB allocated")
}

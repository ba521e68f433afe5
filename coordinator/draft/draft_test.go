package draft_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/draft"
)

func TestAFaultHasItsPlaceAndASuggestion(t *testing.T) {
	c, err := draft.Of(t.Context(), []byte("kind: Workflow\nname: order\noperations: {a: {value: 1}}\nsteps:\n  - {operation: a, id: solicit}\n  - {operation: a, input: \"{{ steps.solcit.output }}\"}\n"))
	require.NoError(t, err)
	require.Len(t, c.Faults, 1)
	require.Equal(t, 6, c.Faults[0].Line)
	require.Equal(t, "solicit", c.Faults[0].Suggestion)
	require.Nil(t, c.Drawing)
	require.Empty(t, c.Name)
}

func TestAnUnboundOperationIsNoFault(t *testing.T) {
	c, err := draft.Of(t.Context(), []byte("kind: Workflow\nname: order\nsteps: [{operation: elsewhere}]\n"))
	require.NoError(t, err)
	require.Empty(t, c.Faults)
	require.Equal(t, "order", c.Name)
	require.Equal(t, []string{"elsewhere"}, c.Drawing.Keys)
	require.True(t, c.Runs.Complete)
	require.Contains(t, c.Runs.Ends, "completed")
}

func TestWhatHasManyStatesIsBounded(t *testing.T) {
	text := "kind: Workflow\nname: many\nsteps: [{parallel: {steps: ["
	for _, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n"} {
		text += "{operation: x, id: " + id + ", fulfillment: {policy: external_decision, decision_source: {kind: operator}, on_not_fulfilled: fail, on_error: fail}},"
	}
	c, err := draft.Of(t.Context(), []byte(text+"]}}]\n"))
	require.NoError(t, err)
	require.Empty(t, c.Faults)
	require.False(t, c.Runs.Complete)
	require.LessOrEqual(t, c.Runs.States, 3000)
}

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

// A document of any kind is warned of, as validate does.
func TestProbableMistakesAreWarnedOf(t *testing.T) {
	for _, text := range []string{
		"kind: Workflow\nname: w\nsteps:\n  - {operation: price}\n  - {operation: ship, input: \"{{ steps.price.output ?? 7 }}\"}\n",
		"apiVersion: sluice/v1\nkind: Playbook\nmetadata: {name: p}\nworkflow:\n  - {step: a, tool: {kind: x}}\n  - {step: lost, tool: {kind: x}}\n",
		"kind: World\nname: w\ntypes: {Ask: {record: {id: text}}}\nmachines: {m: {key: text, state: {record: {n: nat}}, event: [Ask], emits: [], lifecycle: entity, rules: [{event: Ask, set: {n: 1}}]}}\nrouting: {subscriptions: []}\n",
	} {
		c, err := draft.Of(t.Context(), []byte(text))
		require.NoError(t, err)
		require.Empty(t, c.Faults)
		require.NotEmpty(t, c.Warnings, text)
		require.NotZero(t, c.Warnings[0].Line, text)
	}
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

package coordinator_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
)

func TestExistsErrorNamesTheDifference(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}})
	const first = `{kind: Workflow, name: w, steps: [{operation: echo}]}`
	input := map[string]any{"lines": []any{"a", map[string]any{"b": 1}}, "note": "secret"}
	_, err := e.Start(t.Context(), parse(t, first), input, coordinator.WithID("r"))
	require.NoError(t, err)
	for _, test := range []struct {
		text  string
		input any
		want  string
	}{
		{first, map[string]any{"lines": []any{"a", map[string]any{"b": 2}}, "note": "secret"}, "its input differs at /lines/1/b"},
		{first, map[string]any{"lines": []any{"a"}, "note": "secret"}, "its input differs at /lines/1"},
		{first, map[string]any{"lines": []any{"a", map[string]any{"b": 1}}}, "its input differs at /note"},
		{first, 7, "its input differs"},
		{`{kind: Workflow, name: v, steps: [{operation: echo}]}`, input, "it is a run of workflow w, not of v (hash "},
		{`{kind: Workflow, name: w, steps: [{operation: echo, id: x}]}`, input, "it is a run of another version of workflow w (hash "},
	} {
		_, err := e.Start(t.Context(), parse(t, test.text), test.input, coordinator.WithID("r"))
		require.ErrorIs(t, err, coordinator.ErrRunExists)
		var exists *coordinator.ExistsError
		require.ErrorAs(t, err, &exists)
		require.Equal(t, "r", exists.Run)
		require.Contains(t, exists.Difference, test.want)
		require.NotContains(t, err.Error(), "secret", "the error does not show values")
	}
}

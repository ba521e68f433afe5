package registry_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

var nop = operation.Define("nop", func(context.Context, any) (any, error) { return nil, nil })

// A start of a workflow whose definition is stored does not write the definition again: its work does not depend on the number of
// steps.
func TestAStartDoesNotReadAllOfTheWorkflow(t *testing.T) {
	r, err := registry.New(memory.New(), registry.Config{Operations: []registry.Operation{nop}})
	require.NoError(t, err)
	cost := func(steps int) float64 {
		w := &template.Workflow{Name: fmt.Sprint("of", steps)}
		for i := range steps {
			w.Steps = append(w.Steps, &template.Step{ID: fmt.Sprint("s", i), Operation: "nop"})
		}
		entry, err := r.Add(w)
		require.NoError(t, err)
		return testing.AllocsPerRun(10, func() {
			_, err := r.Bundle(context.Background(), entry)
			require.NoError(t, err)
		})
	}
	require.InDelta(t, cost(1), cost(1000), 5)
}

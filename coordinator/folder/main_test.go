package folder_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/control"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// offer is a workflow whose second step waits for a person's decision.
const offer = `
kind: Workflow
name: offer
operations: {letter: {wait: {message: letter}}}
steps:
  - {operation: letter}
  - operation: contract
    input: "{{ steps.letter.output }}"
    fulfillment: {policy: never}
output: "{{ steps.contract.output }}"`

var contract = operation.Define("contract", func(_ context.Context, in any) (any, error) { return in, nil })

func newEngine(t testing.TB, store journal.Store) *coordinator.Engine {
	e, err := coordinator.New(t.Context(), store, coordinator.Config{Operations: []coordinator.Operation{contract}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Shutdown(context.Background())) })
	return e
}

func start(t testing.TB, e *coordinator.Engine) *coordinator.Run {
	w, err := template.Parse("offer.yaml", []byte(offer))
	require.NoError(t, err)
	r, err := e.Start(t.Context(), w, nil, coordinator.WithID("r1"))
	require.NoError(t, err)
	return r
}

func serve(t testing.TB, dir string, e *coordinator.Engine) {
	s, err := control.Serve(dir, e)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
}

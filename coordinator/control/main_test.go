package control_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/control"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// office is a workflow that waits for a letter, then for a person's decision.
const office = `
kind: Workflow
name: office
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

func start(t testing.TB, e *coordinator.Engine, id string) *coordinator.Run {
	w, err := template.Parse("office.yaml", []byte(office))
	require.NoError(t, err)
	r, err := e.Start(t.Context(), w, nil, coordinator.WithID(id), coordinator.WithActor("bob"))
	require.NoError(t, err)
	return r
}

func serve(t testing.TB, dir string, e *coordinator.Engine) *control.Server {
	s, err := control.Serve(dir, e)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// held returns an engine, and a client of it that uses the socket.
func held(t testing.TB) (*coordinator.Engine, *folder.Client, string) {
	dir := t.TempDir()
	e := newEngine(t, memory.New())
	serve(t, dir, e)
	c, err := folder.Dial(dir)
	require.NoError(t, err)
	require.True(t, c.Held())
	return e, c, dir
}

// await follows a run until a step waits for a decision.
func await(t testing.TB, c *folder.Client, run string) {
	for u, err := range c.Watch(t.Context(), run, 1) {
		require.NoError(t, err)
		for _, change := range u.Changes {
			if change.Step == "contract" && change.To == "completed" {
				return
			}
		}
	}
	require.Fail(t, "the run has ended")
}

func events(t testing.TB, c *folder.Client, run string) (list []*api.Event) {
	for e, err := range c.Events(t.Context(), run, "", 1) {
		require.NoError(t, err)
		list = append(list, e)
	}
	return list
}

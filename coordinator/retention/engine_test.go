package retention_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/retention"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

// workflow returns one of the workflows that the tests start, anew each time.
func workflow(t testing.TB, n int) *template.Workflow {
	text := fmt.Sprintf(`{kind: Workflow, name: w%d, operations: {one: {value: %d}}, steps: [{operation: one}]}`, n, n)
	w, err := template.Parse("w.yaml", []byte(text))
	require.NoError(t, err)
	return w
}

// TestARunThatStartsBesideACollectionHasItsDefinition starts runs of a few workflows while others are collected with their definitions,
// so that definitions come and go. Each existing run has its definition.
func TestARunThatStartsBesideACollectionHasItsDefinition(t *testing.T) {
	stores(t, func(t *testing.T, s journal.Store) {
		engine, err := coordinator.New(t.Context(), s, coordinator.Config{Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		require.NoError(t, engine.Keep(t.Context(), retention.Rule{Where: "label.keep:no", Keep: 0}, "ann"))
		workflows := make([]*template.Workflow, 8)
		for i := range workflows {
			workflows[i] = workflow(t, i)
		}
		var writers, all sync.WaitGroup
		var stopped atomic.Bool
		for worker := range 3 {
			writers.Go(func() {
				for i := range 60 {
					keep := map[string]string{"keep": []string{"no", "yes"}[min(1, i%20/19)]}
					run, err := engine.Start(t.Context(), workflows[(worker*3+i/2)%8], nil, coordinator.WithLabels(keep))
					if err == nil {
						_, err = run.Wait(t.Context())
					}
					gone := errors.Is(err, journal.ErrDeleted) || errors.Is(err, coordinator.ErrRunNotFound) // its id is free already
					if err != nil && (!gone || keep["keep"] == "yes") {
						t.Error(err)
						return
					}
				}
			})
		}
		definitions := 0
		all.Go(func() {
			for !stopped.Load() {
				done, err := engine.Collect(t.Context(), retention.Collection{})
				if err != nil {
					t.Error(err)
					return
				}
				definitions += done.Definitions
			}
		})
		writers.Wait()
		stopped.Store(true)
		all.Wait()
		runs := 0
		for head, err := range engine.Runs(t.Context(), "") {
			require.NoError(t, err)
			found := false
			for _, err := range s.Read(t.Context(), journal.DefinitionStream(head.Workflow), 1) {
				require.NoError(t, err)
				found = true
			}
			require.True(t, found, "run %s has lost its definition", head.Run)
			runs++
		}
		require.GreaterOrEqual(t, runs, 9)
		t.Logf("%d definitions collected", definitions)
		require.NoError(t, engine.Shutdown(context.WithoutCancel(t.Context())))
	})
}

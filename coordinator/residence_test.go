package coordinator_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template/kinds"
)

// Runs that wait leave memory at once if there are too many, and are there again when a message comes.
func TestRunsInMemoryAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, err := kinds.ParseStored([]byte(`{"kind": "Workflow", "name": "wait", "operations": {"wait": {"wait": {"message": "go"}}},
			"steps": [{"operation": "wait"}]}`))
		require.NoError(t, err)
		e, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{RunsInMemory: 3, IdleTimeout: time.Hour})
		require.NoError(t, err)
		defer e.Shutdown(t.Context())
		for i := range 20 {
			_, err := e.Start(t.Context(), w, nil, coordinator.WithID(fmt.Sprint("r", i)))
			require.NoError(t, err)
		}
		synctest.Wait()
		require.Equal(t, 3, e.InMemory())
		for i := range 20 {
			r, err := e.Run(t.Context(), fmt.Sprint("r", i))
			require.NoError(t, err)
			require.NoError(t, r.Send(t.Context(), "go", nil))
			result, err := r.Wait(t.Context())
			require.NoError(t, err)
			require.Equal(t, reactive.RunCompleted, result.Status)
		}
	})
}

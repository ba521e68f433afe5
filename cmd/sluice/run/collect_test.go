package run

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/retention"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

// A host deletes at intervals of the shortest time of its rules, and at once when a rule changes.
func TestHouseIsKeptAsOftenAsTheRulesSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, err := template.Parse("w.yaml", []byte("{kind: Workflow, name: w, operations: {one: {value: 1}}, steps: [{operation: one}]}"))
		require.NoError(t, err)
		logger := slog.New(slog.DiscardHandler)
		engine, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{Logger: logger})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		go collectPeriodically(ctx, engine, logger)
		started := 0
		end := func() {
			run, err := engine.Start(ctx, w, nil, coordinator.WithID(fmt.Sprint("run-", started)))
			require.NoError(t, err)
			_, err = run.Wait(ctx)
			require.NoError(t, err)
			started++
		}
		left := func(after time.Duration) (n int) {
			time.Sleep(after) // virtual
			synctest.Wait()
			for _, err := range engine.Runs(ctx, "") {
				require.NoError(t, err)
				n++
			}
			return n
		}

		require.NoError(t, engine.Keep(ctx, retention.Rule{Keep: 3 * time.Hour}, "ann"))
		end()
		require.Equal(t, 1, left(3*time.Hour-time.Second))
		require.Equal(t, 0, left(time.Hour+2*time.Second), "once an hour at least")
		end()
		require.NoError(t, engine.Keep(ctx, retention.Rule{Keep: time.Minute}, "ann"))
		require.Equal(t, 1, left(59*time.Second))
		require.Equal(t, 0, left(62*time.Second))
		end()
		require.Equal(t, 0, left(122*time.Second), "and so does the next")
		end()
		require.NoError(t, engine.Keep(ctx, retention.Rule{Keep: 0}, "ann"))
		require.Equal(t, 0, left(0), "a change counts at once")
		require.NoError(t, engine.ClearKeep(ctx, "", true, "ann"))
		end()
		require.Equal(t, 1, left(3*time.Hour), "without rules all is kept")
		stop()
		require.NoError(t, engine.Shutdown(t.Context()))
	})
}

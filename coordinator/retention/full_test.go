package retention_test

import (
	"log/slog"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/retention"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// On a disk that is nearly full, an engine deletes and collects, although it cannot start runs.
func TestOnAFullDiskRunsAreDeletedAndCollected(t *testing.T) {
	files := vfs.NewMem()
	on := func(free uint64, use func(e *coordinator.Engine)) {
		files.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: free})
		s, err := disk.Open("data", disk.Config{FS: files})
		require.NoError(t, err)
		e, err := coordinator.New(t.Context(), s, coordinator.Config{Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		use(e)
		require.NoError(t, e.Shutdown(t.Context()))
	}
	on(1<<40, func(e *coordinator.Engine) {
		for _, id := range []string{"a", "b", "c"} {
			run, err := e.Start(t.Context(), workflow(t, 1), nil, coordinator.WithID(id))
			require.NoError(t, err)
			_, err = run.Wait(t.Context())
			require.NoError(t, err)
		}
		require.NoError(t, e.Keep(t.Context(), retention.Rule{Where: "b", Keep: 0}, "ann"))
	})
	on(40<<20, func(e *coordinator.Engine) {
		_, err := e.Start(t.Context(), workflow(t, 1), nil)
		require.ErrorIs(t, err, journal.ErrReadOnly)
		require.NoError(t, e.Delete(t.Context(), "a"))
		done, err := e.Collect(t.Context(), retention.Collection{})
		require.NoError(t, err)
		require.Equal(t, 1, done.Runs)
	})
	on(1<<40, func(e *coordinator.Engine) {
		for head, err := range e.Runs(t.Context(), "") {
			require.NoError(t, err)
			require.Equal(t, "c", head.Run)
		}
	})
}

package coordinator_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/doctor"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// whole checks a folder record by record.
func whole(t *testing.T, dir string) {
	raw, err := disk.OpenRaw(dir, false, disk.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	report, err := doctor.Check(t.Context(), raw, doctor.How{}, func(f doctor.Fault) error {
		t.Errorf("%s: %s: %s", f.Run, f.What, f.Means)
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 5, report.Runs)
	require.NoError(t, raw.Close())
}

func found(t *testing.T, e *coordinator.Engine, query string) string {
	var runs []string
	for h, err := range e.Find(t.Context(), query) {
		require.NoError(t, err)
		runs = append(runs, h.Run)
	}
	return strings.Join(runs, " ")
}

// A folder from a version of the program without lists is whole when it is opened, gets its lists, and its runs go on: a workflow that
// has ended, one that waits for a message, one that waits for a person, a playbook, and a world.
func TestAFolderWithoutLists(t *testing.T) {
	dir := unpack(t, "folder-1.tar.gz")
	whole(t, dir)
	store, err := disk.Open(dir, disk.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	e, err := coordinator.New(t.Context(), store, coordinator.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	defer e.Shutdown(context.Background())
	require.Equal(t, "done", found(t, e, "status:completed label.team:a"))
	require.Equal(t, "sums book approve gate", found(t, e, "status:waiting"))
	require.Equal(t, "done", found(t, e, "workflow:done"))

	run := func(id string) *coordinator.Run {
		r, err := e.Run(t.Context(), id)
		require.NoError(t, err)
		return r
	}
	done, err := run("done").Output(t.Context(), "large", "")
	require.NoError(t, err)
	require.Len(t, done, 100_000)
	require.NoError(t, run("gate").Send(t.Context(), "open", "a letter"))
	require.NoError(t, run("book").Send(t.Context(), "go", nil))
	require.NoError(t, run("approve").Decide(t.Context(), "draft", true, ""))
	for id, output := range map[string]any{"gate": "a letter", "book": nil, "approve": "a draft"} {
		result, err := run(id).Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, reactive.RunCompleted, result.Status, id)
		if output != nil {
			require.Equal(t, output, result.Output)
		}
	}
	_, err = run("sums").SendMessage(t.Context(), cells.Message{Name: "Add", Payload: map[string]any{"id": "a", "n": 10}, ID: "m9"})
	require.NoError(t, err)
	cell, err := run("sums").Cell(t.Context(), "sum[a]")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"n": int64(16)}, cell.State)
	require.Equal(t, "book approve gate done", found(t, e, "status:completed"))
	changed := map[string]bool{}
	for c, err := range store.Changes(t.Context(), journal.Place("")) {
		require.NoError(t, err)
		changed[c.Run] = true
	}
	require.Len(t, changed, 4, "all but the one that had ended")
	require.NoError(t, e.Shutdown(context.Background()))
	whole(t, dir)
}

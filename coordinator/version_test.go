package coordinator_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// unpack extracts an archive of testdata/stores, which an earlier version of Sluice has written, to a folder.
func unpack(t *testing.T, name string) string {
	file, err := os.Open(filepath.Join("..", "testdata", "stores", name))
	require.NoError(t, err)
	defer file.Close()
	zipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	dir := t.TempDir()
	for archive := tar.NewReader(zipped); ; {
		header, err := archive.Next()
		if err == io.EOF {
			return dir
		}
		require.NoError(t, err)
		path := filepath.Join(dir, filepath.FromSlash(header.Name))
		if header.FileInfo().IsDir() {
			require.NoError(t, os.MkdirAll(path, 0o700))
			continue
		}
		content, err := io.ReadAll(archive)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, content, 0o600))
	}
}

// TestStoreOfThisVersion opens a folder that an earlier program of this version wrote: unfinished runs go on.
func TestStoreOfThisVersion(t *testing.T) {
	ctx := context.Background()
	store, err := disk.Open(unpack(t, "format-4.tar.gz"), disk.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	engine, err := coordinator.New(ctx, store, coordinator.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	defer engine.Shutdown(ctx)
	for run, message := range map[string]string{"gate": "open", "waits": "go"} {
		r, err := engine.Run(ctx, run)
		require.NoError(t, err)
		require.NoError(t, r.Send(ctx, message, nil))
		result, err := r.Wait(ctx)
		require.NoError(t, err)
		require.Equal(t, reactive.RunCompleted, result.Status)
	}
	sums, err := engine.Run(ctx, "sums")
	require.NoError(t, err)
	cell, err := sums.Cell(ctx, "sum[a]")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"n": int64(3)}, cell.State)
	require.Equal(t, 1, cell.Held)
	require.Len(t, cell.Intents, 6)
	require.NoError(t, sums.ResumeCell(ctx, "sum[a]"))
	cell, err = sums.Cell(ctx, "sum[a]")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"n": int64(13)}, cell.State)
	sent, err := sums.SendMessage(ctx, cells.Message{Name: "Add", Payload: map[string]any{"id": "a", "n": 1}, ID: "m0"})
	require.NoError(t, err)
	require.EqualValues(t, 2, sent.Seq, "it was taken before")
}

// TestStoresOfEarlierVersions opens folders that earlier versions of the format wrote: finished runs are read, unfinished ones
// are parked, and new runs can be started.
func TestStoresOfEarlierVersions(t *testing.T) {
	t.Run("1", func(t *testing.T) {
		testEarlier(t, "format-1.tar.gz", "other rules (engine 1, expressions 1; here", 10, 8, 4)
	})
	t.Run("2", func(t *testing.T) {
		testEarlier(t, "format-2.tar.gz", "other rules (engine 2, expressions 2; here", 8, 6, 3)
	})
	t.Run("3", func(t *testing.T) {
		testEarlier(t, "format-3.tar.gz", "other rules (engine 3, expressions 2; here", 8, 6, 3)
	})
}

// testEarlier checks an archive. The last arguments are the numbers of events, in that version, of a map of three, of a child with
// a map of two, and of a playbook's wait.
func testEarlier(t *testing.T, archive, parked string, ofMap, ofChild, ofWait uint64) {
	ctx := context.Background()
	store, err := disk.Open(unpack(t, archive), disk.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	engine, err := coordinator.New(ctx, store, coordinator.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	defer engine.Shutdown(ctx)

	tests := []struct {
		run    string
		status reactive.RunStatus
		events uint64
		output any
		code   string
	}{
		{"book", reactive.RunCompleted, 4, nil, ""},
		{"broken", reactive.RunFailed, 4, nil, "no_stock"},
		{"done", reactive.RunCompleted, ofMap, []any{"OPEN", "THE", "GATE"}, ""},
		{"gate", reactive.RunWaiting, 2, nil, ""},
		{"parent", reactive.RunCompleted, 4, []any{"A", "B"}, ""},
		{"parent/child#1", reactive.RunCompleted, ofChild, []any{"A", "B"}, ""},
		{"waits", reactive.RunWaiting, ofWait, nil, ""},
	}
	listed := 0
	for head, err := range engine.Runs(ctx, "") {
		require.NoError(t, err)
		require.Equal(t, tests[listed].run, head.Run)
		require.Equal(t, string(tests[listed].status), head.Status)
		listed++
	}
	require.Len(t, tests, listed)
	for _, test := range tests {
		t.Run(test.run, func(t *testing.T) {
			r, err := engine.Run(ctx, test.run)
			require.NoError(t, err)
			state, err := r.State(ctx)
			require.NoError(t, err)
			require.Equal(t, test.status, state.Status)
			require.Equal(t, test.events, state.Seq)
			require.Equal(t, test.output, state.Output)
			require.Empty(t, state.Steps, "statuses cannot be derived by other rules")
			if test.code != "" {
				require.Equal(t, test.code, state.Failure.Code)
			}
			events := uint64(0)
			for e, err := range r.Events(ctx, 1) {
				require.NoError(t, err)
				events = e.Seq
			}
			require.Equal(t, test.events, events)
			if state.Finished {
				result, err := r.Wait(ctx)
				require.NoError(t, err)
				require.Equal(t, test.output, result.Output)
				require.ErrorIs(t, r.Cancel(ctx, "no"), coordinator.ErrFinished)
				require.ErrorIs(t, r.Retry(ctx, "a"), coordinator.ErrFinished)
				why, err := r.Explain(ctx, "")
				require.NoError(t, err)
				require.Equal(t, string(test.status), why.Status)
				_, err = r.Explain(ctx, "a")
				require.ErrorIs(t, err, coordinator.ErrFinished)
				return
			}
			_, err = r.Wait(ctx)
			require.ErrorIs(t, err, coordinator.ErrMissing)
			require.ErrorContains(t, err, parked)
			require.ErrorIs(t, r.Cancel(ctx, "no"), coordinator.ErrMissing)
		})
	}
	r, err := engine.Start(ctx, parse(t, "{kind: Workflow, name: new, operations: {one: {value: 1}}, steps: [{operation: one}]}"), nil)
	require.NoError(t, err)
	result, err := r.Wait(ctx)
	require.NoError(t, err)
	require.Equal(t, reactive.RunCompleted, result.Status)
}

package folder_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// abandoned returns a directory with a run that no process works on.
func abandoned(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "data")
	store, err := disk.Open(dir, disk.Config{FreeFloorBytes: -1})
	require.NoError(t, err)
	e, err := coordinator.New(t.Context(), store, coordinator.Config{Operations: []coordinator.Operation{contract}})
	require.NoError(t, err)
	run := start(t, e)
	require.NoError(t, run.Send(t.Context(), "letter", "dear"))
	for u, err := range folder.Local(e).Watch(t.Context(), "r1", 1) {
		require.NoError(t, err)
		if slices.ContainsFunc(u.Changes, func(c api.Change) bool { return c.Step == "contract" && c.To == "completed" }) {
			break
		}
	}
	require.NoError(t, e.Shutdown(t.Context()))
	return dir
}

func TestOpenOpensADirectoryThatNoProcessHolds(t *testing.T) {
	dir := abandoned(t)
	err := folder.With(t.Context(), dir, coordinator.Config{}, func(c *folder.Client) error {
		require.False(t, c.Held())
		r, err := c.Show(t.Context(), "r1")
		require.NoError(t, err, "although this program lacks operation %q", "contract")
		require.True(t, r.Steps[1].Decidable)
		done, err := c.Do(t.Context(), &api.Request{
			Verb: api.Decide, Run: "r1", Step: "contract", Decision: api.Fulfilled, Actor: "ann",
		})
		require.Equal(t, api.Done{Run: "r1", Did: "decide", Step: "contract", Status: "completed"}, done)
		return err
	})
	require.NoError(t, err)

	store, err := disk.Open(dir, disk.Config{FreeFloorBytes: -1})
	require.NoError(t, err, "the directory was released")
	e := newEngine(t, store)
	run, err := e.Run(t.Context(), "r1")
	require.NoError(t, err)
	result, err := run.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, "dear", result.Output)
}

func TestADirectoryWithoutAJournalDoesNotChange(t *testing.T) {
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		_, err := folder.Open(t.Context(), dir, coordinator.Config{})
		require.ErrorIs(t, err, api.ErrNoJournal)
		left, _ := os.ReadDir(dir)
		require.Empty(t, left)
	}
}

func TestAFileIsNoJournal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "order.yaml")
	require.NoError(t, os.WriteFile(file, []byte("kind: Workflow"), 0o600))
	for _, path := range []string{file, filepath.Join(file, "below")} {
		_, err := folder.Open(t.Context(), path, coordinator.Config{})
		require.ErrorIs(t, err, api.ErrNoJournal)
		_, err = folder.TakeRaw(t.Context(), path, false, disk.Config{})
		require.ErrorIs(t, err, api.ErrNoJournal)
	}
}

func TestAHolderThatDoesNotAnswerIsWaitedFor(t *testing.T) {
	dir := abandoned(t)
	store, err := disk.Open(dir, disk.Config{FreeFloorBytes: -1})
	require.NoError(t, err)
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	_, err = folder.Open(ctx, dir, coordinator.Config{})
	require.ErrorIs(t, err, enough)

	opened := make(chan *folder.Client)
	go func() {
		c, err := folder.Open(t.Context(), dir, coordinator.Config{})
		if err != nil {
			t.Error(err)
		}
		opened <- c
	}()
	e := newEngine(t, store)
	serve(t, dir, e)
	c := <-opened
	require.True(t, c.Held())
	require.NoError(t, c.Close())
}

func TestWithRepeatsWhatAHolderHasNotDone(t *testing.T) {
	dir := abandoned(t)
	tries := 0
	require.NoError(t, folder.With(t.Context(), dir, coordinator.Config{}, func(*folder.Client) error {
		if tries++; tries == 1 {
			return coordinator.ErrShutdown
		}
		return nil
	}))
	require.Equal(t, 2, tries)
	require.ErrorIs(t, folder.With(t.Context(), dir, coordinator.Config{}, func(*folder.Client) error {
		tries++
		return api.ErrNotHeld
	}), api.ErrNotHeld)
	require.Equal(t, 4, tries)
}

func TestTheErrorForAJournalInUse(t *testing.T) {
	dir := abandoned(t)
	store, err := disk.Open(dir, disk.Config{FreeFloorBytes: -1})
	require.NoError(t, err)
	defer store.Close()
	folder.BePatient(t, 0)
	_, err = folder.Open(t.Context(), dir, coordinator.Config{})
	require.ErrorIs(t, err, journal.ErrLocked)
	require.ErrorContains(t, err, "does not answer")
}

func TestAReaderDoesNotKeepAnEngineFromTheDirectory(t *testing.T) {
	dir := abandoned(t)
	looking, err := folder.Open(t.Context(), dir, coordinator.Config{})
	require.NoError(t, err)
	require.False(t, looking.Held())
	taken := make(chan *disk.Store)
	go func() {
		s, err := folder.Take(t.Context(), dir, disk.Config{FreeFloorBytes: -1})
		if err != nil {
			t.Error(err)
		}
		taken <- s
	}()
	require.NoError(t, looking.Close())
	e := newEngine(t, <-taken)
	serve(t, dir, e)
	_, err = folder.Take(t.Context(), dir, disk.Config{FreeFloorBytes: -1})
	require.ErrorIs(t, err, journal.ErrLocked, "an engine has the directory open")
}

func TestChangesAreCommitsOrAProcessThatAnswers(t *testing.T) {
	dir := abandoned(t)
	look := func(c *folder.Client) error {
		_, err := c.Show(t.Context(), "r1")
		return err
	}
	revision, err := disk.Revision(dir)
	require.NoError(t, err)
	require.NoError(t, folder.With(t.Context(), dir, coordinator.Config{}, look))
	again, err := disk.Revision(dir)
	require.NoError(t, err)
	require.Equal(t, revision, again, "reading changes nothing")
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	require.ErrorIs(t, folder.AwaitChanges(ctx, dir, revision), enough)

	require.NoError(t, folder.With(t.Context(), dir, coordinator.Config{}, func(c *folder.Client) error {
		_, err := c.Do(t.Context(), &api.Request{Verb: api.Pause, Run: "r1", Actor: "ann"})
		return err
	}))
	require.NoError(t, folder.AwaitChanges(t.Context(), dir, revision))

	store, err := disk.Open(dir, disk.Config{FreeFloorBytes: -1})
	require.NoError(t, err)
	serve(t, dir, newEngine(t, store))
	revision, err = disk.Revision(dir)
	require.NoError(t, err)
	require.NoError(t, folder.AwaitChanges(t.Context(), dir, revision))
}

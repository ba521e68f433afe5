package sluice_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

const letters = `
kind: Workflow
name: letters
operations: {letter: {wait: {message: letter}}}
steps: [{operation: letter}]
output: "{{ steps.letter.output }}"`

// opened returns an engine on a folder with a run r1 that waits for a letter.
func opened(t *testing.T, dir string, config coordinator.Config) (*coordinator.Engine, *coordinator.Run) {
	engine, err := sluice.Open(t.Context(), dir, config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = engine.Shutdown(context.Background()) })
	w, err := template.Parse("letters.yaml", []byte(letters))
	require.NoError(t, err)
	run, err := engine.Start(t.Context(), w, nil, coordinator.WithID("r1"))
	require.NoError(t, err)
	return engine, run
}

// Until it has shut down, an engine on a folder with any name serves other processes.
func TestAnOpenFolderAnswersUntilTheShutdown(t *testing.T) {
	for _, name := range []string{"data", strings.Repeat("long/", 60), "with space and ü"} {
		dir := filepath.Join(t.TempDir(), filepath.FromSlash(name))
		engine, run := opened(t, dir, coordinator.Config{})
		client, err := folder.Dial(dir)
		require.NoError(t, err)
		done, err := client.Do(t.Context(), &api.Request{Verb: api.Send, Run: "r1", Message: "letter", Actor: "ann"})
		require.NoError(t, err)
		require.Equal(t, api.Done{Run: "r1", Driven: true, Did: "send"}, done)
		result, err := run.Wait(t.Context())
		require.NoError(t, err)
		require.NoError(t, result.Err())

		require.NoError(t, engine.Shutdown(t.Context()))
		_, err = folder.Dial(dir)
		require.ErrorIs(t, err, api.ErrNotHeld)
		left, err := filepath.Glob(filepath.Join(dir, "*control*"))
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

func TestAFolderInUseIsRefusedAtOnce(t *testing.T) {
	dir := t.TempDir()
	engine, _ := opened(t, dir, coordinator.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // this would end a wait
	_, err := sluice.Open(ctx, dir, coordinator.Config{})
	require.ErrorIs(t, err, journal.ErrLocked)
	require.NotErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "sluice runs --data "+dir)
	require.ErrorContains(t, err, "which is this one")

	require.NoError(t, engine.Shutdown(t.Context()))
	again, err := sluice.Open(t.Context(), dir, coordinator.Config{})
	require.NoError(t, err)
	require.NoError(t, again.Shutdown(t.Context()))
}

func TestAFolderThatAnotherProcessReadsIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	engine, _ := opened(t, dir, coordinator.Config{})
	require.NoError(t, engine.Shutdown(t.Context()))
	looking, err := folder.Open(t.Context(), dir, coordinator.Config{})
	require.NoError(t, err)
	require.False(t, looking.Held())

	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	_, err = sluice.Open(ctx, dir, coordinator.Config{})
	require.ErrorIs(t, err, enough, "Open waits until the context ends")

	type outcome struct {
		engine *coordinator.Engine
		err    error
	}
	came := make(chan outcome)
	go func() {
		engine, err := sluice.Open(t.Context(), dir, coordinator.Config{})
		came <- outcome{engine, err}
	}()
	require.NoError(t, looking.Close())
	o := <-came
	require.NoError(t, o.err)
	require.NoError(t, o.engine.Shutdown(t.Context()))
}

// Without a socket the engine works, and logs that other processes cannot reach it.
func TestAFolderWithoutASocketIsLogged(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "control.sock", "in the way"), 0o700))
	var log bytes.Buffer
	engine, run := opened(t, dir, coordinator.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.Regexp(t, `level=WARN msg="other processes cannot see .*" dir=\S+ error="make the control socket`, log.String())
	require.NoError(t, run.Send(t.Context(), "letter", nil))
	_, err := run.Wait(t.Context())
	require.NoError(t, err)
	require.NoError(t, engine.Shutdown(t.Context()))
}

// An engine whose folder was removed can be shut down, and the folder can be opened again.
func TestAFolderThatIsRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	engine, _ := opened(t, dir, coordinator.Config{})
	require.NoError(t, os.RemoveAll(dir))
	_, err := folder.Dial(dir)
	require.ErrorIs(t, err, api.ErrNotHeld)
	require.ErrorContains(t, engine.Shutdown(t.Context()), dir+" is gone: it was removed, renamed or unmounted")
	_, err = folder.Open(t.Context(), dir, coordinator.Config{})
	require.ErrorIs(t, err, api.ErrNoJournal)
	opened(t, dir, coordinator.Config{})
}

func TestAFailedOpenReleasesTheFolder(t *testing.T) {
	dir := t.TempDir()
	twice := operation.Define("twice", func(_ context.Context, in any) (any, error) { return in, nil })
	_, err := sluice.Open(t.Context(), dir, coordinator.Config{Operations: []coordinator.Operation{twice, twice}})
	require.ErrorContains(t, err, `two operations are named "twice"`)
	engine, err := sluice.Open(t.Context(), dir, coordinator.Config{})
	require.NoError(t, err)
	require.NoError(t, engine.Shutdown(t.Context()))
}

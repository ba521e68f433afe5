//go:build unix

// Package archive_test runs the workflow of this folder on real files with real processes.
package archive_test

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/template"
)

// outcome describes a run of the workflow that has ended.
type outcome struct {
	*coordinator.Result
	failures map[string]string // by step: the message of its last failure
	attempts map[string]int32
	statuses map[string]reactive.Status
}

// output is the workflow's output.
type output struct {
	Archive string
	Files   int
	Bytes   int
	Packed  int
	Before  int
}

// archive runs the workflow to its end.
func archive(t *testing.T, source, target string) outcome {
	text, err := os.ReadFile("archive.yaml")
	require.NoError(t, err)
	workflow, err := template.Parse("archive.yaml", text)
	require.NoError(t, err)
	engine, err := sluice.Open(t.Context(), "", coordinator.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, engine.Shutdown(context.Background())) }()

	run, err := engine.Start(t.Context(), workflow, map[string]any{"source": source, "target": target})
	require.NoError(t, err)
	o := outcome{failures: map[string]string{}, attempts: map[string]int32{}, statuses: map[string]reactive.Status{}}
	for update, err := range run.Watch(t.Context(), 1) {
		require.NoError(t, err)
		for _, c := range update.Changes {
			o.statuses[c.Step], o.attempts[c.Step] = c.To, c.Attempt
			if c.Failure != nil {
				o.failures[c.Step] = c.Failure.Message
			}
		}
	}
	o.Result, err = run.Wait(t.Context())
	require.NoError(t, err)
	return o
}

func (o outcome) output(t *testing.T) (out output) {
	require.NoError(t, o.Err())
	require.NoError(t, o.Decode(&out))
	return out
}

// files holds the files that the tests archive: an empty file, nested folders, and names that a careless script would not handle.
var files = map[string]string{
	"empty":                  "",
	"notes.txt":              "water under the gate\n",
	"a b/$HOME; rm -rf *":    "a name is data\n",
	"a b/c/-n":               strings.Repeat("sluice ", 5000),
	"a b/c/\"quoted\" {{1}}": "quoted\n",
	"ünïcode":                "ü",
}

func folder(t *testing.T) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

// requireArchived compares the archive with the files. It does not use the programs of the workflow.
func requireArchived(t *testing.T, target string) {
	index, err := os.ReadFile(filepath.Join(target, "SHA256SUMS"))
	require.NoError(t, err)
	listed := map[string]string{}
	for line := range strings.Lines(string(index)) {
		hash, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		require.True(t, ok, line)
		listed[name] = hash
	}
	for name, text := range files {
		require.Equal(t, fmt.Sprintf("%x", sha256.Sum256([]byte(text))), listed[name], name)
		require.Equal(t, text, unpack(t, filepath.Join(target, "files", name+".gz")), name)
	}
	require.Len(t, listed, len(files))
	require.NoFileExists(t, filepath.Join(target, "lock"))
}

func unpack(t *testing.T, path string) string {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	r, err := gzip.NewReader(f)
	require.NoError(t, err)
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(text)
}

func TestEveryFileIsArchived(t *testing.T) {
	source, target := folder(t), filepath.Join(folder(t), "archive")
	o := archive(t, source, target)
	out := o.output(t)
	requireArchived(t, target)

	var size int
	for _, text := range files {
		size += len(text)
	}
	require.Equal(t, output{Archive: target, Files: len(files), Bytes: size, Packed: packed(t, target), Before: 0}, out)
}

// packed returns the size of all compressed files.
func packed(t *testing.T, target string) (size int) {
	require.NoError(t, filepath.WalkDir(filepath.Join(target, "files"), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		size += int(info.Size())
		return err
	}))
	return size
}

func TestPublishingIsRetriedUntilTheLockIsFree(t *testing.T) {
	o := archive(t, folder(t), t.TempDir())
	require.NoError(t, o.Err())
	require.EqualValues(t, 2, o.attempts["publish"])
	require.Contains(t, o.failures["publish"], "held the lock and is gone")
	require.Equal(t, reactive.Completed, o.statuses["publish"])
}

func TestTheFailureOfTheFirstCheckIsCaught(t *testing.T) {
	o := archive(t, folder(t), t.TempDir())
	require.NoError(t, o.Err())
	require.Equal(t, reactive.Failed, o.statuses["before"])
	require.Equal(t, reactive.Completed, o.statuses["clear"])
	require.Equal(t, reactive.Skipped, o.statuses["keep"])
}

func TestASecondRunFindsTheArchiveOfTheFirst(t *testing.T) {
	source, target := folder(t), t.TempDir()
	require.NoError(t, archive(t, source, target).Err())
	o := archive(t, source, target)
	require.Equal(t, len(files), o.output(t).Before)
	require.Equal(t, reactive.Completed, o.statuses["before"])
	require.Equal(t, reactive.Skipped, o.statuses["clear"])
	requireArchived(t, target)
}

func TestADamagedArchiveIsMadeAnew(t *testing.T) {
	source, target := folder(t), t.TempDir()
	require.NoError(t, archive(t, source, target).Err())
	require.NoError(t, os.Truncate(filepath.Join(target, "files", "notes.txt.gz"), 10))
	o := archive(t, source, target)
	require.Equal(t, "exit status 1: notes.txt is damaged", o.failures["before"])
	require.Equal(t, 0, o.output(t).Before)
	requireArchived(t, target)
}

func TestAMissingFolderFailsTheRun(t *testing.T) {
	o := archive(t, filepath.Join(t.TempDir(), "nowhere"), t.TempDir())
	require.ErrorContains(t, o.Err(), "nowhere")
	require.Equal(t, reactive.RunFailed, o.Status)
	require.Equal(t, reactive.Aborted, o.statuses["publish"])
}

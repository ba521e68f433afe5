package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/doctor"
	"github.com/sluiceflow/sluice/coordinator/retention"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template"
)

// One of flipOneOf bits of a folder is flipped, at a different place in the byte each time; with -short, one of flipOneOfShort; with
// SLUICE_EXHAUSTIVE, every bit.
const flipOneOf, flipOneOfShort = 11, 489

// collectedFolder makes a small folder in which runs were deleted and collected, and others exist, with their lists.
func collectedFolder(t *testing.T, dir vfs.FS) {
	s, err := disk.Open(folder, disk.Config{FS: dir})
	require.NoError(t, err)
	engine, err := coordinator.New(t.Context(), s, coordinator.Config{})
	require.NoError(t, err)
	w, err := template.Parse("w.yaml", []byte(`{kind: Workflow, name: w, operations: {one: {value: 1}}, steps: [{operation: one}], output: "{{ input }}"}`))
	require.NoError(t, err)
	require.NoError(t, engine.Keep(t.Context(), retention.Rule{Where: "label.keep:no", Keep: 0}, "ann"))
	for i, keep := range []string{"no", "yes", "no", "yes", "yes"} {
		run, err := engine.Start(t.Context(), w, strings.Repeat(fmt.Sprint(i), 40_000), coordinator.WithID(fmt.Sprint("run-", i)), coordinator.WithLabels(map[string]string{"keep": keep}))
		require.NoError(t, err)
		_, err = run.Wait(t.Context())
		require.NoError(t, err)
	}
	require.NoError(t, engine.Delete(t.Context(), "run-4"))
	done, err := engine.Collect(t.Context(), retention.Collection{})
	require.NoError(t, err)
	require.Equal(t, 2, done.Runs)
	require.Equal(t, 3, done.Values)
	require.NoError(t, engine.Shutdown(context.WithoutCancel(t.Context())))
}

// folder is the name of the folder, in a file system in memory.
const folder = "data"

// filesOf returns the contents of the files below a directory.
func filesOf(t *testing.T, fs vfs.FS, dir string) map[string][]byte {
	files := map[string][]byte{}
	names, err := fs.List(dir)
	require.NoError(t, err)
	for _, name := range names {
		path := fs.PathJoin(dir, name)
		info, err := fs.Stat(path)
		require.NoError(t, err)
		if info.IsDir() {
			maps.Copy(files, filesOf(t, fs, path))
			continue
		}
		f, err := fs.Open(path)
		require.NoError(t, err)
		files[path], err = io.ReadAll(f)
		require.NoError(t, errors.Join(err, f.Close()))
	}
	return files
}

// folderOf returns a file system with files.
func folderOf(t *testing.T, files map[string][]byte) vfs.FS {
	fs := vfs.NewMem()
	for path, data := range files {
		require.NoError(t, fs.MkdirAll(fs.PathDir(path), 0o700))
		f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
		require.NoError(t, err)
		_, err = f.Write(data)
		require.NoError(t, errors.Join(err, f.Close()))
	}
	return fs
}

// shown returns all that a folder shows, or an error.
func shown(dir vfs.FS) (text string, err error) {
	s, err := disk.Open(folder, disk.Config{FS: dir})
	if err != nil {
		return "", err
	}
	defer s.Close()
	for _, q := range []journal.Query{{Index: journal.ByStart}, {Index: journal.ByStatus, Key: "completed"}, {Index: journal.ByLabel, Key: "keep", Value: "yes"}} {
		for h, err := range s.List(context.Background(), q) {
			if err != nil {
				return "", err
			}
			text += fmt.Sprintln(q.Index, h)
		}
	}
	for i := range 5 {
		for e, err := range s.Read(context.Background(), fmt.Sprint("run-", i), 1) {
			text += fmt.Sprintln(i, e.Type, e.Value, err)
		}
	}
	return text, nil
}

// TestABitThatFlipsIsFoundOrHarmless flips bits of a folder from which runs were collected: the doctor finds a fault, or the folder shows
// the same lists and events as before.
func TestABitThatFlipsIsFoundOrHarmless(t *testing.T) {
	step := flipOneOf
	if testing.Short() {
		step = flipOneOfShort
	}
	flipBits(t, collectedFolder, shown, step, nil)
}

// flipBits flips one of every step bits of a folder, with SLUICE_EXHAUSTIVE every bit, one at a time, and compares the text that show
// returns with its text before. If the doctor finds a fault, damaged checks the text and the error of show; nil: no check.
func flipBits(t *testing.T, create func(t *testing.T, dir vfs.FS), show func(dir vfs.FS) (string, error), step int,
	damaged func(t *testing.T, what, got string, err error)) {
	source := vfs.NewMem()
	create(t, source)
	want, err := show(source)
	require.NoError(t, err)
	files := filesOf(t, source, folder)
	if os.Getenv("SLUICE_EXHAUSTIVE") != "" {
		step = 1
	}
	flips, found := 0, 0
	for name := range files {
		for i := 0; i < 8*len(files[name]); i += step {
			at, bit := i/8, i%8
			what := fmt.Sprintf("bit %d of byte %d of %s", bit, at, name)
			files[name][at] ^= 1 << bit
			dir := folderOf(t, files)
			files[name][at] ^= 1 << bit
			flips++
			if doctored(dir) {
				found++
				if damaged != nil {
					got, err := show(dir)
					damaged(t, what, got, err)
				}
				continue
			}
			got, err := show(dir)
			require.True(t, err == nil && got == want, "%s: the doctor finds nothing, and the folder shows something else: %v", what, err)
		}
	}
	t.Logf("%d bits of %d files flipped: %d found, the others harmless", flips, len(files), found)
	require.Greater(t, found, flips/4)
}

// doctored reports whether the doctor finds a fault.
func doctored(dir vfs.FS) bool {
	raw, err := disk.OpenRaw(folder, false, disk.Config{FS: dir})
	if err != nil {
		return true
	}
	defer raw.Close()
	report, err := doctor.Check(context.Background(), raw, doctor.How{}, func(doctor.Fault) error { return errors.New("found") })
	return err != nil || !report.Sound()
}

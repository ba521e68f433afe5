package doctor_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/doctor"
	"github.com/sluiceflow/sluice/coordinator/retention"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template"
)

// flipEvery is how many bytes lie between two of which a bit is flipped; with SLUICE_EXHAUSTIVE every bit of every byte is.
const flipEvery = 61

// collectedFolder makes a small folder in which runs were deleted and collected, and others are there, with their lists.
func collectedFolder(t *testing.T, dir string) {
	s, err := disk.Open(dir, disk.Config{})
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

// shown returns all that a folder shows, or an error.
func shown(dir string) (text string, err error) {
	s, err := disk.Open(dir, disk.Config{})
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
// what it did before.
func TestABitThatFlipsIsFoundOrHarmless(t *testing.T) {
	flipBits(t, collectedFolder, shown, flipEvery, func(*testing.T, string, string, error) {})
}

// flipBits flips bits of a folder, one at a time, and compares what is shown with what was shown before. What is shown though the doctor
// finds a fault is for damaged to judge.
func flipBits(t *testing.T, create func(t *testing.T, dir string), show func(dir string) (string, error), step int,
	damaged func(t *testing.T, what, got string, err error)) {
	source := t.TempDir()
	create(t, source)
	want, err := show(source)
	require.NoError(t, err)
	files := map[string][]byte{}
	require.NoError(t, filepath.WalkDir(source, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			name, _ := filepath.Rel(source, path)
			files[name], err = os.ReadFile(path)
		}
		return err
	}))
	dir := t.TempDir()
	write := func() {
		require.NoError(t, os.RemoveAll(dir))
		for name, data := range files {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
		}
	}
	bits := []int{3}
	if os.Getenv("SLUICE_EXHAUSTIVE") != "" {
		step, bits = 1, []int{0, 1, 2, 3, 4, 5, 6, 7}
	}
	flips, found := 0, 0
	for name := range files {
		for at := 0; at < len(files[name]); at += step {
			for _, bit := range bits {
				what := fmt.Sprintf("bit %d of byte %d of %s", bit, at, name)
				files[name][at] ^= 1 << bit
				write()
				files[name][at] ^= 1 << bit
				flips++
				ill := doctored(dir)
				got, err := show(dir)
				if ill {
					found++
					damaged(t, what, got, err)
					continue
				}
				require.True(t, err == nil && got == want, "%s: the doctor finds nothing, and the folder shows something else: %v", what, err)
			}
		}
	}
	t.Logf("%d bits of %d files flipped: %d found, the others harmless", flips, len(files), found)
	require.Greater(t, found, flips/4)
}

// doctored reports whether the doctor finds a fault.
func doctored(dir string) bool {
	raw, err := disk.OpenRaw(dir, false, disk.Config{})
	if err != nil {
		return true
	}
	defer raw.Close()
	report, err := doctor.Check(context.Background(), raw, false, func(doctor.Fault) error { return nil })
	return err != nil || !report.Sound()
}

package disk_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// harms are the ways in which copies, restores and people damage the files of a folder.
var harms = map[string]func(path string, size int64) error{
	"gone":        func(path string, _ int64) error { return os.Remove(path) },
	"empty":       func(path string, _ int64) error { return os.Truncate(path, 0) },
	"cut":         func(path string, size int64) error { return os.Truncate(path, size/2) },
	"a directory": func(path string, _ int64) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
}

// TestAFolderThatLacksAFileOpensWholeOrIsDamaged damages one file at a time: the store has every acknowledged event, or both Open
// and OpenRaw report damage, in one line.
func TestAFolderThatLacksAFileOpensWholeOrIsDamaged(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, disk.Config{})
	mustAppend(t, s, "run", 0, one("first"))
	require.NoError(t, s.Close()) // it has a table now
	s = open(t, dir, disk.Config{})
	mustAppend(t, s, "run", 1, one("second"))
	running := filepath.Join(t.TempDir(), "running")
	copyRunning(t, running, dir) // it has a table and a log
	require.NoError(t, s.Close())
	outcomes := map[bool]int{}
	for _, from := range []string{dir, running} {
		for _, path := range regular(t, from) {
			for name, harm := range harms {
				for _, marked := range []bool{true, false} {
					what := fmt.Sprintf("%s is %s, of %s; marked: %t", path, name, filepath.Base(from), marked)
					harmed := filepath.Join(t.TempDir(), "harmed")
					require.NoError(t, os.CopyFS(harmed, os.DirFS(from)))
					info, err := os.Stat(filepath.Join(harmed, path))
					require.NoError(t, err)
					require.NoError(t, harm(filepath.Join(harmed, path), info.Size()))
					if !marked && path != "COMMIT" {
						if strings.HasSuffix(path, ".log") {
							continue // only the file COMMIT shows that a log had more
						}
						require.NoError(t, os.Remove(filepath.Join(harmed, "COMMIT")))
					}
					outcomes[opensWhole(t, harmed, what)]++
				}
			}
		}
	}
	require.Greater(t, outcomes[true], 10)
	require.Greater(t, outcomes[false], 10)
}

// copyRunning copies the folder of an open store. Pebble may remove unneeded files meanwhile.
func copyRunning(t *testing.T, to, from string) {
	for {
		err := os.CopyFS(to, os.DirFS(from))
		if !errors.Is(err, fs.ErrNotExist) {
			require.NoError(t, err)
			return
		}
		require.NoError(t, os.RemoveAll(to))
	}
}

// regular returns the files of a folder, relative to it, without the locks and the version.
func regular(t *testing.T, dir string) (paths []string) {
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && entry.Name() != "LOCK" && entry.Name() != "VERSION" {
			paths = append(paths, path)
		}
		return err
	}))
	return paths
}

func opensWhole(t *testing.T, dir, what string) bool {
	raw, rawErr := disk.OpenRaw(dir, false, disk.Config{})
	if rawErr == nil {
		require.NoError(t, raw.Close(), what)
	}
	s, err := disk.Open(dir, disk.Config{})
	if err != nil {
		require.ErrorIs(t, err, journal.ErrDamaged, what)
		require.NotContains(t, err.Error(), "\n", what)
		if rawErr != nil {
			require.ErrorIs(t, rawErr, journal.ErrDamaged, what)
		}
		return false
	}
	require.NoError(t, rawErr, what)
	require.Equal(t, []any{"first", "second"}, mustRead(t, s, "run"), what)
	require.NoError(t, s.Close(), what)
	return true
}

// TestALinkInAFolderIsDamage replaces each file of a folder, and its database, by a link. The folder itself may be a link.
func TestALinkInAFolderIsDamage(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, disk.Config{})
	mustAppend(t, s, "run", 0, one("first"))
	mustAppend(t, s, "run", 1, one("second"))
	require.NoError(t, s.Close())
	for _, path := range append(regular(t, dir), "LOCK", "VERSION", "db") {
		elsewhere := filepath.Join(t.TempDir(), "elsewhere")
		require.NoError(t, os.Rename(filepath.Join(dir, path), elsewhere))
		require.NoError(t, os.Symlink(elsewhere, filepath.Join(dir, path)))
		require.False(t, opensWhole(t, dir, path), path)
		_, err := disk.Open(dir, disk.Config{})
		require.ErrorContains(t, err, filepath.Join(dir, path)+" is a symbolic link; put what it leads to in its place")
		require.NoError(t, os.Remove(filepath.Join(dir, path)))
		require.NoError(t, os.Rename(elsewhere, filepath.Join(dir, path)))
	}
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	require.NoError(t, os.Symlink(nowhere, filepath.Join(dir, "VERSION.new")))
	require.False(t, opensWhole(t, dir, "a file that is being made"))
	require.NoFileExists(t, nowhere)
	require.NoError(t, os.Remove(filepath.Join(dir, "VERSION.new")))
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	require.True(t, opensWhole(t, link, "the folder"))
}

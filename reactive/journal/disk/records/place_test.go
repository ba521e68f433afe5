package records

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// heldPlace makes a directory with the files that a Place holds.
func heldPlace(t *testing.T) (p *Place, dir string) {
	dir = filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, DatabaseName), 0o700))
	for _, name := range []string{LockName, MarkName} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	p = NewPlace(vfs.Default, true)
	require.NoError(t, p.Hold(dir))
	return p, dir
}

// settle waits until the place checks only the directory.
func settle(t *testing.T, p *Place) {
	if runtime.GOOS != "linux" {
		t.Skip("the time of change is known on Linux")
	}
	for begin := time.Now(); p.seen.Load() == nil; {
		require.NoError(t, p.Gone())
		require.Less(t, time.Since(begin), time.Minute)
	}
}

// A place that checks only its directory detects each file that is removed, replaced or put back.
func TestAPlaceNoticesWhatItDoesNotAskFor(t *testing.T) {
	replace := func(path string) error {
		if err := os.Rename(path, path+".old"); err != nil {
			return err
		}
		return os.Mkdir(path, 0o700)
	}
	for name, act := range map[string]func(path string) error{"removed": os.RemoveAll, "renamed": func(path string) error { return os.Rename(path, path+".old") }, "replaced": replace} {
		for _, of := range []string{"", LockName, MarkName, DatabaseName} {
			t.Run(name+"/"+of, func(t *testing.T) {
				p, dir := heldPlace(t)
				settle(t, p)
				path := filepath.Join(dir, of)
				require.NoError(t, act(path))
				require.ErrorIs(t, p.Gone(), journal.ErrReadOnly)
				require.ErrorContains(t, p.Gone(), path+" is gone")
				if name != "removed" {
					require.NoError(t, os.RemoveAll(path))
					require.NoError(t, os.Rename(path+".old", path))
					require.NoError(t, p.Gone())
				}
			})
		}
	}
}

// A place with an unchanged directory does not check the files in it.
func TestAPlaceAsksForItsDirectoryOnly(t *testing.T) {
	p, _ := heldPlace(t)
	settle(t, p)
	p.held[1].path += ".nowhere" // it is missing as soon as it is checked
	p.seen.Store(&sight{time.Now(), p.seen.Load().changed})
	require.NoError(t, p.Gone())
	p.seen.Store(&sight{time.Now().Add(-sightHolds), p.seen.Load().changed})
	require.ErrorIs(t, p.Gone(), journal.ErrReadOnly, "a sight holds for so long")
	p.seen.Store(nil)
	require.ErrorIs(t, p.Gone(), journal.ErrReadOnly)
}

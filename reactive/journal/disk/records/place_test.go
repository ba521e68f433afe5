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

// settle waits until the place asks for the directory only.
func settle(t *testing.T, p *Place) {
	if runtime.GOOS != "linux" {
		t.Skip("the time of change is known on Linux")
	}
	for begin := time.Now(); p.seen.Load() == nil; {
		require.NoError(t, p.Gone())
		require.Less(t, time.Since(begin), time.Minute)
	}
}

// A place that is sure of its directory notices each file that is taken away, replaced or put back.
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

// A place that is sure of its directory does not ask for the files in it: they are as they were while it is.
func TestAPlaceAsksForItsDirectoryOnly(t *testing.T) {
	p, _ := heldPlace(t)
	settle(t, p)
	p.held[1].path += ".nowhere" // it is found to be gone as soon as it is asked for
	p.seen.Store(&sight{time.Now(), p.seen.Load().changed})
	require.NoError(t, p.Gone())
	p.seen.Store(&sight{time.Now().Add(-sightHolds), p.seen.Load().changed})
	require.ErrorIs(t, p.Gone(), journal.ErrReadOnly, "a sight holds for so long")
	p.seen.Store(nil)
	require.ErrorIs(t, p.Gone(), journal.ErrReadOnly)
}

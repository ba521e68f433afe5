package disk_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/journaltest"
)

// vanishings are ways in which a store's directory can disappear, with the reverse operations.
var vanishings = []struct {
	name, missing string
	vanish        func(dir string) error
	restore       func(dir string) error // nil: nothing can
}{
	{"removed", "/data is gone", os.RemoveAll, nil},
	{"renamed", "/data is gone", away, back},
	{"replaced by another", "another file has its place", func(dir string) error {
		if err := away(dir); err != nil {
			return err
		}
		return os.CopyFS(dir, os.DirFS(dir+".away"))
	}, func(dir string) error {
		return errors.Join(os.RemoveAll(dir), back(dir))
	}},
	{"without its lock", "/LOCK is gone", func(dir string) error { return os.Remove(dir + "/LOCK") }, func(string) error { return nil }},
	{"without its mark", "/COMMIT is gone", func(dir string) error { return os.Remove(dir + "/COMMIT") }, func(string) error { return nil }},
	{"without its database", "/db is gone", func(dir string) error { return os.Rename(dir+"/db", dir+"/away") },
		func(dir string) error { return os.Rename(dir+"/away", dir+"/db") }},
}

func away(dir string) error { return os.Rename(dir, dir+".away") }
func back(dir string) error { return os.Rename(dir+".away", dir) }

func TestADirectoryThatVanishesIsSaidToBeGone(t *testing.T) {
	for _, v := range vanishings {
		t.Run(v.name, func(t *testing.T) {
			ctx, dir := context.Background(), filepath.Join(journaltest.TempDir(t), "data")
			other := open(t, t.TempDir(), disk.Config{})
			s := open(t, dir, disk.Config{})
			for n := range 5 {
				require.NoError(t, step(s, n))
			}
			require.NoError(t, v.vanish(dir))
			err := step(s, 5)
			require.ErrorIs(t, err, journal.ErrReadOnly)
			require.ErrorContains(t, err, v.missing)
			require.ErrorContains(t, err, "put it back and open the journal again")
			require.NotContains(t, err.Error(), "\n")
			require.ErrorIs(t, step(s, 5), journal.ErrReadOnly)
			mustAppend(t, other, "run", 0, one("goes on"))
			require.NoError(t, s.Close(), "the log holds it all")
			_, err = s.Append(ctx, "run0", 4, one("x"), journal.Head{})
			require.Error(t, err)
			if v.restore != nil {
				require.NoError(t, v.restore(dir))
				require.GreaterOrEqual(t, recovered(t, nil, dir), 5)
			}
			require.NoError(t, other.Close())
		})
	}
}

func TestADirectoryThatVanishesBeforeClose(t *testing.T) {
	for _, v := range vanishings {
		t.Run(v.name, func(t *testing.T) {
			dir := filepath.Join(journaltest.TempDir(t), "data")
			s := open(t, dir, disk.Config{})
			for n := range 5 {
				require.NoError(t, step(s, n))
			}
			require.NoError(t, v.vanish(dir))
			err := s.Close()
			require.ErrorContains(t, err, v.missing)
			require.NotContains(t, err.Error(), "\n")
			if v.restore != nil {
				require.NoError(t, v.restore(dir))
				require.Equal(t, 5, recovered(t, nil, dir))
			}
		})
	}
}

// faulty makes every change of matching files fail from the nth on.
type faulty struct {
	kinds  []errorfs.OpKind
	match  string // of the file's name
	nth    int64
	errno  syscall.Errno
	active atomic.Bool
	seen   atomic.Int64
	later  atomic.Int64 // writes to the database while it is not active; Open's old files may be removed at any time
}

func (f *faulty) fail(op errorfs.Op) error {
	if !f.active.Load() && op.Kind.ReadOrWrite() == errorfs.OpIsWrite && op.Kind != errorfs.OpFileClose && op.Kind != errorfs.OpRemove && strings.Contains(op.Path, "/db/") {
		f.later.Add(1)
	}
	if !f.active.Load() || !strings.Contains(filepath.Base(op.Path), f.match) {
		return nil
	}
	for _, kind := range f.kinds {
		if op.Kind == kind && f.seen.Add(1) >= f.nth {
			return f.errno
		}
	}
	return nil
}

// bulky appends until there is an error, or there were two rotations of Pebble's log, a flush and a compaction. It returns the
// number of acknowledged appends.
func bulky(s *disk.Store) (acked uint64, err error) {
	text := strings.Repeat("bulky ", 2<<20/6)
	for range 40 {
		if _, err = s.Append(context.Background(), "run", acked, one(fmt.Sprint(acked, text)), journal.Head{}); err != nil {
			return acked, err
		}
		acked++
	}
	return acked, nil
}

func TestAFaultInPebblesOwnFilesEndsNoProcess(t *testing.T) {
	create := []errorfs.OpKind{errorfs.OpCreate, errorfs.OpReuseForWrite, errorfs.OpRename}
	write := []errorfs.OpKind{errorfs.OpFileWrite}
	sync := []errorfs.OpKind{errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo}
	for i, f := range []*faulty{
		{kinds: create, match: ".log", errno: syscall.ENOENT},
		{kinds: create, match: ".log", nth: 2, errno: syscall.EMFILE},
		{kinds: write, match: ".log", nth: 90, errno: syscall.EDQUOT},
		{kinds: sync, match: ".log", nth: 16, errno: syscall.EIO},
		{kinds: create, match: ".sst", errno: syscall.ENOSPC},
		{kinds: write, match: ".sst", nth: 3, errno: syscall.EROFS},
		{kinds: sync, match: ".sst", errno: syscall.EIO},
		{kinds: write, match: "MANIFEST", errno: syscall.ENOSPC},
		{kinds: sync, match: "MANIFEST", errno: syscall.EIO},
		{kinds: sync, match: "db", errno: syscall.EIO},
	} {
		if testing.Short() && i%5 != 0 {
			continue // a few of them, since the race detector makes them slow
		}
		t.Run(fmt.Sprint(f.kinds[0], " of ", f.match, " ", f.errno), func(t *testing.T) {
			files := vfs.NewMem()
			s := open(t, "data", disk.Config{FS: errorfs.Wrap(files, errorfs.InjectorFunc(f.fail)), FreeFloorBytes: -1})
			f.active.Store(true)
			acked, err := bulky(s)
			require.GreaterOrEqual(t, uint64(len(mustRead(t, s, "run"))), acked, "reads still work")
			closed := s.Close()
			require.NotZero(t, f.seen.Load())
			for _, err := range []error{err, closed} {
				if err != nil {
					require.ErrorIs(t, err, journal.ErrReadOnly)
					require.ErrorIs(t, err, f.errno)
					require.NotContains(t, err.Error(), "\n")
				}
			}
			require.True(t, err != nil || closed != nil || acked == 40)

			s = open(t, "data", disk.Config{FS: files})
			values := mustRead(t, s, "run")
			require.GreaterOrEqual(t, uint64(len(values)), acked)
			for i, v := range values {
				require.True(t, strings.HasPrefix(v.(string), fmt.Sprint(i)))
			}
			mustAppend(t, s, "run", uint64(len(values)), one("goes on"))
			require.NoError(t, s.Close())
		})
	}
}

func TestWhyNothingCanBeWrittenIsSaid(t *testing.T) {
	for errno, why := range map[syscall.Errno]string{
		syscall.ENOSPC: "data/db/000006-001.log is on a disk that is full: no inodes are left; remove files (`df -i` shows inodes)",
		syscall.EDQUOT: "has used up its quota; make room or raise the quota",
		syscall.EROFS:  "is on a disk that is mounted read-only; mount it for writing",
		syscall.EIO:    "is on a disk that fails; look for its errors in the system's log",
		syscall.EMFILE: "needs more open files than this process may have; raise `ulimit -n`",
		syscall.ENFILE: "needs more open files than the system has left; close some",
		syscall.EACCES: "may not be written by this process; give it the permission",
		syscall.EINVAL: "cannot be written; mend it",
	} {
		f, files := &faulty{kinds: []errorfs.OpKind{errorfs.OpFileSyncData, errorfs.OpFileSync}, match: ".log", errno: errno}, vfs.NewMem()
		files.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: plenty})
		s := open(t, "data", disk.Config{FS: errorfs.Wrap(files, errorfs.InjectorFunc(f.fail))})
		f.active.Store(true)
		_, err := s.Append(context.Background(), "run", 0, one("x"), journal.Head{})
		require.ErrorContains(t, err, why+" and open the journal again: ")
		require.ErrorIs(t, err, errno)
		f.active.Store(false)
		f.later.Store(0)
		require.NoError(t, s.Close())
		require.Zero(t, f.later.Load(), "the disk is left as it was")
	}
}

func TestWhyADirectoryCannotBeOpenedIsSaid(t *testing.T) {
	for _, match := range []string{"VERSION", "COMMIT", "MANIFEST", "marker", ".log", "dbtmp"} {
		f := &faulty{kinds: []errorfs.OpKind{errorfs.OpCreate}, match: match, errno: syscall.EROFS}
		f.active.Store(true)
		files := vfs.NewMem()
		_, err := disk.Open("data", disk.Config{FS: errorfs.Wrap(files, errorfs.InjectorFunc(f.fail))})
		require.ErrorIs(t, err, syscall.EROFS, match)
		require.ErrorContains(t, err, "is on a disk that is mounted read-only; mount it for writing and open the journal again: ", match)
		require.NotContains(t, err.Error(), "\n")
		s := open(t, "data", disk.Config{FS: files})
		mustAppend(t, s, "run", 0, one("x"))
		require.NoError(t, s.Close())
	}
}

func TestASmallFileThatHasNoEndIsRefused(t *testing.T) {
	for _, name := range []string{"VERSION", "COMMIT"} {
		dir := t.TempDir()
		require.NoError(t, open(t, dir, disk.Config{}).Close())
		path := filepath.Join(dir, name)
		require.NoError(t, os.Truncate(path, 1<<40))
		_, err := disk.Open(dir, disk.Config{})
		require.ErrorIs(t, err, journal.ErrDamaged)
		require.ErrorContains(t, err, path+" has more than 4096 bytes")

		require.NoError(t, os.Remove(path))
		require.NoError(t, syscall.Mkfifo(path, 0o600))
		_, err = disk.Open(dir, disk.Config{})
		require.ErrorIs(t, err, journal.ErrDamaged)
		require.ErrorContains(t, err, path+" is no regular file")
	}
}

// TestOpenReturnsIfTheDiskFailsUnderARecovery: Pebble retries forever to move the log of a killed process into a table.
func TestOpenReturnsIfTheDiskFailsUnderARecovery(t *testing.T) {
	dir, running, later := t.TempDir(), t.TempDir(), t.TempDir()
	s := open(t, running, disk.Config{})
	mustAppend(t, s, "run", 0, one("x"))
	copyRunning(t, dir, running)
	require.NoError(t, s.Close())
	_, err := disk.Open(dir, disk.Config{FS: errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") {
			return syscall.EIO
		}
		return nil
	}))})
	require.ErrorIs(t, err, syscall.EIO)
	require.ErrorContains(t, err, "is on a disk that fails")
	copyRunning(t, later, dir) // for another process
	s = open(t, later, disk.Config{})
	require.Len(t, mustRead(t, s, "run"), 1)
	require.NoError(t, s.Close())
}

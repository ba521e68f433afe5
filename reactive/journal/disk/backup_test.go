package disk_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// A copy that is made while runs proceed has all appends acknowledged before, and can be opened.
func TestABackupHasWhatWasAcknowledged(t *testing.T) {
	ctx, dir := context.Background(), journaltest.TempDir(t)
	s := open(t, filepath.Join(dir, "data"), disk.Config{})
	stop := make(chan struct{})
	var acked [4]atomic.Uint64
	var writers sync.WaitGroup
	for i := range acked {
		writers.Go(func() {
			run := fmt.Sprint("run", i)
			for n := uint64(0); ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := s.Append(ctx, run, n, one(fmt.Sprint(n)), journal.Head{Run: run}); err != nil {
					t.Error(err)
					return
				}
				acked[i].Store(n + 1)
			}
		})
	}
	for n := range 5 {
		for i := range acked {
			require.Eventually(t, func() bool { return acked[i].Load() > uint64(20*n) }, waitMax, waitStep)
		}
		var before [len(acked)]uint64
		for i := range acked {
			before[i] = acked[i].Load()
		}
		target := filepath.Join(dir, "copies", fmt.Sprint(n))
		require.NoError(t, s.Backup(target))
		raw, err := disk.OpenRaw(target, false, disk.Config{})
		require.NoError(t, err)
		require.NoError(t, raw.Commits())
		require.NoError(t, raw.Close())
		c := open(t, target, disk.Config{})
		for i := range acked {
			have := uint64(0)
			for e, err := range c.Read(ctx, fmt.Sprint("run", i), 1) {
				require.NoError(t, err)
				have = e.Seq
			}
			require.GreaterOrEqual(t, have, before[i])
			_, err := c.Append(ctx, fmt.Sprint("run", i), have, one("goes its own way"), journal.Head{})
			require.NoError(t, err)
		}
		require.NoError(t, c.Close())
	}
	close(stop)
	writers.Wait()
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.Backup(filepath.Join(dir, "late")), journal.ErrClosed)
	for i := range acked {
		have := uint64(0)
		again := open(t, filepath.Join(dir, "data"), disk.Config{})
		for e, err := range again.Read(ctx, fmt.Sprint("run", i), 1) {
			require.NoError(t, err)
			require.NotEqual(t, "goes its own way", e.Value)
			have = e.Seq
		}
		require.Equal(t, acked[i].Load(), have, "the copies share nothing that is written")
		require.NoError(t, again.Close())
	}
}

func TestWhereNoBackupIsMade(t *testing.T) {
	dir := journaltest.TempDir(t)
	own := filepath.Join(dir, "data")
	s := open(t, own, disk.Config{})
	defer s.Close()
	require.NoError(t, os.Symlink(own, filepath.Join(dir, "link")))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "full", "of"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for target, fault := range map[string]string{
		own:                                      "is within the folder itself",
		filepath.Join(own, "db"):                 "is within the folder itself",
		filepath.Join(own, "new", "copy"):        "is within the folder itself",
		filepath.Join(dir, "link", "copy"):       "is within the folder itself",
		filepath.Join(dir, "full"):               "is not empty; name a new directory",
		filepath.Join(dir, "file"):               "not a directory",
		filepath.Join(dir, "data", "..", "data"): "is within the folder itself",
	} {
		err := s.Backup(target)
		require.ErrorIs(t, err, journal.ErrBackup, target)
		require.ErrorContains(t, err, fault)
	}
	require.NoError(t, step(s, 0), "the store goes on")
	require.NoError(t, s.Backup(filepath.Join(dir, "data-2")), "a name that only begins alike is another directory")
}

// Whatever operation on the copy fails, the store remains usable, and the copy is removed.
func TestABackupThatFailsHarmsNothing(t *testing.T) {
	for n := 0; ; n++ {
		var armed atomic.Bool
		var left atomic.Int64
		left.Store(int64(n))
		files := vfs.NewMem()
		s := open(t, "data", disk.Config{FS: errorfs.Wrap(files, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if !armed.Load() || !strings.HasPrefix(op.Path, "copy") || op.Kind.ReadOrWrite() != errorfs.OpIsWrite || left.Add(-1) != -1 {
				return nil
			}
			return syscall.ENOSPC
		}))})
		for i := range 5 {
			require.NoError(t, step(s, i))
		}
		armed.Store(true)
		err := s.Backup("copy")
		armed.Store(false)
		require.NoError(t, step(s, 5), "operation %d", n)
		if err == nil {
			require.NoError(t, s.Close())
			require.Greater(t, n, 10)
			require.GreaterOrEqual(t, recovered(t, files, "copy"), 5)
			return
		}
		require.False(t, errors.Is(err, journal.ErrBackup))
		_, missing := files.Stat("copy")
		require.ErrorIs(t, missing, os.ErrNotExist, "operation %d", n)
		require.NoError(t, s.Backup("copy"), "the next one succeeds")
		require.NoError(t, s.Close())
	}
}

// TestABackupAfterAFaultHasWhatWasAcknowledged: a store that can no longer write can still be backed up.
func TestABackupAfterAFaultHasWhatWasAcknowledged(t *testing.T) {
	files := vfs.NewMem()
	var failing atomic.Bool
	s := open(t, "data", disk.Config{FreeFloorBytes: -1, FS: errorfs.Wrap(files, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if failing.Load() && op.Path == "data/COMMIT" && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return syscall.EIO
		}
		return nil
	}))})
	mustAppend(t, s, "run", 0, one("small"))
	mustAppend(t, s, "run", 1, one(strings.Repeat("large", 4_000)))
	mustAppend(t, s, "run", 2, one("small"))
	failing.Store(true)
	_, err := s.Append(context.Background(), "last", 0, one("x"), journal.Head{})
	require.NoError(t, err, "it is synced")
	_, err = s.Append(context.Background(), "none", 0, one("x"), journal.Head{})
	require.ErrorIs(t, err, journal.ErrReadOnly)
	require.NoError(t, s.Backup("copy"))
	c := open(t, "copy", disk.Config{FS: files, FreeFloorBytes: -1})
	require.Len(t, mustRead(t, c, "run"), 3)
	require.Len(t, mustRead(t, c, "last"), 1)
	require.NoError(t, c.Close())
	require.ErrorIs(t, s.Close(), syscall.EIO, "COMMIT is synced")
}

// TestABackupAfterADeathInARecoveryOpens: a machine dies while Open recovers, after the flush and before the next log.
func TestABackupAfterADeathInARecoveryOpens(t *testing.T) {
	all := vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))}
	files := vfs.NewCrashableMem()
	s := open(t, "data", disk.Config{FS: files, FreeFloorBytes: -1})
	mustAppend(t, s, "run", 0, one("x"))
	left := files.CrashClone(all)
	require.NoError(t, s.Close())
	var again *vfs.MemFS
	s = open(t, "data", disk.Config{FreeFloorBytes: -1, FS: errorfs.Wrap(left, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".log") && again == nil {
			again = left.CrashClone(all)
		}
		return nil
	}))})
	require.NoError(t, s.Close())
	s = open(t, "data", disk.Config{FS: again, FreeFloorBytes: -1})
	require.NoError(t, s.Backup("copy"))
	require.NoError(t, s.Close())
	c := open(t, "copy", disk.Config{FS: again, FreeFloorBytes: -1})
	require.Len(t, mustRead(t, c, "run"), 1)
	require.NoError(t, c.Close())
}

package disk_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

const (
	plenty = 1 << 40
	scarce = 63 << 20 // just below the default floor
)

func TestAStoreStopsWritingBeforeTheDiskIsFull(t *testing.T) {
	ctx, files := context.Background(), vfs.NewMem()
	files.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: plenty})
	s := open(t, "data", disk.Config{FS: files})
	mustAppend(t, s, "run", 0, one("first"))
	files.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: scarce})
	last := uint64(1)
	var err error
	for ; err == nil; last++ {
		_, err = s.Append(ctx, "run", last, one("more"), journal.Head{})
		require.Less(t, last, uint64(200), "it looks often enough")
	}
	require.ErrorIs(t, err, journal.ErrReadOnly)
	require.ErrorContains(t, err, "the disk of data is full (63 MiB free, 64 MiB are kept in reserve)")
	stored := len(mustRead(t, s, "run"))
	require.Equal(t, int(last-1), stored, "reads still work, and nothing was half written")

	files.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: plenty})
	_, err = s.Append(ctx, "run", uint64(stored), one("x"), journal.Head{})
	require.ErrorIs(t, err, journal.ErrReadOnly, "it stays read-only until it is opened again")
	require.NoError(t, s.Close())

	s = open(t, "data", disk.Config{FS: files})
	mustAppend(t, s, "run", uint64(stored), one("x"))
	require.NoError(t, s.Close())
}

func TestOnAFullDiskAStoreOpensForReading(t *testing.T) {
	files := vfs.NewMem()
	files.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: scarce})
	_, err := disk.Open("data", disk.Config{FS: files})
	require.ErrorIs(t, err, journal.ErrReadOnly, "there is nothing to read yet")

	s := open(t, "data", disk.Config{FS: files, FreeFloorBytes: 1 << 20})
	mustAppend(t, s, "run", 0, one("first"))
	require.NoError(t, s.Close())

	s = open(t, "data", disk.Config{FS: files})
	require.Equal(t, []any{"first"}, mustRead(t, s, "run"))
	_, err = s.Append(context.Background(), "run", 1, one("second"), journal.Head{})
	require.ErrorIs(t, err, journal.ErrReadOnly)
	require.NoError(t, s.Close())

	s = open(t, "data", disk.Config{FS: files, FreeFloorBytes: -1})
	mustAppend(t, s, "run", 1, one("second"))
	require.NoError(t, s.Close())
}

func TestADiskThatIsFullAtOnceTurnsTheStoreReadOnly(t *testing.T) {
	var full atomic.Bool
	files := vfs.NewMem()
	s := open(t, "data", disk.Config{FS: errorfs.Wrap(files, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return syscall.ENOSPC
		}
		return nil
	}))})
	mustAppend(t, s, "run", 0, one("first"))
	full.Store(true)
	_, err := s.Append(context.Background(), "run", 1, one("second"), journal.Head{})
	require.ErrorIs(t, err, journal.ErrReadOnly)
	require.ErrorIs(t, err, syscall.ENOSPC)
	_, err = s.Append(context.Background(), "run", 1, one("second"), journal.Head{})
	require.ErrorIs(t, err, journal.ErrReadOnly)
	require.ErrorContains(t, err, "full")
	require.Equal(t, []any{"first"}, mustRead(t, s, "run"), "reads still work")
	full.Store(false)
	_ = s.Close() // Pebble remembers that its log has failed

	s = open(t, "data", disk.Config{FS: files})
	values := mustRead(t, s, "run")
	require.Equal(t, "first", values[0])
	mustAppend(t, s, "run", uint64(len(values)), one("third"))
	require.NoError(t, s.Close())
}

func TestADiskThatCannotSayWhatIsFreeIsNotTrusted(t *testing.T) {
	cause := errors.New("stale handle")
	var broken atomic.Bool
	s := open(t, "data", disk.Config{FS: errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if broken.Load() && op.Kind == errorfs.OpGetDiskUsage {
			return cause
		}
		return nil
	}))})
	broken.Store(true)
	_, err := s.Append(context.Background(), "run", 0, one("x"), journal.Head{})
	require.ErrorIs(t, err, journal.ErrReadOnly)
	require.ErrorIs(t, err, cause)
	_ = s.Close()
}

// Deletions of ended runs, and sweeps of content without a reference, free room: they continue while there is a little.
func TestOnAFullDiskWhatFreesRoomGoesOn(t *testing.T) {
	ctx, files := context.Background(), vfs.NewMem()
	usage := func(free uint64) { files.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: free}) }
	remove := func(s *disk.Store, stream string) error { return s.Delete(ctx, stream, journal.Tombstone{At: 1}) }
	refused := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, journal.ErrReadOnly)
	}
	usage(plenty)
	s := open(t, "data", disk.Config{FS: files})
	for _, stream := range []string{"a", "b", "c", "d", "e"} {
		mustAppend(t, s, stream, 0, one(strings.Repeat(stream, 1<<20)))
	}
	usage(scarce)
	full := func() error {
		_, err := s.Append(ctx, "other", 0, one("x"), journal.Head{})
		return err
	}
	appends(t, s, "many")
	refused(full())
	refused(s.PutContent(ctx, "a", [][]byte{[]byte("x")}))
	refused(s.Rebuild(ctx))
	require.NoError(t, remove(s, "a"))
	keeps := func() error {
		_, err := s.Append(ctx, journal.RetentionStream, 0, []journal.Event{{Type: journal.RetentionSet, At: 1}}, journal.Head{})
		return err
	}
	require.NoError(t, keeps(), "how long ended runs are kept, so that others go")
	blobs := 0
	require.NoError(t, s.SweepStreams(ctx, &journal.StreamSweep{Found: func(string, int64) { blobs++ }}))
	require.Equal(t, 1, blobs, "the content of the deleted one")
	refused(full())
	require.NoError(t, s.Close())

	s = open(t, "data", disk.Config{FS: files})
	refused(full())
	require.ErrorContains(t, full(), "delete runs or make room and open it again")
	require.NoError(t, remove(s, "b"))
	require.NoError(t, s.Close())

	usage(15 << 20)
	s = open(t, "data", disk.Config{FS: files})
	refused(remove(s, "c"))
	refused(keeps())
	require.ErrorContains(t, remove(s, "c"), "; make room and open it again")
	require.NoError(t, s.Close())

	usage(plenty)
	s = open(t, "data", disk.Config{FS: files})
	for _, stream := range []string{"a", "b"} {
		require.ErrorIs(t, remove(s, stream), journal.ErrDeleted)
	}
	require.Len(t, mustRead(t, s, "c"), 1)
	usage(15 << 20)
	appends(t, s, "more")
	refused(remove(s, "c"))
	require.NoError(t, s.Close())
}

// appends appends until the store refuses, because the store does not check the disk each time.
func appends(t *testing.T, s *disk.Store, stream string) {
	for n := uint64(0); ; n++ {
		if _, err := s.Append(context.Background(), stream, n, one("x"), journal.Head{}); err != nil {
			return
		}
		require.Less(t, n, uint64(200))
	}
}

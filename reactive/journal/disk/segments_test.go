package disk_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/journaltest"
)

// These tests cover the two segments of a log: see package commitlog.

// guarded prevents copies of a file system while a file is reused, because MemFS would deadlock.
type guarded struct {
	vfs.FS
	mu *sync.Mutex
}

func (g guarded) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.FS.ReuseForWrite(oldname, newname, category)
}

// TestAFaultUnderALogLosesNothing makes each operation that changes a log or syncs its directory fail in turn, once or from then on,
// while logs end. All acknowledged appends survive a later death of the machine.
func TestAFaultUnderALogLosesNothing(t *testing.T) {
	every := journaltest.Step(4)
	for name, match := range map[string]func(errorfs.Op) bool{
		"our segment":  func(op errorfs.Op) bool { return strings.HasSuffix(op.Path, "-001.log") },
		"Pebble's":     func(op errorfs.Op) bool { return strings.HasSuffix(op.Path, ".log") && !strings.Contains(op.Path, "-") },
		"the database": func(op errorfs.Op) bool { return op.Path == "data/db" },
	} {
		for _, lasting := range []bool{false, true} {
			n := 1
			for faultUnderALog(t, match, n, lasting) {
				n += every
			}
			require.Greater(t, n, 1, name)
		}
	}
}

// faultUnderALog appends while the n-th matching operation fails, and checks the result. It reports whether there was such an
// operation.
func faultUnderALog(t *testing.T, match func(errorfs.Op) bool, n int, lasting bool) (reached bool) {
	files := vfs.NewCrashableMem()
	var mu sync.Mutex
	seen, armed := 0, false
	s := open(t, "data", disk.Config{FreeFloorBytes: -1, FS: errorfs.Wrap(guarded{files, &mu}, errorfs.InjectorFunc(func(op errorfs.Op) error {
		mu.Lock()
		defer mu.Unlock()
		if !armed || op.Kind.ReadOrWrite() != errorfs.OpIsWrite || !match(op) {
			return nil
		}
		if seen++; seen == n || lasting && seen > n {
			return syscall.EIO
		}
		return nil
	}))})
	mu.Lock()
	armed = true
	mu.Unlock()
	acked := 0
	for ; acked < 70; acked++ {
		size := []int{10_000, 12_000, 20_000}[acked%3]
		if _, err := s.Append(context.Background(), fmt.Sprint("run", acked), 0, one(strings.Repeat("x", size)), journal.Head{}); err != nil {
			require.ErrorIs(t, err, journal.ErrReadOnly)
			break
		}
	}
	_ = s.Close()
	mu.Lock()
	reached = seen >= n
	left := files.CrashClone(vfs.CrashCloneCfg{})
	mu.Unlock()
	again := open(t, "data", disk.Config{FS: left, FreeFloorBytes: -1})
	for i := range acked {
		require.Len(t, mustRead(t, again, fmt.Sprint("run", i)), 1, "fault %d, lasting %t: %d of %d", n, lasting, i, acked)
	}
	require.NoError(t, again.Close())
	return reached
}

// killed returns the folder of a process that was killed after appends of these sizes, each to a new run.
func killed(t *testing.T, sizes []int) (dir string) {
	dir, running := t.TempDir(), t.TempDir()
	s := open(t, running, disk.Config{})
	for i, size := range sizes {
		mustAppend(t, s, fmt.Sprint("run", i), 0, one(strings.Repeat("x", size)))
	}
	copyRunning(t, dir, running)
	require.NoError(t, s.Close())
	return dir
}

// TestDamageOfASegmentIsNotServed damages either segment of a log at many places: no event is missing without an error.
func TestDamageOfASegmentIsNotServed(t *testing.T) {
	opened, harms := 0, 0
	for _, sizes := range [][]int{
		{1, 20_000, 1, 20_000, 1},
		{25_000, 1, 2, 12_000, 12_000, 12_000, 12_000, 25_000, 3},
		{1, 25_000, 25_000, 25_000},
		{12_000, 12_000, 12_000, 25_000, 12_000, 12_000, 12_000, 12_000, 1},
	} {
		from := killed(t, sizes)
		logs, err := filepath.Glob(filepath.Join(from, "db", "*.log"))
		require.NoError(t, err)
		require.Len(t, logs, 2)
		for _, path := range logs {
			for _, harm := range harmsOf(t, path) {
				harms++
				if segmentServed(t, from, filepath.Base(path), sizes, harm) {
					opened++
				}
			}
		}
	}
	require.Greater(t, opened, harms/10)
	require.Less(t, opened, harms)
}

// harmsOf returns changes of a file; a file without bytes is removed.
func harmsOf(t *testing.T, path string) (harms []func(text []byte) []byte) {
	info, err := os.Stat(path)
	require.NoError(t, err)
	size := min(int(info.Size()), 140_000)
	flip := func(at int) { harms = append(harms, func(b []byte) []byte { b[at] ^= 1 << (at % 8); return b }) }
	for at := 0; at < size; at += journaltest.Step(8) * 2_711 {
		flip(at)
		harms = append(harms, func(b []byte) []byte { clear(b[at:min(at+512, len(b))]); return b },
			func(b []byte) []byte { return b[:at] })
	}
	for block := 0; block < size; block += 32 << 10 {
		for at := block; at < min(block+60, size); at += journaltest.Step(7) { // heads of chunks
			flip(at)
		}
	}
	return append(harms, func([]byte) []byte { return nil })
}

// segmentServed opens a copy of a folder with a damaged log. It reports whether the copy opens, and requires that all events then
// exist or are missing with an error.
func segmentServed(t *testing.T, from, name string, sizes []int, harm func([]byte) []byte) bool {
	dir := filepath.Join(t.TempDir(), "harmed")
	require.NoError(t, os.CopyFS(dir, os.DirFS(from)))
	path := filepath.Join(dir, "db", name)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	if text = harm(text); len(text) > 0 {
		require.NoError(t, os.WriteFile(path, text, 0o600))
	} else {
		require.NoError(t, os.Remove(path))
	}
	s, err := disk.Open(dir, disk.Config{})
	if err != nil {
		require.ErrorIs(t, err, journal.ErrDamaged)
		return false
	}
	for i := range sizes {
		require.Len(t, mustRead(t, s, fmt.Sprint("run", i)), 1, "%s of %v", name, sizes)
	}
	require.NoError(t, s.Close())
	return true
}

// TestDamageBehindAPowerFailureIsNotServed: COMMIT is old then, and only the log itself shows that more was durable.
func TestDamageBehindAPowerFailureIsNotServed(t *testing.T) {
	for name, harm := range map[string]func([]byte) []byte{
		"a sector":        func(b []byte) []byte { clear(b[60_000:60_512]); return b },
		"head of a chunk": func(b []byte) []byte { b[64<<10] ^= 1; return b },
	} {
		for _, first := range []int{1, 20_000} {
			dir := killed(t, []int{first, 25_000, 25_000, 25_000, 25_000, 25_000, 25_000, 25_000})
			logs, err := filepath.Glob(filepath.Join(dir, "db", "??????.log"))
			require.NoError(t, err)
			require.Len(t, logs, 1)
			text, err := os.ReadFile(logs[0])
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(logs[0], harm(text), 0o600))
			require.NoError(t, os.Remove(filepath.Join(dir, "COMMIT")))
			_, err = disk.Open(dir, disk.Config{})
			require.ErrorIs(t, err, journal.ErrDamaged, "%s, first %d", name, first)
		}
	}
}

package disk_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/journaltest"
)

// contentSteps is the length of the workload below.
const contentSteps = 24

// blobsOf returns the three blobs that step n of the workload puts, one of which is sometimes large.
func blobsOf(n int) [][]byte {
	size := 20
	if n%5 == 4 {
		size = 40_000
	}
	return [][]byte{fmt.Appendf(nil, "first %d", n), fmt.Appendf(nil, "second %d", n), bytes.Repeat([]byte{byte(n + 1)}, size)}
}

// keptFor is the number of steps for which content is kept, and trimEvery the interval of sweeps and trims.
const (
	keptFor   = 6
	trimEvery = 4
)

// contentWorkload puts content, which no step syncs, and then appends the event that makes it durable, with a restart in the
// middle. Some steps sweep and trim in between. acked is called after each append.
func contentWorkload(files vfs.FS, acked func(n int)) error {
	n := 0
	for range 2 {
		s, err := disk.Open("data", disk.Config{FS: files, FreeFloorBytes: -1})
		if err != nil {
			return err
		}
		for range contentSteps / 2 {
			if err = contentStep(s, n); err != nil {
				break
			}
			n++
			acked(n)
		}
		if closeErr := s.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// contentStep makes step n: if event n+1 of the run exists, so must its content.
func contentStep(s *disk.Store, n int) error {
	ctx := context.Background()
	if n > 0 {
		if err := s.PutContent(ctx, "run", blobsOf(n)); err != nil {
			return err
		}
	}
	if n%trimEvery == trimEvery-1 {
		kept := map[journal.Hash]bool{}
		for k := max(1, n-keptFor+1); k <= n; k++ {
			for _, blob := range blobsOf(k) {
				kept[sha256.Sum256(blob)] = true
			}
		}
		if err := s.SweepContent(ctx, "run", func(h journal.Hash) bool { return kept[h] }); err != nil {
			return err
		}
		if err := s.Trim(ctx, "run", uint64(n-1)); err != nil {
			return err
		}
	}
	_, err := s.Append(ctx, "run", uint64(n), one(fmt.Sprint(n)), journal.Head{Run: "run", Snapshot: uint64(n + 1)})
	return err
}

// recoveredContent opens a directory after a crash and returns the number of steps whose event is there. The content of the
// last steps must exist, and trimmed events must not be reported as lost.
func recoveredContent(t *testing.T, files vfs.FS) int {
	ctx := context.Background()
	s, err := disk.Open("data", disk.Config{FS: files, FreeFloorBytes: -1})
	require.NoError(t, err)
	head, err := s.Head(ctx, "run")
	if err != nil {
		require.ErrorIs(t, err, journal.ErrNotFound)
		require.NoError(t, s.Close())
		return 0
	}
	n := int(head.Last)
	if trimmed := n/trimEvery*trimEvery - 2; trimmed > 2 {
		require.GreaterOrEqual(t, head.First, uint64(trimmed), "a trim is durable with the append behind it")
	}
	from := max(head.First, 1)
	values, err := read(s, "run", from)
	require.NoError(t, err)
	require.Len(t, values, n-int(from)+1)
	_, err = read(s, "run", 1)
	require.Equal(t, head.First > 0, err != nil)
	require.NotErrorIs(t, err, journal.ErrDamaged)
	for k := max(1, n-keptFor+1); k < n; k++ {
		for _, blob := range blobsOf(k) {
			content, err := s.Content(ctx, "run", sha256.Sum256(blob))
			require.NoError(t, err, "content of step %d of %d", k, n)
			require.Equal(t, blob, content)
		}
	}
	require.NoError(t, contentStep(s, n))
	require.NoError(t, s.Close())
	return n
}

func TestACrashAtAnyWriteLosesNoContent(t *testing.T) {
	type crash struct {
		files *vfs.MemFS
		acked int
		op    string
	}
	for _, percent := range []int{0, 50, 100} {
		var mu sync.Mutex
		var crashes []crash
		var acked atomic.Int64
		rng := rand.New(rand.NewPCG(2, uint64(percent)))
		files := vfs.NewCrashableMem()
		require.NoError(t, contentWorkload(errorfs.Wrap(files, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
				mu.Lock()
				defer mu.Unlock()
				sure := int(acked.Load())
				left := files.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng})
				crashes = append(crashes, crash{left, sure, fmt.Sprintf("%v of %s", op.Kind, op.Path)})
			}
			return nil
		})), func(n int) { acked.Store(int64(n)) }))
		for i := 0; i < len(crashes); i += journaltest.Step(1) {
			c := crashes[i]
			n := recoveredContent(t, c.files)
			require.True(t, n == c.acked || n == c.acked+1,
				"%d of %d steps survive crash %d, at %s, with %d %% of what was not synced", n, c.acked, i, c.op, percent)
		}
		require.Greater(t, len(crashes), 100)
	}
}

// TestAPutNeedsNoSync puts more than a log of Pebble holds, so that logs end with unsynced content. The next append makes all of
// it durable; until then a crash may lose it.
func TestAPutNeedsNoSync(t *testing.T) {
	if testing.Short() {
		t.Skip("it moves megabytes in one goroutine")
	}
	ctx, files := context.Background(), vfs.NewCrashableMem()
	var syncs, logs atomic.Int64
	s := open(t, "data", disk.Config{FreeFloorBytes: -1, FS: errorfs.Wrap(files, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if filepath.Ext(op.Path) != ".log" {
			return nil
		}
		switch op.Kind {
		case errorfs.OpFileSync, errorfs.OpFileSyncData:
			syncs.Add(1)
		case errorfs.OpCreate, errorfs.OpReuseForWrite:
			logs.Add(1)
		}
		return nil
	}))})
	mustAppend(t, s, "run", 0, one("a"))
	before := syncs.Load()
	small := []byte("small")
	require.NoError(t, s.PutContent(ctx, "run", [][]byte{small}))
	require.Equal(t, before, syncs.Load())
	left := files.CrashClone(vfs.CrashCloneCfg{})
	lost := open(t, "data", disk.Config{FS: left, FreeFloorBytes: -1})
	_, err := lost.Content(ctx, "run", sha256.Sum256(small))
	require.ErrorIs(t, err, journal.ErrNotFound)
	require.NoError(t, lost.Close())

	begun := logs.Load()
	hashes := []journal.Hash{sha256.Sum256(small)}
	rng := rand.NewChaCha8([32]byte{})
	for range 5 {
		blob := make([]byte, journal.ContentMaxBytes)
		_, _ = rng.Read(blob)
		hashes = append(hashes, sha256.Sum256(blob))
		require.NoError(t, s.PutContent(ctx, "run", [][]byte{blob}))
	}
	require.Greater(t, logs.Load(), begun, "content went to more than one log")
	mustAppend(t, s, "run", 1, one("b"))
	left = files.CrashClone(vfs.CrashCloneCfg{})
	require.NoError(t, s.Close())
	s = open(t, "data", disk.Config{FS: left, FreeFloorBytes: -1})
	for _, hash := range hashes {
		_, err := s.Content(ctx, "run", hash)
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())
}

func TestContentIsDurableAfterClose(t *testing.T) {
	ctx, files := context.Background(), vfs.NewCrashableMem()
	s := open(t, "data", disk.Config{FS: files, FreeFloorBytes: -1})
	mustAppend(t, s, "run", 0, one("a"))
	require.NoError(t, s.PutContent(ctx, "run", [][]byte{[]byte("x")}))
	require.NoError(t, s.Close())
	s = open(t, "data", disk.Config{FS: files.CrashClone(vfs.CrashCloneCfg{}), FreeFloorBytes: -1})
	_, err := s.Content(ctx, "run", sha256.Sum256([]byte("x")))
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

func contentKey(stream string, text string) []byte {
	hash := sha256.Sum256([]byte(text))
	return append([]byte("b"+stream+"\x00"), hash[:]...)
}

// withContent makes a closed store of one run with some content, changes it with Pebble, and opens it again.
func withContent(t *testing.T, texts []string, tamper func(db *pebble.DB)) (*disk.Store, vfs.FS) {
	files := vfs.NewMem()
	s := open(t, "data", disk.Config{FS: files})
	mustAppend(t, s, "run", 0, one("a"))
	for _, text := range texts {
		require.NoError(t, s.PutContent(context.Background(), "run", [][]byte{[]byte(text)}))
	}
	require.NoError(t, s.Close())
	change(t, files, tamper)
	return open(t, "data", disk.Config{FS: files}), files
}

func TestEveryFlippedBitOfContentIsDamage(t *testing.T) {
	const text = "some content"
	var texts []string
	bits := 8 * (5 + len(text))
	s, _ := withContent(t, []string{text}, func(db *pebble.DB) {
		record := get(t, db, contentKey("run", text))
		require.Len(t, record, 5+len(text))
		for bit := range bits { // each in a stream of its own
			flipped := slices.Clone(record)
			name := fmt.Sprint("run", bit)
			key := contentKey(name, text)
			sealed(key, flipped)
			flipped[bit/8] ^= 1 << (bit % 8)
			require.NoError(t, db.Set(key, flipped, pebble.NoSync))
			texts = append(texts, name)
		}
	})
	for _, name := range texts {
		content, err := s.Content(context.Background(), name, sha256.Sum256([]byte(text)))
		require.ErrorIs(t, err, journal.ErrDamaged, name)
		require.Empty(t, content)
	}
	require.NoError(t, s.Close())
}

func TestChangedContentIsDamageWhateverItsChecksum(t *testing.T) {
	s, _ := withContent(t, []string{"one", "two", "three", "four"}, func(db *pebble.DB) {
		one, two, three := contentKey("run", "one"), contentKey("run", "two"), contentKey("run", "three")
		changed := get(t, db, one)
		changed[len(changed)-1] ^= 1
		require.NoError(t, db.Set(one, sealed(one, changed), pebble.NoSync))
		require.NoError(t, db.Set(two, get(t, db, contentKey("run", "four")), pebble.NoSync))
		newer := get(t, db, three)
		newer[4] = 2
		require.NoError(t, db.Set(three, sealed(three, newer), pebble.NoSync))
	})
	for text, want := range map[string]error{"one": journal.ErrDamaged, "two": journal.ErrDamaged, "three": journal.ErrVersion, "four": nil} {
		content, err := s.Content(context.Background(), "run", sha256.Sum256([]byte(text)))
		require.ErrorIs(t, err, want)
		require.Equal(t, want == nil, content != nil)
	}
	require.NoError(t, s.PutContent(context.Background(), "run", [][]byte{[]byte("one")}), "putting it again mends it")
	_, err := s.Content(context.Background(), "run", sha256.Sum256([]byte("one")))
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

// A program without trims reads only records of version 1: it must refuse trimmed streams, and no others.
func TestOnlyTheHeadOfATrimmedStreamHasANewVersion(t *testing.T) {
	files := vfs.NewMem()
	s := open(t, "data", disk.Config{FS: files})
	for _, run := range []string{"trimmed", "whole"} {
		for i := range uint64(10) {
			_, err := s.Append(context.Background(), run, 2*i, append(one(i), one(i)...), journal.Head{Run: run, Snapshot: 2*i + 2})
			require.NoError(t, err)
		}
		require.NoError(t, s.PutContent(context.Background(), run, [][]byte{[]byte("x")}))
	}
	require.NoError(t, s.Trim(context.Background(), "trimmed", 8))
	require.NoError(t, s.Trim(context.Background(), "trimmed", 16))
	require.NoError(t, s.Close())
	versions, firsts := map[string]byte{}, []uint64{}
	change(t, files, func(db *pebble.DB) {
		it, err := db.NewIter(nil)
		require.NoError(t, err)
		for ok := it.First(); ok; ok = it.Next() {
			if len(it.Value()) > 0 { // else it is a key of an index
				versions[string(it.Key())] = it.Value()[4]
			}
			for first := range uint64(21) {
				if string(it.Key()) == string(eventsKey("trimmed", first)) {
					firsts = append(firsts, first)
				}
			}
		}
		require.NoError(t, it.Close())
	})
	require.Equal(t, []uint64{1, 15, 17, 19}, firsts, "records that hold only trimmed events are deleted")
	require.Equal(t, byte(2), versions["htrimmed"])
	delete(versions, "htrimmed")
	require.Equal(t, []byte{1}, slices.Compact(slices.Collect(maps.Values(versions))))
}

func TestLostEventsOfATrimmedStreamAreDamage(t *testing.T) {
	for name, lost := range map[string]uint64{"the start": 1, "the first that is left": 6, "one after it": 8, "the last": 10} {
		t.Run(name, func(t *testing.T) {
			files := vfs.NewMem()
			s := open(t, "data", disk.Config{FS: files})
			for i := range uint64(10) {
				_, err := s.Append(context.Background(), "run", i, one(i), journal.Head{Run: "run", Snapshot: i + 1})
				require.NoError(t, err)
			}
			require.NoError(t, s.Trim(context.Background(), "run", 6))
			require.NoError(t, s.Close())
			change(t, files, func(db *pebble.DB) { require.NoError(t, db.Delete(eventsKey("run", lost), pebble.Sync)) })
			s = open(t, "data", disk.Config{FS: files})
			from := uint64(6)
			if lost == 1 {
				from = 1
			}
			values, err := read(s, "run", from)
			require.ErrorIs(t, err, journal.ErrDamaged)
			require.NotErrorIs(t, err, journal.ErrTrimmed)
			require.Len(t, values, int(lost-from))
			require.NoError(t, s.Close())
		})
	}
}

func TestRawChecksContent(t *testing.T) {
	s, files := withContent(t, []string{"good", "changed"}, func(db *pebble.DB) {
		key := contentKey("run", "changed")
		record := get(t, db, key)
		record[7] ^= 1
		require.NoError(t, db.Set(key, record, pebble.NoSync))
		alone := contentKey("alone", "good")
		require.NoError(t, db.Set(alone, sealed(alone, get(t, db, contentKey("run", "good"))), pebble.NoSync))
		require.NoError(t, db.Set([]byte("brun\x00short"), []byte("x"), pebble.NoSync))
	})
	require.NoError(t, s.Close())
	r := raw(t, files, false)
	require.Equal(t, []string{"alone", "run"}, streams(t, r))
	good, bad := 0, 0
	for content, err := range r.Contents(context.Background(), "run") {
		require.NoError(t, err)
		if content.Err == nil {
			good++
			require.Equal(t, journal.Hash(sha256.Sum256([]byte("good"))), content.Hash)
			continue
		}
		bad++
		require.ErrorIs(t, content.Err, journal.ErrDamaged)
	}
	require.Equal(t, []int{1, 2}, []int{good, bad})
	require.NoError(t, r.Close())
}

func TestRawKeepsTheGapOfATrimmedStream(t *testing.T) {
	files := vfs.NewMem()
	s := open(t, "data", disk.Config{FS: files})
	_, err := s.Append(context.Background(), "run", 0, append(one(1), one(2)...), journal.Head{})
	require.NoError(t, err)
	_, err = s.Append(context.Background(), "run", 2, append(one(3), one(4)...), journal.Head{Run: "run", Snapshot: 4})
	require.NoError(t, err)
	require.NoError(t, s.Trim(context.Background(), "run", 4))
	require.NoError(t, s.Close())
	r := raw(t, files, true)
	head, err := r.Head("run")
	require.NoError(t, err)
	require.Equal(t, journal.Head{Run: "run", Snapshot: 4, First: 4, Last: 4}, head)
	head.Status = "mended"
	require.NoError(t, r.PutHead(head))
	require.NoError(t, r.Close())
	s = open(t, "data", disk.Config{FS: files})
	got, err := s.Head(context.Background(), "run")
	require.NoError(t, err)
	require.Equal(t, head, got)
	_, err = read(s, "run", 2)
	require.ErrorIs(t, err, journal.ErrTrimmed)
	require.NoError(t, s.Close())
}

// TestAFaultUnderAPutIsReported makes the log fail from some write on: at the latest the next append reports that, and later
// puts are refused.
func TestAFaultUnderAPutIsReported(t *testing.T) {
	f := &faulty{kinds: []errorfs.OpKind{errorfs.OpFileWrite}, match: ".log", errno: syscall.EIO}
	files := vfs.NewMem()
	s := open(t, "data", disk.Config{FS: errorfs.Wrap(files, errorfs.InjectorFunc(f.fail)), FreeFloorBytes: -1})
	mustAppend(t, s, "run", 0, one("a"))
	require.NoError(t, s.PutContent(context.Background(), "run", [][]byte{[]byte("before")}))
	mustAppend(t, s, "run", 1, one("b"))
	f.active.Store(true)
	err := s.PutContent(context.Background(), "run", [][]byte{bytes.Repeat([]byte("after"), 100_000)})
	if err == nil {
		_, err = s.Append(context.Background(), "run", 2, one("c"), journal.Head{})
	}
	require.ErrorIs(t, err, journal.ErrReadOnly)
	require.ErrorIs(t, s.PutContent(context.Background(), "run", [][]byte{[]byte("later")}), journal.ErrReadOnly)
	require.ErrorIs(t, s.Trim(context.Background(), "run", 0), journal.ErrReadOnly)
	require.ErrorIs(t, s.SweepContent(context.Background(), "run", func(journal.Hash) bool { return true }), journal.ErrReadOnly)
	require.NotZero(t, f.seen.Load())
	_, err = s.Content(context.Background(), "run", sha256.Sum256([]byte("before")))
	require.NoError(t, err, "reads still work")
	_ = s.Close()
	s = open(t, "data", disk.Config{FS: files})
	_, err = s.Content(context.Background(), "run", sha256.Sum256([]byte("before")))
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

// blobs returns 10,000 blobs of 1 KiB, different for each round.
func blobs(round int) (list [][]byte, hashes []journal.Hash) {
	rng := rand.NewChaCha8([32]byte{byte(round), byte(round >> 8)})
	for range 10_000 {
		blob := make([]byte, 1<<10)
		_, _ = rng.Read(blob)
		list, hashes = append(list, blob), append(hashes, sha256.Sum256(blob))
	}
	return list, hashes
}

// BenchmarkPutContent puts 10,000 blobs of 1 KiB at once, with the append that makes them durable.
func BenchmarkPutContent(b *testing.B) {
	s := open(b, b.TempDir(), disk.Config{})
	defer s.Close()
	mustAppend(b, s, "run", 0, one("a"))
	last := uint64(1)
	for b.Loop() {
		b.StopTimer()
		list, _ := blobs(int(last))
		b.StartTimer()
		require.NoError(b, s.PutContent(context.Background(), "run", list))
		mustAppend(b, s, "run", last, one("b"))
		last++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000/1e3, "µs/blob")
}

func BenchmarkContent(b *testing.B) {
	dir := b.TempDir()
	s := open(b, dir, disk.Config{})
	mustAppend(b, s, "run", 0, one("a"))
	list, hashes := blobs(0)
	require.NoError(b, s.PutContent(context.Background(), "run", list))
	require.NoError(b, s.Close())
	s = open(b, dir, disk.Config{})
	defer s.Close()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		content, err := s.Content(context.Background(), "run", hashes[i*2741%len(hashes)])
		if err != nil || len(content) != 1<<10 {
			b.Fatal(err)
		}
	}
}

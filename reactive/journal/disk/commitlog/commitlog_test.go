package commitlog_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/journal/disk/commitlog"
	"github.com/sluiceflow/sluice/reactive/journal/disk/shield"
)

// tableBytes is small, so that logs end often.
const tableBytes = 256 << 10

// life is a database from its opening to its end.
type life struct {
	log     *commitlog.Log
	db      *pebble.DB
	applied int // batches, of this life and earlier ones
	durable int // a lower bound of the durable ones
}

func options(files vfs.FS) *pebble.Options {
	return &pebble.Options{FS: files, MemTableSize: tableBytes, FormatMajorVersion: pebble.FormatNewest, Logger: silent{}}
}

type silent struct{}

func (silent) Infof(string, ...any)           {}
func (silent) Errorf(string, ...any)          {}
func (silent) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }

func begin(t require.TestingT, files vfs.FS) *life {
	require.NoError(t, commitlog.Check(files, "db"))
	l := &life{log: commitlog.New(shield.New(files, func(string, error) {}), "db")}
	db, err := pebble.Open("db", options(l.log))
	require.NoError(t, err)
	l.db = db
	return l
}

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

// apply applies the next batch: its number, and entries of a size.
func (l *life) apply(t require.TestingT, entries, size int, durable bool) {
	b := l.db.NewBatch()
	n := l.applied
	require.NoError(t, b.Set([]byte("newest"), binary.BigEndian.AppendUint64(nil, uint64(n+1)), nil))
	for i := range entries {
		require.NoError(t, b.Set(fmt.Appendf(nil, "%06d/%03d", n, i), value(n, size), nil))
	}
	l.applied++
	require.NoError(t, l.log.Apply(l.db, b, durable))
	require.NoError(t, b.Close())
}

func value(n, size int) []byte { return []byte(strings.Repeat(string(rune('a'+n%26)), size)) }

// end closes the database without a flush, like a crash, except that Pebble writes its last blocks.
func (l *life) end(t require.TestingT) {
	require.NoError(t, l.db.Close())
	require.NoError(t, l.log.Close())
}

// check compares the database with the applied batches, and returns the number of batches in it.
func check(t require.TestingT, db *pebble.DB, entries, sizes []int) int {
	n := 0
	if record, closer, err := db.Get([]byte("newest")); err == nil {
		n = int(binary.BigEndian.Uint64(record))
		closer.Close()
	}
	it, err := db.NewIter(nil)
	require.NoError(t, err)
	defer it.Close()
	ok := it.First()
	for i := range n {
		for k := range entries[i] {
			require.True(t, ok)
			require.Equal(t, fmt.Sprintf("%06d/%03d", i, k), string(it.Key()))
			require.Equal(t, sizes[i], len(it.Value()))
			ok = it.Next()
		}
	}
	require.True(t, !ok || string(it.Key()) == "newest", "batch %d is not there, but %s", n, it.Key())
	return n
}

// TestACrashAtAnyMomentLosesNothing lets a machine die before some write, sync, creation or removal of a file, with some of the
// unsynced data, also while the database is opened or a log ends. All durable batches, and all batches before them, exist afterwards.
func TestACrashAtAnyMomentLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		files := vfs.NewCrashableMem()
		require.NoError(t, files.MkdirAll("db", 0o755))
		var entries, sizes []int
		applied, durable := 0, 0
		for range rapid.IntRange(2, 4).Draw(t, "lives") {
			var mu sync.Mutex
			var left *vfs.MemFS
			sure, until, writes := durable, rapid.IntRange(1, 250).Draw(t, "writes"), 0
			percent := rapid.SampledFrom([]int{0, 50, 100}).Draw(t, "percent")
			rng := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed")))
			var l *life
			crash := func() {
				left = files.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng})
			}
			l = begin(t, errorfs.Wrap(guarded{files, &mu}, errorfs.InjectorFunc(func(op errorfs.Op) error {
				mu.Lock()
				defer mu.Unlock()
				if op.Kind.ReadOrWrite() == errorfs.OpIsWrite && left == nil {
					if writes++; writes == until {
						crash()
					}
				}
				return nil
			})))
			before := check(t, l.db, entries, sizes)
			require.GreaterOrEqual(t, before, durable)
			require.LessOrEqual(t, before, applied)
			entries, sizes = entries[:before], sizes[:before]
			l.applied, l.durable = before, before
			for range rapid.IntRange(0, 40).Draw(t, "batches") {
				many := rapid.SampledFrom([]int{0, 1, 1, 2, 200, 400}).Draw(t, "entries")
				size := rapid.SampledFrom([]int{0, 1, 100, 1_000, 5_000, 16_000, 32<<10 - 60, 70_000}).Draw(t, "size")
				if many > 2 {
					size = size % 500
				}
				entries, sizes = append(entries, many), append(sizes, size)
				mu.Lock()
				l.applied = len(entries) - 1
				mu.Unlock()
				wait := rapid.Bool().Draw(t, "durable")
				l.apply(t, many, size, wait)
				mu.Lock()
				if wait {
					l.durable = l.applied
				}
				if left == nil {
					sure = max(sure, l.durable)
				}
				mu.Unlock()
			}
			mu.Lock()
			if left == nil {
				crash()
			}
			mu.Unlock()
			l.end(t)
			applied, durable, files = len(entries), sure, left
		}
	})
}

// TestACrashAroundTheEndOfALogLosesNothing lets a machine die before every write, sync, creation and removal of a file while logs end:
// because they are full, and behind a batch that takes half of the table in memory.
func TestACrashAroundTheEndOfALogLosesNothing(t *testing.T) {
	sizes := slices.Repeat([]int{10_000}, 60)
	sizes[5], sizes[30], sizes[40] = 150_000, 20_000, 200_000
	for _, percent := range []int{0, 50, 100} {
		type crash struct {
			files   *vfs.MemFS
			durable int
		}
		var mu sync.Mutex
		var crashes []crash
		durable := 0
		rng := rand.New(rand.NewPCG(1, uint64(percent)))
		files := vfs.NewCrashableMem()
		require.NoError(t, files.MkdirAll("db", 0o755))
		l := begin(t, errorfs.Wrap(guarded{files, &mu}, errorfs.InjectorFunc(func(op errorfs.Op) error {
			mu.Lock()
			defer mu.Unlock()
			if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
				crashes = append(crashes, crash{files.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng}), durable})
			}
			return nil
		})))
		for i, size := range sizes {
			l.apply(t, 1, size, true)
			mu.Lock()
			durable = i + 1
			mu.Unlock()
		}
		l.end(t)
		for _, c := range crashes {
			again := begin(t, c.files)
			n := check(t, again.db, ones(sizes), sizes)
			require.True(t, n == c.durable || n == c.durable+1, "%d of %d", n, c.durable)
			again.end(t)
		}
	}
}

// TestASegmentLastsAsLongAsItsLog: there is at most one file of the package, and none after a log has ended.
func TestASegmentLastsAsLongAsItsLog(t *testing.T) {
	files := vfs.NewMem()
	require.NoError(t, files.MkdirAll("db", 0o755))
	l := begin(t, files)
	segments := func() (names []string) {
		all, err := files.List("db")
		require.NoError(t, err)
		for _, name := range all {
			if ok, _ := path.Match("*-*.log", name); ok {
				names = append(names, name)
			}
		}
		return names
	}
	require.Empty(t, segments())
	ended := 0
	for before, i := "", 0; i < 150; i++ {
		l.apply(t, 1, 10_000, i%2 == 0)
		now := segments()
		require.Len(t, now, 1)
		if now[0] != before {
			ended++
		}
		before = now[0]
	}
	require.Greater(t, ended, 3, "logs have ended")
	l.apply(t, 1, tableBytes, true)
	require.Empty(t, segments(), "Pebble ends its log behind a batch of that size")
	l.apply(t, 1, 20_000, true)
	require.Empty(t, segments(), "a large batch is in Pebble's log alone")
	l.apply(t, 1, 1, true)
	require.Len(t, segments(), 1)
	require.NoError(t, l.db.Flush())
	require.Empty(t, segments())
	l.end(t)
}

// dead returns the files of a machine that died with all batches durable, and the names of the segments of this package and of
// Pebble.
func dead(t *testing.T, sizes []int) (files *vfs.MemFS, ours, pebbles string) {
	crashable := vfs.NewCrashableMem()
	require.NoError(t, crashable.MkdirAll("db", 0o755))
	begin(t, crashable).end(t) // the first log has an older format, in which a torn end cannot be distinguished from damage
	l := begin(t, crashable)
	for _, size := range sizes {
		l.apply(t, 1, size, true)
	}
	files = crashable.CrashClone(vfs.CrashCloneCfg{})
	l.end(t)
	names, err := files.List("db")
	require.NoError(t, err)
	slices.Sort(names) // the newest last
	for _, name := range names {
		switch {
		case strings.HasSuffix(name, "-001.log"):
			ours = "db/" + name
		case strings.HasSuffix(name, ".log"):
			pebbles = "db/" + name
		}
	}
	return files, ours, pebbles
}

// harmed calls use with copies of dead files, each with a bit of one of the segments flipped.
func harmed(t *testing.T, sizes []int, ours bool, use func(files *vfs.MemFS, at, size int64)) {
	left, name, pebbles := dead(t, sizes)
	if !ours {
		name = pebbles
	}
	info, err := left.Stat(name)
	require.NoError(t, err)
	for at := int64(0); at < info.Size(); at += 733 {
		files := left.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
		change(t, files, name, at, func(b []byte) { b[0] ^= 1 << (at % 8) })
		use(files, at, info.Size())
	}
}

// ones returns the numbers of entries of the batches of harmed.
func ones(sizes []int) []int { return slices.Repeat([]int{1}, len(sizes)) }

// TestAFlippedBitIsDamage: batches of a damaged segment are missing, and if later blocks show that the bit was durable, the
// database does not open.
func TestAFlippedBitIsDamage(t *testing.T) {
	var sizes []int
	for i := range 12 {
		sizes = append(sizes, 1_000*i)
	}
	const last = 11_300 // bytes of the last batch, which nothing behind it confirms
	harmed(t, sizes, true, func(files *vfs.MemFS, at, size int64) {
		require.NoError(t, commitlog.Check(files, "db"))
		require.Greater(t, size-last, int64(32<<10), "it has several blocks")
		db, err := pebble.Open("db", options(files))
		if err == nil {
			require.GreaterOrEqual(t, at, size-last, "only the last batch may be a torn end")
			require.Less(t, check(t, db, ones(sizes), sizes), len(sizes))
			require.NoError(t, db.Close())
		}
	})
}

// TestABatchThatOnlyPebbleHasIsMissed damages Pebble's segment, the only one with the large batches: either the database has all
// batches up to one, or Check reports that one is missing.
func TestABatchThatOnlyPebbleHasIsMissed(t *testing.T) {
	for _, test := range []struct {
		name   string
		sizes  []int
		missed bool
	}{
		{"first", []int{20_000, 1, 2, 3}, true},
		{"between", []int{1, 20_000, 2, 20_000, 3, 4}, true},
		{"last", []int{1, 2, 20_000}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			missed := 0
			harmed(t, test.sizes, false, func(files *vfs.MemFS, _, _ int64) {
				if err := commitlog.Check(files, "db"); err != nil {
					require.ErrorIs(t, err, commitlog.ErrGap)
					missed++
					return
				}
				db, err := pebble.Open("db", options(files))
				if err != nil {
					return
				}
				check(t, db, ones(test.sizes), test.sizes)
				require.NoError(t, db.Close())
			})
			require.Equal(t, test.missed, missed > 0)
		})
	}
}

// TestAMissingSegmentIsMissed: without Pebble's segment, large batches are gone, and it is not known which.
func TestAMissingSegmentIsMissed(t *testing.T) {
	files, ours, pebbles := dead(t, []int{1, 20_000, 1})
	require.NoError(t, commitlog.Check(files, "db"))
	require.NoError(t, files.Remove(pebbles))
	require.ErrorIs(t, commitlog.Check(files, "db"), commitlog.ErrGap)
	empty, err := files.Create(ours, vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	require.NoError(t, empty.Close())
	require.NoError(t, commitlog.Check(files, "db"), "its log has ended")
	require.NoError(t, files.Remove(ours))
	require.NoError(t, commitlog.Check(files, "db"))
}

// TestTheSegmentGoesBeforePebbles: a machine that dies while Pebble removes a log must not leave the segment alone.
func TestTheSegmentGoesBeforePebbles(t *testing.T) {
	files, ours, pebbles := dead(t, []int{1, 20_000, 1})
	var ops []string
	log := commitlog.New(errorfs.Wrap(files, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			ops = append(ops, fmt.Sprint(op.Kind, " ", op.Path))
		}
		return nil
	})), "db")
	require.NoError(t, log.Remove(pebbles))
	require.NoError(t, log.Remove("db/000001.log-not"), "it is not there, and no log")
	require.Equal(t, []string{fmt.Sprint(errorfs.OpRemove, " ", ours), fmt.Sprint(errorfs.OpFileSync, " db"), fmt.Sprint(errorfs.OpRemove, " ", pebbles)}, ops[:3])
}

// TestALostSectorIsMissed: Pebble ignores an early end of a segment other than the last, even if later blocks show that more was
// durable.
func TestALostSectorIsMissed(t *testing.T) {
	files, _, pebbles := dead(t, []int{1, 25_000, 25_000, 25_000, 25_000, 25_000, 25_000})
	require.NoError(t, commitlog.Check(files, "db"))
	change(t, files, pebbles, 60_000, func(b []byte) { clear(b) })
	require.ErrorIs(t, commitlog.Check(files, "db"), commitlog.ErrGap)
}

// change changes a sector of a file.
func change(t *testing.T, files vfs.FS, name string, at int64, how func([]byte)) {
	f, err := files.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	b := make([]byte, 512)
	n, err := f.ReadAt(b, at)
	if err != io.EOF {
		require.NoError(t, err)
	}
	how(b[:n])
	_, err = f.WriteAt(b[:n], at)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

package wal_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk/shield"
	"github.com/sluiceflow/sluice/reactive/journal/disk/wal"
)

// store is a database with its log.
type store struct {
	db  *pebble.DB
	log *wal.Log
}

const fileBytes = 8 << 10 // so that files begin and are removed often

func open(t testing.TB, files vfs.FS, fileMax int64) (s store, err error) {
	for _, dir := range []string{"db", "log"} {
		require.NoError(t, files.MkdirAll(dir, 0o700))
		require.NoError(t, shield.SyncDir(files, ""))
	}
	shielded := shield.New(files, func(path string, cause error) { t.Error(path, cause) })
	s.db, err = pebble.Open("db", &pebble.Options{FS: shielded, DisableWAL: true, FormatMajorVersion: pebble.FormatNewest, Logger: quiet{},
		MemTableSize: 64 << 10, L0CompactionThreshold: 2})
	require.NoError(t, err)
	s.log = wal.New(s.db, shielded, "log", fileMax)
	found, err := s.log.Replay()
	if err == nil && found {
		require.NoError(t, s.db.Flush())
		require.NoError(t, s.log.Remove())
	}
	return s, err
}

func (s store) close(t testing.TB) {
	require.NoError(t, s.log.Close())
	require.NoError(t, s.db.Close())
}

type quiet struct{}

func (quiet) Infof(string, ...any)           {}
func (quiet) Errorf(string, ...any)          {}
func (quiet) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }

// change makes batch number n, which depends on n alone, in the database and in a model.
func change(t testing.TB, b *pebble.Batch, model map[string]string, n int) {
	rng := rand.New(rand.NewPCG(uint64(n), 7))
	set := func(key, value string) {
		require.NoError(t, b.Set([]byte(key), []byte(value), nil))
		model[key] = value
	}
	for range 1 + rng.IntN(4) {
		key := fmt.Sprintf("key-%02d", rng.IntN(40))
		switch rng.IntN(5) {
		case 0:
			require.NoError(t, b.Delete([]byte(key), nil))
			delete(model, key)
		case 1:
			end := fmt.Sprintf("key-%02d", rng.IntN(40))
			require.NoError(t, b.DeleteRange([]byte(min(key, end)), []byte(max(key, end)), nil))
			for k := range model {
				if k >= min(key, end) && k < max(key, end) {
					delete(model, k)
				}
			}
		default:
			set(key, strings.Repeat(fmt.Sprint(n, " "), rng.IntN(200)))
		}
	}
	if n%50 == 17 {
		set("large", strings.Repeat(fmt.Sprint(n), 20_000)) // more than half of what is in memory
	}
	set("n", fmt.Sprint(n))
}

// content returns all that a database holds, and how many batches that are.
func content(t testing.TB, db *pebble.DB) (all map[string]string, n int) {
	it, err := db.NewIter(nil)
	require.NoError(t, err)
	all, n = map[string]string{}, -1
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		require.NoError(t, err)
		all[string(it.Key())] = string(value)
		if string(it.Key()) == "n" {
			_, err = fmt.Sscan(string(value), &n)
			require.NoError(t, err)
		}
	}
	require.NoError(t, it.Error())
	require.NoError(t, it.Close())
	return all, n + 1
}

// modelOf returns the content after n batches.
func modelOf(t testing.TB, n int) map[string]string {
	model := map[string]string{}
	scratch, err := pebble.Open("", &pebble.Options{FS: vfs.NewMem(), Logger: quiet{}})
	require.NoError(t, err)
	b := scratch.NewBatch()
	for i := range n {
		change(t, b, model, i)
	}
	require.NoError(t, b.Close())
	require.NoError(t, scratch.Close())
	return model
}

// apply applies batches from number n on, every third without a sync, and calls acked after each sync.
func (s store) apply(t testing.TB, n, count int, acked func(n int)) {
	for ; count > 0; count, n = count-1, n+1 {
		b := s.db.NewBatch()
		change(t, b, map[string]string{}, n)
		require.NoError(t, s.log.Apply(b, n%3 > 0))
		require.NoError(t, b.Close())
		if n%3 > 0 {
			acked(n + 1)
		}
	}
}

// The machine dies at any write, while files of the log begin, tables are filled and merged, and files are removed: a prefix of the
// batches is there, with all that were synced.
func TestACrashAtAnyWriteLeavesAPrefix(t *testing.T) {
	const batches = 240
	type crash struct {
		files *vfs.MemFS
		acked int64
		op    string
	}
	for _, percent := range []int{0, 50, 100} {
		var mu sync.Mutex
		var crashes []crash
		var acked atomic.Int64
		rng := rand.New(rand.NewPCG(1, uint64(percent)))
		files := vfs.NewCrashableMem()
		ops := 0
		s, err := open(t, errorfs.Wrap(files, errorfs.InjectorFunc(func(op errorfs.Op) error {
			mu.Lock()
			defer mu.Unlock()
			if op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
				return nil
			}
			if ops++; ops%5 == 0 || op.Kind == errorfs.OpRemove || op.Kind == errorfs.OpCreate {
				sure := acked.Load()
				crashes = append(crashes, crash{files.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng}), sure,
					fmt.Sprint(op.Kind, " of ", op.Path)})
			}
			return nil
		})), fileBytes)
		require.NoError(t, err)
		s.apply(t, 0, batches, func(n int) { acked.Store(int64(n)) })
		s.close(t)
		require.Greater(t, len(crashes), batches/5)
		for i, c := range crashes {
			if i%2 == 1 {
				continue
			}
			again, err := open(t, c.files, fileBytes)
			require.NoError(t, err, "crash %d, at %s", i, c.op)
			all, n := content(t, again.db)
			require.GreaterOrEqual(t, int64(n), c.acked, "crash %d, at %s", i, c.op)
			require.Equal(t, modelOf(t, n), all, "crash %d, at %s", i, c.op)
			again.apply(t, n, 3, func(int) {})
			all, n = content(t, again.db)
			require.Equal(t, modelOf(t, n), all, "it goes on")
			again.close(t)
		}
	}
}

// written returns the only file of the log of some synced batches, and where each of them ends.
func written(t testing.TB, batches int) (file []byte, ends []int) {
	files := vfs.NewMem()
	s, err := open(t, files, 1<<20)
	require.NoError(t, err)
	for n := range batches {
		b := s.db.NewBatch()
		require.NoError(t, b.Set([]byte("n"), []byte(valueOf(n)), nil))
		require.NoError(t, s.log.Apply(b, true))
		require.NoError(t, b.Close())
		file = read(t, files, logName)
		ends = append(ends, len(file))
	}
	s.close(t)
	return file, ends
}

// valueOf returns a value of up to 16 KiB, so that some dozen batches fill several blocks.
func valueOf(n int) string { return strings.Repeat(fmt.Sprint(n%10), 1+n*3701%16384) }

const logName = "log/2147483648.log"

func read(t testing.TB, files vfs.FS, name string) []byte {
	f, err := files.Open(name)
	require.NoError(t, err)
	defer f.Close()
	content, err := io.ReadAll(f)
	require.NoError(t, err)
	return content
}

func write(t testing.TB, files vfs.FS, name string, content []byte) {
	require.NoError(t, files.MkdirAll(path.Dir(name), 0o700))
	f, err := files.Create(name, vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	_, err = f.Write(content)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// Cut anywhere, a log has the batches that are whole. With any byte changed, it has those before it, or is refused; it never has another.
func TestALogThatIsCutOrChangedHasAPrefix(t *testing.T) {
	file, ends := written(t, 16)
	refused := 0
	check := func(content []byte, i, whole int) {
		files := vfs.NewMem()
		write(t, files, logName, content)
		s, err := open(t, files, 1<<20)
		defer s.close(t)
		if err != nil {
			require.ErrorIs(t, err, journal.ErrDamaged)
			refused++
			return
		}
		all, _ := contentOf(t, s.db)
		if whole == 0 {
			require.Empty(t, all, "at %d", i)
			return
		}
		require.Equal(t, valueOf(whole-1), all, "at %d", i)
	}
	for i := 0; i < len(file); i += 1 + i%1409 {
		whole := 0 // batches that end at i or before
		for whole < len(ends) && ends[whole] <= i {
			whole++
		}
		check(file[:i], i, whole)
		changed := slices.Clone(file)
		changed[i] ^= 1 << (i % 8)
		check(changed, i, whole)
	}
	require.Positive(t, refused)
}

func contentOf(t testing.TB, db *pebble.DB) (string, bool) {
	value, closer, err := db.Get([]byte("n"))
	if err != nil {
		require.ErrorIs(t, err, pebble.ErrNotFound)
		return "", false
	}
	defer closer.Close()
	return string(value), true
}

// FuzzReplay has any bytes as the newest file of a log: they are replayed or refused.
func FuzzReplay(f *testing.F) {
	file, ends := written(f, 6)
	f.Add(file)
	f.Add(file[:ends[2]+5])
	f.Add(append(file[:ends[1]:ends[1]], make([]byte, 100)...))
	f.Fuzz(func(t *testing.T, content []byte) {
		files := vfs.NewMem()
		write(t, files, logName, content)
		s, err := open(t, files, 1<<20)
		if err != nil {
			require.ErrorIs(t, err, journal.ErrDamaged)
		}
		s.close(t)
	})
}

// A synced batch costs one write and one sync, and Pebble writes no log of its own.
func TestABatchIsOneWriteAndOneSync(t *testing.T) {
	ops := map[string]int{}
	var mu sync.Mutex
	s, err := open(t, errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		mu.Lock()
		defer mu.Unlock()
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			ops[fmt.Sprint(op.Kind, " of ", path.Dir(op.Path))]++
		}
		return nil
	})), 1<<20)
	require.NoError(t, err)
	defer s.close(t)
	one := func() {
		b := s.db.NewBatch()
		require.NoError(t, b.Set([]byte("key"), []byte("value"), nil))
		require.NoError(t, s.log.Apply(b, true))
		require.NoError(t, b.Close())
	}
	one()
	mu.Lock()
	clear(ops)
	mu.Unlock()
	for range 20 {
		one()
	}
	mu.Lock()
	defer mu.Unlock()
	require.Len(t, ops, 2, ops)
	for kind, count := range ops {
		require.Equal(t, 20, count, kind)
	}
}

// The bytes are those that Pebble writes itself, but for how far the log was synced.
func TestTheFormatIsPebbles(t *testing.T) {
	own := vfs.NewMem()
	require.NoError(t, own.MkdirAll("db", 0o700))
	s, err := open(t, own, 1<<20)
	require.NoError(t, err)
	b := s.db.NewBatch()
	require.NoError(t, b.Set([]byte("key"), []byte(strings.Repeat("value", 20_000)), nil))
	record := slices.Clone(b.Repr())
	require.NoError(t, s.log.Apply(b, true))
	require.NoError(t, b.Close())
	files, err := own.List("log")
	require.NoError(t, err)
	require.Len(t, files, 1)
	s.close(t)

	var pebbles vfs.FS = vfs.NewMem()
	for range 2 { // the first log has an older format
		db, err := pebble.Open("db", &pebble.Options{FS: pebbles, FormatMajorVersion: pebble.FormatNewest, Logger: quiet{}})
		require.NoError(t, err)
		require.NoError(t, db.Close())
	}
	db, err := pebble.Open("db", &pebble.Options{FS: pebbles, FormatMajorVersion: pebble.FormatNewest, Logger: quiet{}})
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.Set([]byte("key"), []byte(strings.Repeat("value", 20_000)), pebble.Sync))
	names, err := pebbles.List("db")
	require.NoError(t, err)
	slices.Sort(names)
	names = slices.DeleteFunc(names, func(name string) bool { return path.Ext(name) != ".log" })
	ours, theirs := chunks(read(t, own, "log/"+files[0])), chunks(read(t, pebbles, "db/"+names[len(names)-1]))
	require.Equal(t, theirs, ours)
	require.Greater(t, len(record), 3*32<<10)
}

// chunks describes the chunks of a log: where each is, and its size and kind.
func chunks(file []byte) (all []string) {
	for at := 0; at+19 <= len(file); {
		if 32<<10-at%(32<<10) < 19 {
			at += 32<<10 - at%(32<<10)
			continue
		}
		size := int(binary.LittleEndian.Uint16(file[at+4:]))
		if file[at+6] == 0 {
			break
		}
		all = append(all, fmt.Sprint(at, " ", size, " ", file[at+6], " ", len(file[at+19:]) >= size))
		at += 19 + size
	}
	return all
}

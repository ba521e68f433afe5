package disk_test

import (
	"context"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

func okRuns(t *testing.T, s journal.Store) (list []string) {
	for h, err := range s.List(t.Context(), journal.Query{Index: journal.ByStatus, Key: "ok"}) {
		require.NoError(t, err)
		list = append(list, h.Run)
	}
	return list
}

// dropLists removes the key of one run from all indexes, or all keys.
func dropLists(t *testing.T, files *vfs.MemFS, run string) {
	change(t, files, func(db *pebble.DB) {
		it, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte("i"), UpperBound: []byte("j")})
		require.NoError(t, err)
		for ok := it.First(); ok; ok = it.Next() {
			if key := string(it.Key()); run == "" || key[len(key)-len(run):] == run {
				require.NoError(t, db.Delete(it.Key(), pebble.Sync))
			}
		}
		require.NoError(t, it.Close())
	})
}

func setVersion(t *testing.T, files vfs.FS, text string) {
	f, err := files.Create("data/VERSION", vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	_, err = f.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// Open adds indexes to a folder without them, and raises its version, so that earlier programs do not append to it. The same applies
// if the process died while it made indexes.
func TestAnEarlierFolderGetsItsLists(t *testing.T) {
	for name, spoil := range map[string]func(files *vfs.MemFS){
		"an earlier version": func(files *vfs.MemFS) { setVersion(t, files, "sluice journal 1\n") },
		"a rebuild that was cut short": func(files *vfs.MemFS) {
			change(t, files, func(db *pebble.DB) { require.NoError(t, db.Set([]byte("rebuilding"), nil, pebble.Sync)) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := written(t, "a", "b", "c")
			dropLists(t, files, "")
			spoil(files)
			s := open(t, "data", disk.Config{FS: files})
			require.Equal(t, []string{"a", "b", "c"}, okRuns(t, s))
			require.NoError(t, s.Close())
			s = open(t, "data", disk.Config{FS: files})
			require.Zero(t, s.Work().IndexWritten, "once")
			require.NoError(t, s.Close())
			f, err := files.Open("data/VERSION")
			require.NoError(t, err)
			text := make([]byte, 32)
			n, _ := f.Read(text)
			require.Equal(t, "sluice journal 2\n", string(text[:n]))
			require.NoError(t, f.Close())
		})
	}
}

// Lists that differ from the heads are detected and rebuilt.
func TestListsThatDifferAreFoundAndMadeAnew(t *testing.T) {
	for name, spoil := range map[string]func(files *vfs.MemFS){
		"a run is missing": func(files *vfs.MemFS) { dropLists(t, files, "b") },
		"a run of nobody": func(files *vfs.MemFS) {
			change(t, files, func(db *pebble.DB) {
				require.NoError(t, db.Set([]byte("in\x00\x00\x00\x00\x7f\xff\xff\xff\xff\xff\xff\xffnobody"), nil, pebble.Sync))
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := written(t, "a", "b", "c")
			r := raw(t, files, false)
			require.NoError(t, r.Indexes(t.Context(), context.Context.Err))
			require.NoError(t, r.Close())
			spoil(files)
			r = raw(t, files, false)
			require.ErrorIs(t, r.Indexes(t.Context(), context.Context.Err), journal.ErrDamaged)
			require.NoError(t, r.Close())
			s := open(t, "data", disk.Config{FS: files})
			for h, err := range s.List(t.Context(), journal.Query{Index: journal.ByStart}) {
				require.NoError(t, err)
				require.NotEqual(t, "nobody", h.Run)
			}
			require.NoError(t, s.Rebuild(t.Context()))
			require.Equal(t, []string{"a", "b", "c"}, okRuns(t, s))
			require.NoError(t, s.Close())
			r = raw(t, files, true)
			require.NoError(t, r.Indexes(t.Context(), context.Context.Err))
			require.NoError(t, r.PutHead(journal.Head{Run: "b", Status: "other", Last: 1}))
			require.NoError(t, r.Close())
			s = open(t, "data", disk.Config{FS: files})
			require.Equal(t, []string{"a", "c"}, okRuns(t, s), "a head that was mended is in its list")
			require.NoError(t, s.Close())
		})
	}
}

// A deleted run stays deleted after a reopening, and its tombstone is not listed as a head.
func TestADeletedRunStaysDeleted(t *testing.T) {
	files := written(t, "a", "b")
	s := open(t, "data", disk.Config{FS: files})
	require.NoError(t, s.PutContent(t.Context(), "a", [][]byte{{1}}))
	require.NoError(t, s.Delete(t.Context(), "a", journal.Tombstone{}))
	require.NoError(t, s.Close())
	change(t, files, func(db *pebble.DB) {
		for _, prefix := range []string{"ea\x00", "ba\x00"} {
			it, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte(prefix), UpperBound: []byte(prefix[:2] + "\x01")})
			require.NoError(t, err)
			require.False(t, it.First(), prefix)
			require.NoError(t, it.Close())
		}
	})
	s = open(t, "data", disk.Config{FS: files})
	defer s.Close()
	require.Equal(t, []string{"b"}, okRuns(t, s))
	_, err := s.Append(t.Context(), "a", 0, one("x"), journal.Head{})
	require.ErrorIs(t, err, journal.ErrDeleted)
	_, err = s.Head(t.Context(), "a")
	require.ErrorIs(t, err, journal.ErrNotFound)
}

// A query for one run reads it by its key, without other heads. If its head is damaged, the list yields the error and the instant of
// the start.
func TestARunIsReadByItsId(t *testing.T) {
	files := written(t, "a", "b", "c")
	r := raw(t, files, false)
	require.NoError(t, r.Close())
	s := open(t, "data", disk.Config{FS: files})
	named := func(id string) (found []journal.Head, errs []error) {
		for h, err := range s.List(t.Context(), journal.Query{Index: journal.ByRun, Key: id}) {
			found, errs = append(found, h), append(errs, err)
		}
		return found, errs
	}
	before := s.Work().HeadsRead
	whole, errs := named("b")
	require.Len(t, whole, 1)
	require.NoError(t, errs[0])
	none, _ := named("bb")
	require.Empty(t, none)
	require.EqualValues(t, 2, s.Work().HeadsRead-before)
	require.NoError(t, s.Close())

	change(t, files, func(db *pebble.DB) {
		require.NoError(t, db.Set([]byte("hb"), []byte("spoilt"), pebble.Sync))
	})
	s = open(t, "data", disk.Config{FS: files})
	defer s.Close()
	spoilt, errs := named("b")
	require.Len(t, spoilt, 1)
	require.ErrorIs(t, errs[0], journal.ErrDamaged)
	require.Equal(t, journal.Head{Run: "b", Started: whole[0].Started}, spoilt[0])
}

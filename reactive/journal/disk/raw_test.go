package disk_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// written makes a closed store of runs with a head and one event each.
func written(t *testing.T, runs ...string) *vfs.MemFS {
	files := vfs.NewMem()
	s := open(t, "data", disk.Config{FS: files})
	for _, run := range runs {
		_, err := s.Append(context.Background(), run, 0, one("x"), journal.Head{Run: run, Status: "ok"})
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())
	return files
}

func change(t *testing.T, files vfs.FS, use func(db *pebble.DB)) {
	db, err := pebble.Open("data/db", &pebble.Options{FS: files, FormatMajorVersion: pebble.FormatNewest})
	require.NoError(t, err)
	use(db)
	require.NoError(t, db.Close())
}

func raw(t *testing.T, files vfs.FS, mend bool) *disk.Raw {
	r, err := disk.OpenRaw("data", mend, disk.Config{FS: files})
	require.NoError(t, err)
	return r
}

func streams(t *testing.T, r *disk.Raw) (list []string) {
	for name, err := range r.Streams(context.Background()) {
		require.NoError(t, err)
		list = append(list, name)
	}
	return list
}

func TestRawNamesEveryStreamOnceAndInOrder(t *testing.T) {
	var names []string
	for i := range 2500 { // more than a page
		names = append(names, fmt.Sprintf("run-%d", i), fmt.Sprintf("run-%d/child#1", i))
	}
	slices.Sort(names)
	files := written(t, names...)
	change(t, files, func(db *pebble.DB) {
		for i, name := range names { // some without a head, some without events
			switch i % 3 {
			case 0:
				require.NoError(t, db.Delete([]byte("h"+name), pebble.NoSync))
			case 1:
				require.NoError(t, db.Delete(eventsKey(name, 1), pebble.NoSync))
			}
		}
	})
	r := raw(t, files, false)
	defer r.Close()
	require.Equal(t, names, streams(t, r))
	for name := range r.Streams(context.Background()) {
		require.Equal(t, names[0], name, "a reader may stop")
		break
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range r.Streams(ended) {
		require.ErrorIs(t, err, context.Canceled)
	}
}

func TestRawReadsBehindDamage(t *testing.T) {
	files := vfs.NewMem()
	s := open(t, "data", disk.Config{FS: files})
	for i := range 5 {
		mustAppend(t, s, "run", uint64(2*i), append(one(i), one(i)...))
	}
	require.NoError(t, s.Close())
	change(t, files, func(db *pebble.DB) {
		require.NoError(t, db.Set(eventsKey("run", 3), []byte("rubbish"), pebble.Sync))
		require.NoError(t, db.Delete(eventsKey("run", 7), pebble.Sync))
	})
	r := raw(t, files, false)
	defer r.Close()
	var got []string
	for record, err := range r.Records(context.Background(), "run") {
		require.NoError(t, err)
		got = append(got, fmt.Sprint(record.First, len(record.Events), errors.Is(record.Err, journal.ErrDamaged)))
	}
	require.Equal(t, []string{"1 2 false", "3 0 true", "5 2 false", "9 2 false"}, got)
	_, err := r.Head("run")
	require.ErrorIs(t, err, disk.ErrNoHead)
}

func TestRawMendsCommitNumbers(t *testing.T) {
	rubbish := func(t *testing.T, files vfs.FS) {
		f, err := files.Create("data/COMMIT", vfs.WriteCategoryUnspecified)
		require.NoError(t, err)
		_, err = f.Write([]byte("rubbish"))
		require.NoError(t, errors.Join(err, f.Close()))
	}
	missing := func(t *testing.T, files vfs.FS) {
		change(t, files, func(db *pebble.DB) { require.NoError(t, db.Delete([]byte("commit"), pebble.Sync)) })
	}
	tests := map[string]struct {
		spoil []func(*testing.T, vfs.FS)
		text  string
	}{
		"COMMIT is rubbish":     {[]func(*testing.T, vfs.FS){rubbish}, "the checksum of COMMIT is wrong"},
		"the number is missing": {[]func(*testing.T, vfs.FS){missing}, "the number of the last commit is missing"},
		"the number is rubbish": {[]func(*testing.T, vfs.FS){func(t *testing.T, files vfs.FS) {
			change(t, files, func(db *pebble.DB) { require.NoError(t, db.Set([]byte("commit"), []byte("rubbish"), pebble.Sync)) })
		}}, "its checksum is wrong"},
		"both are lost": {[]func(*testing.T, vfs.FS){rubbish, missing}, "is missing"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			files := written(t, "a", "b")
			for _, spoil := range test.spoil {
				spoil(t, files)
			}
			_, err := disk.Open("data", disk.Config{FS: files})
			require.ErrorIs(t, err, journal.ErrDamaged)
			r := raw(t, files, true)
			require.ErrorContains(t, r.Commits(), test.text)
			require.NoError(t, r.MendCommits())
			require.NoError(t, r.Commits())
			require.NoError(t, r.Close())
			s := open(t, "data", disk.Config{FS: files})
			mustAppend(t, s, "a", 1, one("y"))
			require.NoError(t, s.Close())
			r = raw(t, files, false)
			require.NoError(t, r.Commits())
			require.NoError(t, r.Close())
		})
	}
	files := written(t, "a", "b")
	change(t, files, func(db *pebble.DB) {
		key := []byte("commit")
		require.NoError(t, db.Set(key, sealed(key, []byte{0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1}), pebble.Sync))
	})
	r := raw(t, files, true)
	require.ErrorIs(t, r.Commits(), disk.ErrLost)
	require.NoError(t, r.MendCommits())
	require.ErrorIs(t, r.Commits(), disk.ErrLost, "they are unknown")
	require.NoError(t, r.Close())
}

func TestRawMakesNothing(t *testing.T) {
	files := vfs.NewMem()
	_, err := disk.OpenRaw("data", true, disk.Config{FS: files})
	require.Error(t, err)
	_, err = files.Stat("data")
	require.Error(t, err)

	files = written(t, "a")
	r := raw(t, files, false)
	require.Error(t, r.PutHead(journal.Head{Run: strings.Repeat("a", 2<<20)}), "it was not opened to mend")
	_, err = disk.OpenRaw("data", false, disk.Config{FS: files})
	require.Error(t, err, "one at a time")
	_ = r.Close()
	s := open(t, "data", disk.Config{FS: files})
	require.NoError(t, s.Close())
}

func TestHeadsAreListedBehindADamagedOne(t *testing.T) {
	files := written(t, "a", "b", "c", "d")
	change(t, files, func(db *pebble.DB) {
		require.NoError(t, db.Set([]byte("hb"), []byte("rubbish"), pebble.Sync))
		require.NoError(t, db.Set([]byte("hc"), sealed([]byte("hc"), []byte{0, 0, 0, 0, 4}), pebble.Sync))
	})
	s := open(t, "data", disk.Config{FS: files})
	defer s.Close()
	var got []string
	for h, err := range s.Heads(context.Background(), "") {
		got = append(got, fmt.Sprintf("%s %q %t %t", h.Run, h.Status, errors.Is(err, journal.ErrDamaged), errors.Is(err, journal.ErrVersion)))
	}
	require.Equal(t, []string{`a "ok" false false`, `b "" true false`, `c "" false true`, `d "ok" false false`}, got)
}

func TestAStreamWithoutItsHeadTakesNoNewBeginning(t *testing.T) {
	files := written(t, "a")
	change(t, files, func(db *pebble.DB) { require.NoError(t, db.Delete([]byte("ha"), pebble.Sync)) })
	s := open(t, "data", disk.Config{FS: files})
	defer s.Close()
	_, err := s.Append(context.Background(), "a", 0, one("y"), journal.Head{Run: "a"})
	require.ErrorIs(t, err, journal.ErrDamaged)
	require.ErrorContains(t, err, "it has events, but no head")
	mustAppend(t, s, "new", 0, one("y"))
}

package disk_test

import (
	"io/fs"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
)

// TestAFolderWithoutItsVersionIsLeftAsItIs: a folder in which a crash has interrupted the creation of a store becomes a store. A
// store without its version, and the folder of another program, are refused, and nothing is created, changed or locked in them.
func TestAFolderWithoutItsVersionIsLeftAsItIs(t *testing.T) {
	write := func(t *testing.T, files vfs.FS, name string) {
		f, err := files.Create(name, vfs.WriteCategoryUnspecified)
		require.NoError(t, err)
		_, err = f.Write([]byte("theirs"))
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	store := func(t *testing.T, files vfs.FS) {
		s := open(t, "data", disk.Config{FS: files})
		mustAppend(t, s, "run", 0, one("x"))
		require.NoError(t, s.Close())
		require.NoError(t, files.Remove("data/VERSION"))
	}
	for name, test := range map[string]struct {
		make func(t *testing.T, files vfs.FS)
		says string // "": it becomes a store
	}{
		"nothing":            {func(*testing.T, vfs.FS) {}, ""},
		"an empty database":  {func(t *testing.T, files vfs.FS) { require.NoError(t, files.MkdirAll("data/db", 0o700)) }, ""},
		"a lock":             {func(t *testing.T, files vfs.FS) { write(t, files, "data/LOCK") }, ""},
		"a half version":     {func(t *testing.T, files vfs.FS) { write(t, files, "data/VERSION.new") }, ""},
		"other files":        {func(t *testing.T, files vfs.FS) { write(t, files, "data/README") }, ""},
		"a store":            {store, "there is a database: the folder is a journal that has lost this file"},
		"a store and marks":  {func(t *testing.T, files vfs.FS) { store(t, files); write(t, files, "data/VERSION.new") }, "has lost this file"},
		"without a database": {func(t *testing.T, files vfs.FS) { write(t, files, "data/COMMIT") }, "has lost this file and its database"},
		"another program's": {func(t *testing.T, files vfs.FS) {
			require.NoError(t, files.MkdirAll("data/db", 0o700))
			write(t, files, "data/db/users.sql")
		}, "db with users.sql, which is no database: the folder is of another program"},
		"a file": {func(t *testing.T, files vfs.FS) { write(t, files, "data/db") }, "db, which is no folder"},
	} {
		files := vfs.NewMem()
		require.NoError(t, files.MkdirAll("data", 0o700))
		test.make(t, files)
		before := files.String()
		_, err := disk.OpenRaw("data", true, disk.Config{FS: files})
		if test.says == "" {
			require.ErrorIs(t, err, fs.ErrNotExist, name)
			s := open(t, "data", disk.Config{FS: files})
			mustAppend(t, s, "run", 0, one("x"))
			require.NoError(t, s.Close(), name)
			has, err := records.Holds(files, "data")
			require.NoError(t, err, name)
			require.True(t, has, name)
			continue
		}
		require.ErrorIs(t, err, journal.ErrDamaged, name)
		_, err = disk.Open("data", disk.Config{FS: files})
		require.ErrorIs(t, err, journal.ErrDamaged, name)
		require.ErrorContains(t, err, "data/VERSION is missing, but there is ", name)
		require.ErrorContains(t, err, test.says, name)
		require.ErrorContains(t, err, "Nothing was changed", name)
		require.Equal(t, before, files.String(), name)
	}
}

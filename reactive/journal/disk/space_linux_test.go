package disk_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// occupied returns the bytes that the files below a directory occupy on the disk, which may exceed their sizes.
func occupied(t *testing.T, dir string) (bytes int64) {
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err == nil {
			bytes += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return err
	}))
	return bytes
}

// Pebble asks for 35 MiB for each log. A small closed store takes no more room than the written parts of its files.
func TestAClosedStoreIsSmall(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		s := open(t, dir, disk.Config{})
		mustAppend(t, s, fmt.Sprint("run", i), 0, one("x"))
		require.NoError(t, s.Close())
		require.Less(t, occupied(t, dir), int64(1<<20))
	}
	s := open(t, dir, disk.Config{})
	for i := range 3 {
		require.Equal(t, []any{"x"}, mustRead(t, s, fmt.Sprint("run", i)))
	}
	require.NoError(t, s.Close())
}

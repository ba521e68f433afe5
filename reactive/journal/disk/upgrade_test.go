package disk_test

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// The folder of an older program that was killed, with all appends in a log in its database's directory, opens for reading and for
// writing, and is of the newest version then.
func TestAFolderWithPebblesOwnLogOpens(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "layout-2")
	file, err := os.Open(filepath.FromSlash("../../../testdata/stores/layout-2.tar.gz"))
	require.NoError(t, err)
	defer file.Close()
	zipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	for archive := tar.NewReader(zipped); ; {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		path := filepath.Join(filepath.Dir(dir), filepath.FromSlash(header.Name))
		if header.FileInfo().IsDir() {
			require.NoError(t, os.MkdirAll(path, 0o700))
			continue
		}
		content, err := io.ReadAll(archive)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, content, 0o600))
	}
	for _, mend := range []bool{false, true} {
		copied := filepath.Join(t.TempDir(), "copy")
		require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
		r, err := disk.OpenRaw(copied, mend, disk.Config{})
		require.NoError(t, err)
		require.NoError(t, r.Commits())
		require.NoError(t, r.Close())
		require.Equal(t, workloadAppends, recovered(t, nil, copied))
	}
	require.Equal(t, workloadAppends, recovered(t, nil, dir))
	version, err := os.ReadFile(filepath.Join(dir, "VERSION"))
	require.NoError(t, err)
	require.Equal(t, "sluice journal 3\n", string(version))
	require.Equal(t, workloadAppends+1, recovered(t, nil, dir))
}

// A store that was killed can be read without anything being changed.
func TestAKilledStoreOpensForReading(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, disk.Config{})
	defer s.Close()
	for n := range 7 {
		require.NoError(t, step(s, n))
	}
	left := filepath.Join(t.TempDir(), "left")
	require.NoError(t, os.CopyFS(left, os.DirFS(dir)))
	r, err := disk.OpenRaw(left, false, disk.Config{})
	require.NoError(t, err)
	require.NoError(t, r.Commits())
	n := 0
	for record, err := range r.Records(t.Context(), "run0") {
		require.NoError(t, err)
		require.NoError(t, record.Err)
		n += len(record.Events)
	}
	require.Equal(t, 6, n)
	require.NoError(t, r.Close())
	require.Equal(t, 7, recovered(t, nil, left))
}

package readfile_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/internal/readfile"
)

func TestRegularReadsWithinTheLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	require.NoError(t, os.WriteFile(path, []byte("12345678"), 0o600))
	for _, limit := range []int{8, 9, 1 << 40} {
		data, info, err := readfile.Version(path, limit)
		require.NoError(t, err)
		require.Equal(t, "12345678", string(data))
		require.Equal(t, "a.yaml", info.Name())
	}
	_, err := readfile.Regular(path, 7)
	require.ErrorIs(t, err, readfile.ErrTooLarge)
	require.EqualError(t, err, path+" is too large: it has 8 bytes, at most 7 are read")
	_, err = readfile.Regular(path+"x", 7)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.EqualError(t, err, "open "+path+"x: no such file or directory")

	link := path + ".link"
	require.NoError(t, os.Symlink(path, link))
	data, err := readfile.Regular(link, 8)
	require.NoError(t, err)
	require.Equal(t, "12345678", string(data))
}

func TestRegularRefusesOtherFiles(t *testing.T) {
	dir := t.TempDir()
	_, err := readfile.Regular(dir, 1)
	require.EqualError(t, err, dir+" is a folder, not a regular file")

	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer l.Close()
	_, err = readfile.Regular(socket, 1)
	require.EqualError(t, err, socket+" is a socket, not a regular file")
}

func TestAllReadsNoMoreThanIsAllowed(t *testing.T) {
	r := strings.NewReader("12345678 and the rest")
	_, err := readfile.All(r, "standard input", 7)
	require.ErrorIs(t, err, readfile.ErrTooLarge)
	require.EqualError(t, err, "standard input is too large: it has more than the 7 bytes that are read")
	require.Equal(t, len("12345678 and the rest")-8, r.Len(), "All reads one byte beyond the limit")

	data, err := readfile.All(strings.NewReader("1234567"), "standard input", 7)
	require.NoError(t, err)
	require.Equal(t, "1234567", string(data))

	lost := errors.New("lost")
	_, err = readfile.All(iotest.ErrReader(lost), "standard input", 7)
	require.ErrorIs(t, err, lost)
}

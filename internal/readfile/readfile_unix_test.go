//go:build unix

package readfile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/internal/readfile"
)

func TestRegularOpensNoPipeAndNoDevice(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "p")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	_, err := readfile.Regular(pipe, 1)
	require.EqualError(t, err, pipe+" is a pipe, not a regular file")
	_, err = readfile.Regular("/dev/zero", 1)
	require.EqualError(t, err, "/dev/zero is a device, not a regular file")
}

// Files of /proc have the size 0.
func TestRegularIgnoresTheSize(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("/proc is not mounted")
	}
	info, err := os.Stat("/proc/self/status")
	require.NoError(t, err)
	require.Zero(t, info.Size())
	_, err = readfile.Regular("/proc/self/status", 10)
	require.ErrorIs(t, err, readfile.ErrTooLarge)
}

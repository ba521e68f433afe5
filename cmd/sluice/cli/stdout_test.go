//go:build unix

package cli

import (
	"bytes"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// broken returns a Stdout on which every write fails: with EPIPE, or because the file is closed.
func broken(t *testing.T, pipe bool) *Stdout {
	t.Helper()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, read.Close())
	if pipe {
		t.Cleanup(func() { _ = write.Close() })
	} else {
		require.NoError(t, write.Close())
	}
	return NewStdout(write)
}

func TestAFailedWriteIsAFailure(t *testing.T) {
	s := broken(t, false)
	require.NoError(t, s.Check(nil), "nothing was written yet")
	for range 2 {
		_, err := s.Write([]byte("a"))
		require.Error(t, err)
	}
	exit, ok := errors.AsType[*Exit](s.Check(nil))
	require.True(t, ok)
	require.Equal(t, Failed, exit.Code)
	require.ErrorIs(t, exit, os.ErrClosed)
	require.Equal(t, Refuse(nil), s.Check(Refuse(nil)), "the verb's own exit is kept")
	select {
	case <-ReaderGone(s):
		t.Fatal("the reader has not gone")
	default:
	}
}

func TestAReaderThatIsGoneIsNotAFailure(t *testing.T) {
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	defer signal.Stop(pipes)
	s := broken(t, true)
	for range 2 {
		_, err := s.Write([]byte("a"))
		require.ErrorIs(t, err, syscall.EPIPE)
	}
	<-ReaderGone(s)
	require.NoError(t, s.Check(nil))
	require.Nil(t, ReaderGone(&bytes.Buffer{}))
}

func TestFileOfFindsTheFileBehindWriters(t *testing.T) {
	require.Equal(t, os.Stderr, FileOf(NewDelayed(NewStdout(os.Stderr))))
	require.Equal(t, os.Stderr, FileOf(os.Stderr))
	require.Nil(t, FileOf(NewDelayed(&bytes.Buffer{})))
	require.False(t, IsTerminal(&bytes.Buffer{}))
	require.Equal(t, "\x1b[2J", ForPeople(&bytes.Buffer{}, "\x1b[2J"), "data does not change")
}

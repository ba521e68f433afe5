package control_test

import (
	"bufio"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/control"
)

// hanging returns the holder of a directory, which hangs after answer has handled the first connection.
func hanging(t *testing.T, answer func(*net.UnixConn) error) (h control.Holder, answered <-chan error) {
	t.Helper()
	dir, err := os.MkdirTemp("", "sluice-") // short enough for the address of a socket
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.WriteFile(filepath.Join(dir, "LOCK"), []byte("4711\n"), 0o600))
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "control.sock"), Net: "unix"})
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	done := make(chan error, 1)
	go func() {
		conn, err := l.AcceptUnix()
		if err == nil {
			defer conn.Close()
			err = answer(conn)
		}
		done <- err
	}()
	return control.AskOnly(dir), done
}

// noReply fails the test if there is a reply.
func noReply(t *testing.T) func(*api.Reply) error {
	return func(r *api.Reply) error {
		require.Fail(t, "a reply", "%+v", r)
		return nil
	}
}

var send = api.Request{Verb: api.Send, Run: "r1", Message: "letter", Actor: "ann"}

// TestAHangingHolderTimesOut: the client reports that nothing was done, and this stays true: a holder that goes on later can no longer
// acknowledge the request.
func TestAHangingHolderTimesOut(t *testing.T) {
	control.Taken(t, time.Millisecond)
	rest := make(chan struct{})
	h, answered := hanging(t, func(conn *net.UnixConn) error {
		<-rest
		if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
			return err
		}
		_, err := io.WriteString(conn, `{"taken":true}`)
		return err
	})
	err := h.Ask(t.Context(), &send, noReply(t))
	require.ErrorIs(t, err, api.ErrNoAnswer)
	require.EqualError(t, err, "the process that holds the directory does not answer (process 4711; it may be stopped): "+
		"nothing was done, and nothing will be")
	close(rest)
	require.ErrorIs(t, <-answered, syscall.EPIPE)
}

// TestARequestThatCannotBeSentTimesOut: a holder that does not read does not take a long request.
func TestARequestThatCannotBeSentTimesOut(t *testing.T) {
	control.Taken(t, 10*time.Millisecond)
	rest := make(chan struct{})
	h, answered := hanging(t, func(conn *net.UnixConn) error {
		<-rest
		_, err := bufio.NewReader(conn).ReadString('\n')
		return err
	})
	long := send
	long.Payload = []byte(`"` + strings.Repeat("x", 1<<20-1000) + `"`)
	err := h.Ask(t.Context(), &long, noReply(t))
	require.ErrorIs(t, err, api.ErrNoAnswer)
	require.ErrorContains(t, err, "nothing was done")
	close(rest)
	require.ErrorIs(t, <-answered, io.EOF)
}

// TestAnAnswerThatDoesNotCome: a holder that has taken a request may have carried it out, even if it has ended since.
func TestAnAnswerThatDoesNotCome(t *testing.T) {
	h, answered := hanging(t, func(conn *net.UnixConn) error {
		_, err := bufio.NewReader(conn).ReadString('\n')
		if err == nil {
			_, err = io.WriteString(conn, `{"taken":true}`)
		}
		return err
	})
	err := h.Ask(t.Context(), &send, noReply(t))
	require.ErrorIs(t, err, api.ErrHungUp)
	require.NoError(t, <-answered)
}

func TestAFolderOfAnotherUserIsNotSaidToBeHeld(t *testing.T) {
	err := control.Undialed("data", &fs.PathError{Op: "connect", Path: "data/control.sock", Err: fs.ErrPermission})
	require.EqualError(t, err, "this user may not use the folder data; the one to whom it belongs may: connect data/control.sock: permission denied")
}

package control_test

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/control"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// occupy connects to the socket of a directory, and sends a request or nothing. It reads no answer.
func occupy(t *testing.T, dir string, req *api.Request) net.Conn {
	conn, err := net.Dial("unix", filepath.Join(dir, "control.sock"))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	if req != nil {
		line, err := req.Encode()
		require.NoError(t, err)
		_, err = conn.Write(line)
		require.NoError(t, err)
	}
	return conn
}

// TestWhoOnlyTakesUpRoomIsNotInTheWay: watchers and lookers who read nothing, and connections that ask for nothing, leave room
// for commands, and those who ask for nothing for all others.
func TestWhoOnlyTakesUpRoomIsNotInTheWay(t *testing.T) {
	dir := t.TempDir()
	e := newEngine(t, memory.New())
	serve(t, dir, e)
	start(t, e, "r1")
	var idle []net.Conn
	for i := range 400 {
		idle = append(idle, occupy(t, dir, nil))
		occupy(t, dir, &api.Request{Verb: api.Watch, Run: "r1", From: 1})
		if i%4 == 0 {
			occupy(t, dir, &api.Request{Verb: api.List})
		}
	}
	c := control.AskOnly(dir)
	_, err := c.Do(t.Context(), &api.Request{Verb: api.Send, Run: "r1", Message: "letter", Actor: "ann"})
	require.NoError(t, err)
	_, err = c.Show(t.Context(), "r1")
	require.NoError(t, err)

	require.NoError(t, idle[0].SetReadDeadline(time.Now().Add(time.Minute)))
	_, err = io.ReadAll(idle[0])
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the oldest has given way")

	refused := false
	for _, err := range c.Watch(t.Context(), "r1", 1) {
		if err != nil {
			require.ErrorIs(t, err, api.ErrBusy)
			refused = true
		}
	}
	require.True(t, refused, "there are as many watchers as there may be")
}

func TestASocketWhoseFileWasRemovedIsMadeAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b")
	require.NoError(t, os.Mkdir(dir, 0o700))
	e := newEngine(t, memory.New())
	s := serve(t, dir, e)
	start(t, e, "r1")
	for range 2 {
		require.NoError(t, os.Remove(filepath.Join(dir, "control.sock")))
		require.Eventually(t, func() bool {
			c, err := control.Dial(dir)
			if err == nil {
				_, err = c.Show(t.Context(), "r1")
			}
			return err == nil
		}, time.Minute, 10*time.Millisecond)
	}
	require.NoError(t, s.Close())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

//go:build unix

package main

import (
	"bufio"
	"io"
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The process that ends a run may be gone before it has told a watcher so. What it had journaled was there before the
// watcher looked: nothing new ever comes.
func TestWatchReadsWhatAProcessThatEndsHasNotTold(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "w.yaml", "kind: Workflow\nname: w\noperations: {a: {value: 1}}\nsteps: [{operation: a}]\n")
	require.Zero(t, launch(t, dir, "run", "w.yaml", "--id", "r", "--data", "j").wait())

	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "j", "control.sock"), Net: "unix"})
	require.NoError(t, err)
	hungUp := hangUp(l, `{"taken":true}`)
	p := launch(t, dir, "runs", "watch", "r", "--data", "j")
	require.NoError(t, <-hungUp)
	require.Zero(t, p.wait())
	require.Contains(t, p.stdout.String(), "run.finished")
	require.NotContains(t, p.stderr.String(), "works on run")
}

// A process may also be gone just when it has told of the end.
func TestWatchEndsWellWhenTheProcessGoesAfterTheEnd(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "w.yaml", "kind: Workflow\nname: w\noperations: {a: {value: 1}}\nsteps: [{operation: a}]\n")
	require.Zero(t, launch(t, dir, "run", "w.yaml", "--id", "r", "--data", "j").wait())
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "j", "control.sock"), Net: "unix"})
	require.NoError(t, err)
	hungUp := hangUp(l, `{"taken":true}{"update":{"event":{"seq":4,"at":"2026-01-02T15:04:05Z","type":"run.finished","state":"completed"},"changes":[],"status":"completed"}}`)
	p := launch(t, dir, "runs", "watch", "r", "--data", "j")
	require.NoError(t, <-hungUp)
	require.Zero(t, p.wait())
	require.Empty(t, p.stderr.String())
	require.Contains(t, p.stdout.String(), "run.finished")
}

// hangUp answers the first request on a socket with a text, and is gone.
func hangUp(l *net.UnixListener, answer string) <-chan error {
	hungUp := make(chan error)
	go func() {
		conn, err := l.Accept() // only to learn whether anybody answers
		if err == nil {
			conn.Close()
			conn, err = l.Accept()
		}
		if err == nil {
			_, err = bufio.NewReader(conn).ReadBytes('\n')
			io.WriteString(conn, answer)
			l.Close()
			conn.Close()
		}
		hungUp <- err
	}()
	return hungUp
}

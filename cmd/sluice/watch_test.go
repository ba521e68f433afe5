//go:build unix

package main

import (
	"bufio"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
)

// A process that ends a run may exit before it has sent the last events to a watcher. The watcher must read them from the journal.
func TestWatchReadsEventsThatWereNotSent(t *testing.T) {
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
	require.NotContains(t, p.stderr.String(), "no process works on run")
}

// A process may exit just after it has sent the last event.
func TestWatchEndsIfTheProcessIsGoneAfterTheEnd(t *testing.T) {
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

// hangUp answers the first request on a socket with a text, and closes the connection.
func hangUp(l *net.UnixListener, answer string) <-chan error {
	hungUp := make(chan error)
	go func() {
		conn, err := l.Accept() // the first connection only checks whether a process listens
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

// Watchers of the folder and by HTTP print the text that a program writes, also after the run has ended.
func TestWatchPrintsWhatProgramsWrite(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "w.yaml", `{kind: Workflow, name: w, operations: {say: {command: {shell: "echo one; printf two; read x < gate; echo three >&2"}}, hold: {wait: {message: go}}},
 steps: [{operation: say}, {operation: hold}]}`)
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "gate"), 0o600))
	host, url := startHTTPHost(t, dir)
	runToEnd(t, dir, cli.Done, "start", "w.yaml", "--id", "r", "--data", "data")
	local := launch(t, dir, "runs", "watch", "r", "--log", "--data", "data")
	remote := launch(t, dir, "runs", "watch", "r", "--log", "--step", "say", "-o", "jsonl", "--server", url)
	eventually(t, "a line is there", func() bool {
		return strings.Contains(local.stdout.String(), "say  one\n") && strings.Contains(remote.stdout.String(), `"text":"one\n`)
	})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "gate"), []byte("go\n"), 0))
	eventually(t, "the rest is there", func() bool { return strings.Contains(remote.stdout.String(), "three") })
	runToEnd(t, dir, cli.Done, "send", "r", "go", "--data", "data")
	require.Equal(t, cli.Done, local.wait())
	require.Equal(t, cli.Done, remote.wait())
	require.Equal(t, "say  one\nsay  three\nsay  two\n", local.stdout.String(), "a line is printed when it has ended")
	again, _ := runToEnd(t, dir, cli.Done, "runs", "watch", "r", "--log", "--data", "data")
	require.Equal(t, local.stdout.String(), again)
	_, errs := runToEnd(t, dir, cli.Refused, "runs", "watch", "r", "--step", "say", "--data", "data")
	require.Contains(t, errs, "add --log")
	_, errs = runToEnd(t, dir, cli.Refused, "runs", "watch", "r", "--log", "--step", "sya", "--data", "data")
	require.Contains(t, errs, "say")
	host.signal(syscall.SIGTERM)
	require.Equal(t, cli.Done, host.wait())
}

//go:build unix

package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
)

// A request to a stopped process (SIGSTOP) fails, and is not carried out when the process continues.
func TestRequestsToAStoppedProcessFail(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "w.yaml", "kind: Workflow\nname: w\noperations: {m: {wait: {message: go}}}\nsteps: [{id: s, operation: m}]\n")
	p := launch(t, dir, "run", "w.yaml", "--id", "r", "--data", "j")
	eventually(t, "the process to answer", exists(dir+"/j/control.sock"))
	runToEnd(t, dir, cli.Done, "runs", "--data", "j")

	p.signal(syscall.SIGSTOP)
	asked := []*process{
		launch(t, dir, "runs", "--data", "j"), launch(t, dir, "runs", "watch", "r", "--data", "j"),
		launch(t, dir, "send", "r", "go", "--data", "j"), launch(t, dir, "pause", "r", "--data", "j"),
	}
	for _, a := range asked {
		require.Equal(t, cli.Failed, a.wait(), "%s", &a.stdout)
		require.Contains(t, a.stderr.String(), "does not answer (process ")
	}
	p.signal(syscall.SIGCONT)

	events, _ := runToEnd(t, dir, cli.Done, "runs", "events", "r", "--data", "j")
	require.NotContains(t, events, "message.received")
	require.NotContains(t, events, "run.paused")
	runToEnd(t, dir, cli.Done, "send", "r", "go", "--data", "j")
	require.Equal(t, cli.Done, p.wait())
	events, _ = runToEnd(t, dir, cli.Done, "runs", "events", "r", "--data", "j")
	require.Equal(t, 1, strings.Count(events, "message.received"))
}

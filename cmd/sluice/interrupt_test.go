//go:build unix

package main

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
)

// holding is a workflow. Its first step writes its process id to the file `pid`, and lasts until the file `go` exists.
const holding = `
kind: Workflow
name: holding
operations:
  hold: {command: {shell: "echo called >> calls; echo $$ > pid.new; mv pid.new pid; until [ -e go ]; do sleep 0.01; done"}}
  after: {command: {shell: "echo after >> calls"}}
steps: [{operation: hold}, {operation: after}]
output: done
`

// stubborn is a workflow with a step that ignores SIGTERM.
const stubborn = `
kind: Workflow
name: stubborn
operations:
  hold: {command: {shell: "trap '' TERM; echo $$ > pid.new; mv pid.new pid; while :; do sleep 0.01; done"}}
steps: [{operation: hold}]
`

func lines(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

func TestCtrlCCancelsARunThatCannotBeResumed(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, dir, "w.yaml", holding)
			p := launch(t, dir, "run", "w.yaml", "--id", "r")
			pid := filepath.Join(dir, "pid")
			eventually(t, "the step to begin", exists(pid))
			gone := isGone(t, pid)
			p.signal(signal)
			require.Equal(t, cli.Interrupted, p.wait())
			require.Contains(t, p.stdout.String(), "⊘ aborted    hold")
			require.Contains(t, p.stdout.String(), "run r: aborted: cancelled: interrupted")
			require.Contains(t, p.stderr.String(), "cancelling the run")
			eventually(t, "the command to be stopped", gone)
			require.True(t, isEmpty(t, filepath.Join(dir, "scratch")), "the temporary journal is removed")
		})
	}
}

// TestASignalSuspendsARunWhoseJournalIsKept tests Ctrl-C and a closed terminal.
func TestASignalSuspendsARunWhoseJournalIsKept(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			if signal.Ignored(s) {
				t.Skip("the signal is ignored, as under nohup")
			}
			suspendAndResume(t, s)
		})
	}
}

func suspendAndResume(t *testing.T, signal syscall.Signal) {
	dir := t.TempDir()
	writeFile(t, dir, "w.yaml", holding)
	p := launch(t, dir, "run", "w.yaml", "--id", "r", "--data", "the journal")
	eventually(t, "the step to begin", exists(filepath.Join(dir, "pid")))
	p.signal(signal)
	require.Equal(t, cli.Interrupted, p.wait())
	require.NotContains(t, p.stdout.String(), "aborted", "the run has not ended")

	said := strings.Split(strings.TrimSpace(p.stderr.String()), "\n")
	command := strings.TrimSpace(said[len(said)-1])
	require.Equal(t, program(t)+" run --data 'the journal' --resume r", command)
	writeFile(t, dir, "go", "")
	again := exec.Command("sh", "-c", command)
	again.Dir = dir
	out, err := again.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "✓ completed  after")
	require.Contains(t, string(out), "\n\ndone\n")
	require.NotContains(t, string(out), "started", "earlier events are not shown again")
	require.Equal(t, []string{"called", "called", "after"}, lines(t, filepath.Join(dir, "calls")))
}

func TestASuspendedRunIsAnnouncedToPrograms(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "w.yaml", holding)
	p := launch(t, dir, "run", "w.yaml", "--id", "r", "--data", "journal", "-o", "json", "--pass-env", "TZ")
	eventually(t, "the step to begin", exists(filepath.Join(dir, "pid")))
	p.signal(syscall.SIGTERM)
	require.Equal(t, cli.Interrupted, p.wait())
	require.True(t, strings.HasSuffix(p.stdout.String(), `{"suspended":{"resume":"`+program(t)+` run --data journal --resume r --pass-env TZ"}}`+"\n"))
}

func TestCallsInProgressEndWhenARunIsSuspended(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "w.yaml", holding)
	p := launch(t, dir, "run", "w.yaml", "--id", "r", "--data", "journal")
	eventually(t, "the step to begin", exists(filepath.Join(dir, "pid")))
	p.signal(syscall.SIGINT)
	eventually(t, "the command to react", func() bool { return strings.Contains(p.stderr.String(), "suspending") })
	writeFile(t, dir, "go", "")
	require.Equal(t, cli.Interrupted, p.wait())

	p = launch(t, dir, "run", "--data", "journal", "--resume", "r")
	require.Equal(t, cli.Done, p.wait(), "%s", &p.stderr)
	require.Equal(t, []string{"called", "after"}, lines(t, filepath.Join(dir, "calls")), "the call has ended, and is not repeated")
}

func TestASecondCtrlCKills(t *testing.T) {
	for _, data := range [][]string{nil, {"--data", "journal"}} {
		dir := t.TempDir()
		writeFile(t, dir, "w.yaml", stubborn)
		p := launch(t, dir, append([]string{"run", "w.yaml", "--id", "r"}, data...)...)
		pid := filepath.Join(dir, "pid")
		eventually(t, "the step to begin", exists(pid))
		gone := isGone(t, pid)
		p.signal(syscall.SIGINT)
		eventually(t, "the command to react", func() bool { return strings.Contains(p.stderr.String(), "Ctrl-C again") })
		require.False(t, gone(), "the step ignores SIGTERM")
		p.signal(syscall.SIGINT)
		require.Equal(t, cli.Interrupted, p.wait())
		eventually(t, "the step to die with the command", gone)
		require.True(t, isEmpty(t, filepath.Join(dir, "scratch")), "a temporary journal is removed")
	}
}

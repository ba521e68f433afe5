//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
)

// ticking is a workflow of two hundred sequential steps. Each step is shown.
const ticking = `
kind: Workflow
name: ticking
operations:
  list: {command: {shell: "seq 200", output: lines}}
  tick: {command: {shell: "echo $SLUICE_STEP >> calls"}}
steps:
  - {operation: list}
  - map: {id: each, over: "{{ steps.list.output }}", max_concurrency: 1, steps: [{operation: tick}]}
output: done
`

// runWithHead runs the command with a reader that closes the pipe of its output after the first line. If both is true, standard error goes to
// the same pipe.
func runWithHead(t *testing.T, dir string, both bool, args ...string) (p *process, code int) {
	t.Helper()
	p = &process{t: t, cmd: exec.Command(program(t), args...)}
	scratch := filepath.Join(dir, "scratch")
	require.NoError(t, os.MkdirAll(scratch, 0o700))
	p.cmd.Dir, p.cmd.Env = dir, append(os.Environ(), "TMPDIR="+scratch)
	read, write, err := os.Pipe()
	require.NoError(t, err)
	p.cmd.Stdout, p.cmd.Stderr = write, &p.stderr
	if both {
		p.cmd.Stderr = write
	}
	require.NoError(t, p.cmd.Start())
	require.NoError(t, write.Close())
	_, err = bufio.NewReader(read).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, read.Close())
	return p, p.wait()
}

// calls returns the number of calls of ticking's steps.
func calls(t *testing.T, dir string) int {
	t.Helper()
	if !exists(filepath.Join(dir, "calls"))() {
		return 0
	}
	return len(lines(t, filepath.Join(dir, "calls")))
}

// A reader that closes the pipe, as in `sluice run … | head -1`, requests a stop: no process and no file is left, and a run with a journal
// can be resumed.
func TestAReaderThatClosesThePipeStopsTheRun(t *testing.T) {
	for _, output := range []string{"tree", "json"} {
		for _, both := range []bool{false, true} {
			dir := t.TempDir()
			writeFile(t, dir, "w.yaml", ticking)
			p, code := runWithHead(t, dir, both, "run", "w.yaml", "--id", "r", "-o", output)
			require.Equal(t, cli.Interrupted, code, "%s", &p.stderr)
			require.Less(t, calls(t, dir), 200, "the run is cancelled")
			require.True(t, isEmpty(t, filepath.Join(dir, "scratch")))
			if !both {
				require.Contains(t, p.stderr.String(), map[string]string{"tree": "cancelling the run"}[output])
			}
		}
	}
	dir := t.TempDir()
	writeFile(t, dir, "w.yaml", ticking)
	p, code := runWithHead(t, dir, false, "run", "w.yaml", "--id", "r", "--data", "journal")
	require.Equal(t, cli.Interrupted, code)
	require.Contains(t, p.stderr.String(), "run --data journal --resume r")
	require.True(t, isEmpty(t, filepath.Join(dir, "scratch")))
	require.False(t, exists(filepath.Join(dir, "journal", "control.sock"))(), "the journal was closed")
	called := calls(t, dir)
	require.Less(t, called, 200)

	_, stderr := runToEnd(t, dir, cli.Done, "run", "--data", "journal", "--resume", "r", "-o", "quiet")
	require.Empty(t, stderr)
	require.LessOrEqual(t, calls(t, dir), 201, "one call was in progress")
}

// A run makes no temporary files, which could remain after a signal.
func TestRunsUseNoTemporaryFolder(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "w.yaml", holding)
	for _, args := range [][]string{{"run", "w.yaml"}, {"run", "w.yaml", "--data", "journal"}} {
		p := launch(t, dir, args...)
		eventually(t, "the step to begin", exists(filepath.Join(dir, "pid")))
		require.True(t, isEmpty(t, filepath.Join(dir, "scratch")))
		writeFile(t, dir, "go", "")
		require.Equal(t, cli.Done, p.wait())
		require.NoError(t, os.Remove(filepath.Join(dir, "go")))
		require.NoError(t, os.Remove(filepath.Join(dir, "pid")))
	}
}

// Other broken pipes and sockets do not stop the run: a program may not read its input, and a process that watches may be killed.
func TestOnlyTheReaderOfTheOutputStopsTheRun(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "deaf.yaml", `
kind: Workflow
name: deaf
operations:
  deaf: {command: {shell: "exec <&-; echo heard", stdin: "{{ repeat('x', 1000000) }}", output: text}}
steps: [{operation: deaf}]
output: "{{ steps.deaf.output }}"
`)
	stdout, stderr := runToEnd(t, dir, cli.Done, "run", "deaf.yaml", "-o", "quiet")
	require.Equal(t, "heard\n", stdout)
	require.Empty(t, stderr)

	writeFile(t, dir, "w.yaml", holding)
	p := launch(t, dir, "run", "w.yaml", "--id", "r", "--data", "journal")
	eventually(t, "the step to begin", exists(filepath.Join(dir, "pid")))
	for range 3 {
		p.signal(syscall.SIGPIPE)
		w := launch(t, dir, "runs", "watch", "r", "--data", "journal")
		eventually(t, "the watcher to see something", func() bool { return w.stdout.String() != "" })
		w.signal(syscall.SIGKILL)
		require.Equal(t, -1, w.wait())
	}
	writeFile(t, dir, "go", "")
	require.Equal(t, cli.Done, p.wait(), "%s", &p.stderr)
	require.Empty(t, p.stderr.String())
}

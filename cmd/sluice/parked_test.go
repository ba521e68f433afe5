//go:build unix

package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
)

// oldStore unpacks a store of an earlier version to the folder `old` of dir. Its open runs are gate and waits.
func oldStore(t *testing.T, dir string) {
	t.Helper()
	archive, err := filepath.Abs(filepath.Join("..", "..", "testdata", "stores", "format-1.tar.gz"))
	require.NoError(t, err)
	require.NoError(t, exec.Command("mkdir", filepath.Join(dir, "old")).Run())
	out, err := exec.Command("tar", "-xzf", archive, "-C", filepath.Join(dir, "old")).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// runToEnd runs the command to its end, requires an exit code, and returns the output.
func runToEnd(t *testing.T, dir string, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	p := launch(t, dir, args...)
	require.Equal(t, code, p.wait(), "%s%s", &p.stdout, &p.stderr)
	return p.stdout.String(), p.stderr.String()
}

// Runs that this version cannot continue are shown as parked with the reason, whether or not a process works on their journal.
func TestParkedRunsAreShown(t *testing.T) {
	const reason = "it was started under other rules (engine 1, expressions 1; here "
	for _, held := range []bool{false, true} {
		dir := t.TempDir()
		oldStore(t, dir)
		if held {
			writeFile(t, dir, "w.yaml", holding)
			p := launch(t, dir, "run", "w.yaml", "--id", "holder", "--data", "old")
			defer p.wait()
			defer writeFile(t, dir, "go", "")
			eventually(t, "the step to begin", exists(filepath.Join(dir, "pid")))
		}
		list, _ := runToEnd(t, dir, cli.Done, "runs", "--data", "old")
		for line := range strings.Lines(list) {
			parked := strings.HasPrefix(line, "gate ") || strings.HasPrefix(line, "waits ")
			require.Equal(t, parked, strings.Contains(line, "  parked  ") && strings.Contains(line, reason), line)
		}
		objects, _ := runToEnd(t, dir, cli.Done, "runs", "--data", "old", "-o", "jsonl")
		for line := range strings.Lines(objects) {
			var run struct{ Run, Status, Parked string }
			require.NoError(t, json.Unmarshal([]byte(line), &run))
			require.Equal(t, run.Run == "gate" || run.Run == "waits", run.Parked != "")
			require.NotEqual(t, "parked", run.Status, "the status is that of the journal")
		}
		shown, _ := runToEnd(t, dir, cli.Done, "runs", "show", "gate", "--data", "old")
		require.Regexp(t, `(?m)^status +waiting, parked$`, shown)
		require.Regexp(t, `(?m)^parked +\S`, shown)
		require.Contains(t, shown, reason)
		explained, _ := runToEnd(t, dir, cli.Done, "explain", "gate", "--data", "old")
		require.Regexp(t, `^run gate is waiting\n  the run is parked, and cannot go on in this process: `, explained)
		_, refused := runToEnd(t, dir, cli.Failed, "cancel", "gate", "--data", "old")
		require.Contains(t, refused, reason)
		finished, _ := runToEnd(t, dir, cli.Done, "runs", "show", "done", "--data", "old")
		require.NotContains(t, finished, "parked")
	}
}

func TestAParkedRunCannotBeResumed(t *testing.T) {
	dir := t.TempDir()
	oldStore(t, dir)
	_, stderr := runToEnd(t, dir, cli.Failed, "run", "--data", "old", "--resume", "gate")
	require.Contains(t, stderr, "\nsluice: run gate is parked: ")
	require.Contains(t, stderr, "it was started under other rules")
}

// Every command to a finished run returns the error that the run has finished, even if the run has the rules of another version.
func TestARunOfAnEarlierVersionHasFinished(t *testing.T) {
	dir := t.TempDir()
	oldStore(t, dir)
	for range 5 { // the result of the run may come before or after its events
		out, _ := runToEnd(t, dir, cli.Done, "run", "--data", "old", "--resume", "done", "-o", "quiet")
		require.Contains(t, out, "OPEN")
		_, stderr := runToEnd(t, dir, cli.Failed, "run", "--data", "old", "--resume", "broken", "-o", "quiet")
		require.Contains(t, stderr, "no_stock")
	}
	for _, args := range [][]string{
		{"pause", "done"}, {"resume", "done"}, {"cancel", "done"}, {"send", "done", "m"}, {"retry", "done", "a"}, {"abort", "done", "a"},
		{"decide", "done", "a", "fulfilled"}, {"explain", "done", "a"},
	} {
		_, stderr := runToEnd(t, dir, cli.Failed, append(args, "--data", "old")...)
		require.Contains(t, stderr, "the run has finished", "%v", args)
	}
	explained, _ := runToEnd(t, dir, cli.Done, "explain", "broken", "--data", "old")
	require.Regexp(t, `^run broken is failed\n  no_stock: `, explained)
}

//go:build unix

package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
)

// waitingWorkflow waits for a message.
const waitingWorkflow = `
kind: Workflow
name: patient
operations: {letter: {wait: {message: letter}}}
steps: [{operation: letter}]
output: "{{ steps.letter.output }}"
`

// serveIn starts a host in a folder and waits until it is ready.
func serveIn(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	p := launch(t, dir, append([]string{"serve", "--data", "journal"}, args...)...)
	eventually(t, "the host is ready", func() bool { return strings.Contains(p.stdout.String(), "ready: ") })
	return p
}

// Three terminals on one folder: a host, a run that is followed through two hosts, and a run that the follower leaves.
func TestARunIsFollowedThroughHosts(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "patient.yaml", waitingWorkflow)
	host := serveIn(t, dir)
	follower := launch(t, dir, "run", "patient.yaml", "--data", "journal", "--id", "followed")
	eventually(t, "it is followed", func() bool { return strings.Contains(follower.stdout.String(), "● running    letter") })
	leaver := launch(t, dir, "run", "patient.yaml", "--data", "journal", "--id", "left")
	eventually(t, "it is followed", func() bool { return strings.Contains(leaver.stdout.String(), "● running    letter") })
	leaver.signal(syscall.SIGINT)
	require.Equal(t, cli.Interrupted, leaver.wait())
	require.Regexp(t, `run left goes on without being followed; to follow or to cancel it, run:\n  .*sluice runs watch left --data journal\n`+
		`  .*sluice cancel left --data journal\n$`, leaver.stderr.String())

	host.signal(syscall.SIGKILL)
	require.Equal(t, -1, host.wait())
	eventually(t, "the follower says so", func() bool {
		return strings.Contains(follower.stderr.String(), "no process works on run followed any more; waiting for one")
	})
	host = serveIn(t, dir)
	for _, run := range []string{"followed", "left"} {
		send := launch(t, dir, "send", run, "letter", `"hello"`, "--data", "journal")
		require.Equal(t, cli.Done, send.wait(), &send.stderr)
	}
	require.Equal(t, cli.Done, follower.wait(), &follower.stderr)
	require.Contains(t, follower.stdout.String(), "✓ completed  run")
	require.Equal(t, 1, strings.Count(follower.stdout.String(), "▶ started"), "nothing is shown twice")
	host.signal(syscall.SIGTERM)
	require.Equal(t, cli.Done, host.wait())
	require.Equal(t, 1, strings.Count(host.stdout.String(), "\n"), "readiness is one line")
}

// A second signal ends a host with a program that does not end by itself.
func TestASecondSignalEndsAHostAtOnce(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "deaf.yaml", `
kind: Workflow
name: deaf
operations: {deaf: {command: {shell: "trap '' TERM; touch begun; while :; do sleep 0.1; done"}}}
steps: [{operation: deaf}]
`)
	host := serveIn(t, dir)
	start := launch(t, dir, "start", "deaf.yaml", "--data", "journal")
	require.Equal(t, cli.Done, start.wait(), &start.stderr)
	eventually(t, "the program runs", exists(dir+"/begun"))
	host.signal(syscall.SIGTERM)
	eventually(t, "it stops", func() bool { return strings.Contains(host.stderr.String(), "stopping") })
	host.signal(syscall.SIGTERM)
	require.Equal(t, cli.Interrupted, host.wait())
}

// A host logs once the reason that a run cannot go on, and lists that are read from the host show it.
func TestAHostSaysWhyRunsAreParked(t *testing.T) {
	dir := t.TempDir()
	oldStore(t, dir)
	host := launch(t, dir, "serve", "--data", "old")
	parked := func() int { return strings.Count(host.stderr.String(), "level=WARN msg=\"a run is parked") }
	eventually(t, "two runs are parked", func() bool { return parked() == 2 })
	list, _ := runToEnd(t, dir, cli.Done, "runs", "--data", "old")
	require.Regexp(t, `(?m)^gate +.*parked .*it was started under other rules`, list)
	require.Regexp(t, `(?m)^waits +.*parked .*it was started under other rules`, list)
	host.signal(syscall.SIGINT)
	require.Equal(t, cli.Done, host.wait())
	require.Equal(t, 2, parked(), &host.stderr)
}

// While a host works on the runs, runs are exported and imported, and the journal is copied, through the host.
func TestCopiesAreMadeThroughAHost(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "patient.yaml", waitingWorkflow)
	done := func(args ...string) string {
		p := launch(t, dir, args...)
		require.Equal(t, cli.Done, p.wait(), &p.stderr)
		return p.stdout.String()
	}
	host := serveIn(t, dir)
	done("start", "patient.yaml", "--data", "journal", "--id", "one")
	eventually(t, "it waits", func() bool { return strings.Contains(done("runs", "--data", "journal"), "for message letter") })
	done("export", "one", "--data", "journal", "-o", "one.jsonl")
	require.Contains(t, done("import", "one.jsonl", "--data", "journal"), "1 were there already")
	require.Contains(t, done("backup", "copy", "--data", "journal"), "copied to copy and read back: 1 runs")
	again := launch(t, dir, "backup", "journal/copy", "--data", "journal")
	require.Equal(t, cli.Refused, again.wait())
	require.Contains(t, again.stderr.String(), "is within the folder itself")

	host.signal(syscall.SIGTERM)
	require.Equal(t, cli.Done, host.wait())
	done("start", "patient.yaml", "--data", "elsewhere", "--id", "other")
	host = launch(t, dir, "serve", "--data", "elsewhere")
	eventually(t, "the host is ready", func() bool { return strings.Contains(host.stdout.String(), "ready: ") })
	require.Contains(t, done("import", "one.jsonl", "--data", "elsewhere"), "imported 1 run\n")
	require.Regexp(t, `one +patient +held`, done("runs", "--data", "elsewhere"))
	refused := launch(t, dir, "send", "one", "letter", `"hello"`, "--data", "elsewhere")
	require.Equal(t, cli.Failed, refused.wait())
	require.Contains(t, done("resume", "one", "--data", "elsewhere"), "a process works on the run")
	done("send", "one", "letter", `"hello"`, "--data", "elsewhere")
	eventually(t, "it ends", func() bool {
		return strings.Contains(done("runs", "--data", "elsewhere", "--where", "status:completed"), "one")
	})
	other := launch(t, dir, "import", "one.jsonl", "--data", "elsewhere")
	require.Equal(t, cli.Refused, other.wait())
	require.Regexp(t, `^sluice: one\.jsonl:\d+: the folder has a run of that id with other content`, other.stderr.String())
	host.signal(syscall.SIGTERM)
	require.Equal(t, cli.Done, host.wait())
}

// A host deletes expired runs by itself: runs that have ended before it began, runs that end later, and runs that a new rule selects.
func TestAHostDeletesWhatIsNotKept(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "one.yaml", "{kind: Workflow, name: one, operations: {one: {value: 1}}, steps: [{operation: one}]}")
	done := func(args ...string) string {
		p := launch(t, dir, append(args, "--data", "journal")...)
		require.Equal(t, cli.Done, p.wait(), &p.stderr)
		return p.stdout.String()
	}
	done("run", "one.yaml", "--id", "early", "--label", "keep=no")
	done("run", "one.yaml", "--id", "kept")
	done("keep", "0s", "--where", "label.keep:no")
	host := serveIn(t, dir)
	gone := func(run string) func() bool {
		return func() bool { return !strings.Contains(done("runs"), run) }
	}
	eventually(t, "what has ended before is deleted", gone("early"))
	for _, run := range []string{"later", "latest"} { // while only the time changes
		done("start", "one.yaml", "--id", run, "--label", "keep=no")
		eventually(t, "what ends later is deleted", gone(run))
	}
	require.Contains(t, done("runs"), "kept")
	done("keep", "0s")
	eventually(t, "the new rule counts", gone("kept"))
	require.Contains(t, host.stderr.String(), "deleted expired runs")
	host.signal(syscall.SIGTERM)
	require.Equal(t, cli.Done, host.wait())
}

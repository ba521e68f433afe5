//go:build unix

package main

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// counting is a workflow of commands. Each command appends a line to a file when it runs.
const counting = `
kind: Workflow
name: counting
operations:
  list: {command: {shell: "echo $SLUICE_STEP >> calls; seq 24", output: lines}}
  work: {command: {shell: "echo $SLUICE_STEP >> calls; sleep 0.02"}}
  weak: {command: {shell: "echo $SLUICE_STEP >> calls; sleep 0.01; [ $SLUICE_ATTEMPT -ge 3 ]"}}
steps:
  - {operation: list}
  - parallel:
      max_concurrency: 3
      steps:
        - map: {id: each, over: "{{ steps.list.output }}", steps: [{operation: work}, {operation: work, id: check}]}
        - {operation: weak, timing: {retry: {max_attempts: 3, backoff: PT0.02S}}}
  - conditional: {test: weak, then: [{operation: work, id: last}], else: [{operation: work, id: never}]}
output: all done
`

// The command is killed at least killsMin times, or killsAll times if SLUICE_EXHAUSTIVE is set, over several runs.
const (
	killsMin = 12
	killsAll = 120
)

// TestKilledAtAnyMomentARunIsResumed kills the command with SIGKILL, again and again, and resumes the run. A call with a journaled
// answer is not repeated, and any other call is repeated at most once for each kill.
func TestKilledAtAnyMomentARunIsResumed(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	kills, least := 0, killsMin
	if os.Getenv("SLUICE_EXHAUSTIVE") != "" {
		least = killsAll
	}
	for n := 0; kills < least; n++ {
		k := &killing{t: t, rng: rng, dir: t.TempDir(), answered: map[string]int{}, open: map[string]int{}}
		writeFile(t, k.dir, "w.yaml", counting)
		k.run()
		kills += k.kills
		t.Logf("run %d: killed %d times", n, k.kills)
		require.Less(t, n, least, "too few runs last long enough to be killed")
	}
}

// killing is one run that is killed until it has finished.
type killing struct {
	t        *testing.T
	rng      *rand.Rand
	dir      string
	kills    int
	answered map[string]int // by step: number of calls when its answer was first found in the journal
	open     map[string]int // by step: number of kills with a request in the journal and no answer
}

func (k *killing) run() {
	args := []string{"run", "w.yaml", "--id", "r", "--data", "journal", "-o", "json"}
	for {
		p := launch(k.t, k.dir, args...)
		if !k.killSoon(p) {
			break
		}
		k.kills++
		k.inspect()
		args = []string{"run", "--data", "journal", "--resume", "r", "-o", "json"}
	}
	calls := k.calls()
	for step, n := range calls {
		attempts := 1
		if step == "weak" {
			attempts = 3
		}
		require.LessOrEqual(k.t, n, attempts+k.open[step], "step %s: a call in progress at a kill is repeated once", step)
	}
	require.Len(k.t, calls, 1+24+24+1+1, "every step has been called")
	for step, n := range k.answered {
		require.Equal(k.t, n, calls[step], "step %s was called again after it had been answered", step)
	}
}

// killSoon kills the command after a few more calls or events. It reports false if the run has finished before.
func (k *killing) killSoon(p *process) bool {
	k.t.Helper()
	calls, events := k.rng.IntN(12), 1+k.rng.IntN(30)
	if k.rng.IntN(2) == 0 {
		calls = 1000 // wait for events only
	} else {
		events = 100000
	}
	before := k.total()
	ended := make(chan int, 1)
	go func() { ended <- p.wait() }()
	code := -2
	eventually(k.t, "calls or events", func() bool {
		select {
		case code = <-ended:
			return true
		default:
		}
		return k.total() > before+calls || strings.Count(p.stdout.String(), "\n") >= events
	})
	if code == -2 {
		p.signal(syscall.SIGKILL)
		code = <-ended
	}
	if code == -1 {
		return true
	}
	require.Equal(k.t, cli.Done, code, "%s%s", &p.stdout, &p.stderr)
	require.Contains(k.t, p.stdout.String(), `{"result":{"run":"r","status":"completed","output":"all done"}}`)
	return false
}

// inspect reads the journal after a kill. It reads a copy, so that the next process finds the files unchanged.
func (k *killing) inspect() {
	store, err := disk.Open(k.copyJournal(), disk.Config{})
	require.NoError(k.t, err)
	defer func() { require.NoError(k.t, store.Close()) }()
	calls := k.calls()
	open := map[string]bool{}
	last := map[string]journal.Type{}
	for e, err := range store.Read(context.Background(), "r", 1) {
		require.NoError(k.t, err)
		switch e.Type {
		case journal.CallRequested:
			open[e.Node] = true
		case journal.CallResponded, journal.CallError:
			delete(open, e.Node)
		default:
			continue
		}
		last[e.Node] = e.Type
	}
	for step := range open {
		k.open[step]++
	}
	for step, was := range last {
		if _, known := k.answered[step]; !known && was == journal.CallResponded {
			k.answered[step] = calls[step]
		}
	}
}

// copyJournal copies the regular files of the journal's folder, which also has a socket.
func (k *killing) copyJournal() string {
	from, to := filepath.Join(k.dir, "journal"), filepath.Join(k.t.TempDir(), "journal")
	require.NoError(k.t, filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		require.NoError(k.t, err)
		name, err := filepath.Rel(from, path)
		require.NoError(k.t, err)
		switch target := filepath.Join(to, name); {
		case entry.IsDir():
			return os.Mkdir(target, 0o700)
		case entry.Type().IsRegular():
			data, err := os.ReadFile(path)
			require.NoError(k.t, err)
			return os.WriteFile(target, data, 0o600)
		}
		return nil
	}))
	return to
}

// calls returns the number of calls of each step: the lines that they have written.
func (k *killing) calls() map[string]int {
	counts := map[string]int{}
	if !exists(filepath.Join(k.dir, "calls"))() {
		return counts
	}
	for _, step := range lines(k.t, filepath.Join(k.dir, "calls")) {
		counts[step]++
	}
	return counts
}

func (k *killing) total() int {
	info, err := os.Stat(filepath.Join(k.dir, "calls"))
	if err != nil {
		return 0
	}
	// Lines are of about the same length: an estimate suffices.
	return int(info.Size()) / len("check[10]\n")
}

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
)

// TestTogether runs the scripts in which several processes work on one directory. In short mode, as under the race detector, it omits the
// scripts with processes that run one after the other.
func TestTogether(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join("testdata", "together", "*.txtar"))
	require.NoError(t, err)
	if testing.Short() {
		scripts = slices.DeleteFunc(scripts, func(name string) bool {
			return slices.Contains([]string{"alone.txtar", "awaits.txtar", "explain.txtar", "help.txtar"}, filepath.Base(name))
		})
	}
	testscript.Run(t, testscript.Params{
		Files:               scripts,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("SLUICE_UPDATE") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("USER", "ann")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "until": until, "onewins": oneWins},
	})
}

// until repeats a command until its output matches: `until 'RUN' sluice runs list`. Otherwise only the deadline of the test ends it.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until regexp command [args...]")
	}
	want := regexp.MustCompile(args[0])
	for {
		err := ts.Exec(args[1], args[2:]...)
		if err == nil && want.MatchString(ts.ReadFile("stdout")) {
			return
		}
	}
}

// oneWins runs a command several times at once: `onewins 4 sluice decide …`. One must succeed, the others must exit with 1.
func oneWins(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: onewins n command [args...]")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	codes := make([]int, n)
	said := make([][]byte, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			cmd := exec.Command(args[1], args[2:]...)
			cmd.Dir = ts.MkAbs(".")
			said[i], _ = cmd.CombinedOutput()
			codes[i] = cmd.ProcessState.ExitCode()
		})
	}
	all.Wait()
	slices.Sort(codes)
	if codes[0] != cli.Done || n > 1 && (codes[1] != cli.Failed || codes[n-1] != cli.Failed) {
		ts.Fatalf("exit codes %v\n%s", codes, bytes.Join(said, nil))
	}
}

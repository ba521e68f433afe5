package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// TestMain lets scripts run the test binary as the command, and as programs that use the library, in separate processes.
func TestMain(m *testing.M) {
	testscript.Main(testMain{m}, map[string]func(){"sluice": main, "program": programMain, "suspended": suspendedMain, "teller": workerMain})
}

// testMain runs the tests, removes the compiled command, and checks for leaked goroutines.
type testMain struct{ m *testing.M }

func (c testMain) Run() int {
	code := c.m.Run()
	if compiled.dir != "" {
		os.RemoveAll(compiled.dir)
	}
	if err := goleak.Find(); code == 0 && err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		return 1
	}
	return code
}

// In short mode, as under the race detector, only the scripts of the verb run are run. Their processes make calls; the processes of other
// scripts only read or write a folder, sequentially.
func TestScripts(t *testing.T) {
	pattern := "*.txtar"
	if testing.Short() {
		pattern = "run-*.txtar"
	}
	scripts, err := filepath.Glob(filepath.Join("testdata", "script", pattern))
	require.NoError(t, err)
	testscript.Run(t, testscript.Params{
		Files:               scripts,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("SLUICE_UPDATE") != "",
		Setup: func(e *testscript.Env) error {
			scratch := filepath.Join(e.WorkDir, "scratch")
			e.Setenv("TMPDIR", scratch)
			return os.Mkdir(scratch, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits runs a command and requires an exit code: `exits 2 sluice validate bad.yaml`. The output can be checked as after exec.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

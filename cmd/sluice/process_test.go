//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// compiled is the compiled command. The first test that needs it builds it; it is removed after the last test.
var compiled struct {
	once sync.Once
	dir  string
	err  error
}

// program returns the path of the compiled command, for tests that kill it or send it signals. It skips the test in short mode, as under
// the race detector: the command is built without the race detector.
func program(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts processes that the race detector does not see")
	}
	compiled.once.Do(func() {
		if compiled.dir, compiled.err = os.MkdirTemp("", "sluice-test-"); compiled.err != nil {
			return
		}
		var out []byte
		if out, compiled.err = exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(compiled.dir, "sluice"), ".").CombinedOutput(); compiled.err != nil {
			t.Logf("%s", out)
		}
	})
	require.NoError(t, compiled.err)
	return filepath.Join(compiled.dir, "sluice")
}

// process is the command, running in a folder.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout output
	stderr output
}

// output holds the output of a process so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// launch starts the command in dir, with its own folder for temporary files.
func launch(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(program(t), args...)}
	scratch := filepath.Join(dir, "scratch")
	require.NoError(t, os.MkdirAll(scratch, 0o700))
	p.cmd.Dir, p.cmd.Env = dir, append(os.Environ(), "TMPDIR="+scratch)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	require.NoError(t, p.cmd.Start())
	return p
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(s))
}

// wait returns the exit code; -1 when a signal ended the process.
func (p *process) wait() int {
	p.t.Helper()
	err := p.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	require.NoError(p.t, err)
	return 0
}

// eventually waits until a condition about another process holds.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for range 60_000 / 2 {
		if is() {
			return
		}
		<-tick.C
	}
	t.Fatalf("timeout: %s", what)
}

func exists(file string) func() bool {
	return func() bool { _, err := os.Stat(file); return err == nil }
}

// isGone returns a function that reports whether the process with the id in a file has ended.
func isGone(t *testing.T, file string) func() bool {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	id, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	return func() bool {
		// It may be a zombie, which its parent has not reaped yet.
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
		return err == nil && strings.Contains(string(stat), ") Z ") || errors.Is(syscall.Kill(id, 0), syscall.ESRCH)
	}
}

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func isEmpty(t *testing.T, dir string) bool {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	return len(entries) == 0
}

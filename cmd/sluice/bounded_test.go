//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/template/document"
)

// Verbs read only regular files, within a limit: a device may have no end, and a pipe waits for its writer.
func TestOnlyFilesOfABoundedSizeAreRead(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	good := writeFile(t, dir, "good.yaml", "kind: Workflow\nname: w\nsteps: [{operation: noop}]\n")
	scenarioOf := func(path string) string {
		return writeFile(t, dir, "scenario.yaml", "kind: Scenario\nname: s\nworkflow: "+path+"\nexpect: {run: completed}\n")
	}
	parentOf := func(path string) string {
		return writeFile(t, dir, "parent.yaml",
			"kind: Workflow\nname: p\noperations: {below: {workflow: {path: "+path+"}}}\nsteps: [{operation: below}]\n")
	}
	large := writeFile(t, dir, "large.yaml", strings.Repeat("#", document.BytesMax+1))
	largeInput := writeFile(t, dir, "large.json", strings.Repeat(" ", cli.InputMax+1))
	for name, args := range map[string]func(path string) []string{
		"run":             func(path string) []string { return []string{"run", path} },
		"validate":        func(path string) []string { return []string{"validate", path} },
		"check":           func(path string) []string { return []string{"check", path} },
		"graph":           func(path string) []string { return []string{"graph", path} },
		"convert":         func(path string) []string { return []string{"convert", "wfformat", path} },
		"import":          func(path string) []string { return []string{"import", path, "--data", dir} },
		"test":            func(path string) []string { return []string{"test", path} },
		"test's workflow": func(path string) []string { return []string{"test", scenarioOf(path)} },
		"child":           func(path string) []string { return []string{"run", parentOf(path)} },
		"input":           func(path string) []string { return []string{"run", good, "--input", "@" + path} },
		"directory":       func(path string) []string { return []string{"run", good, "--directory", path} },
		"send":            func(path string) []string { return []string{"send", "r", "m", "@" + path, "--data", dir} },
	} {
		for path, what := range map[string]string{pipe: "is a pipe, not a regular file", "/dev/zero": "is a device, not a regular file"} {
			t.Run(name+" "+filepath.Base(path), func(t *testing.T) {
				code, out, said := runInProcess(t, args(path)...)
				require.NotZero(t, code, out)
				require.Contains(t, out+said, what)
			})
		}
		t.Run(name+" large", func(t *testing.T) {
			path, limit := large, document.BytesMax
			switch name {
			case "input", "send":
				path, limit = largeInput, cli.InputMax
			case "convert", "import":
				t.Skip("this file has another limit, or none: it is read line by line")
			}
			code, out, said := runInProcess(t, args(path)...)
			require.NotZero(t, code, out)
			require.Contains(t, out+said, path+" is too large: it has "+strconv.Itoa(limit+1)+" bytes, at most "+strconv.Itoa(limit)+" are read")
		})
	}
}

// runInProcess executes the command within the process of the test.
func runInProcess(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, said bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetErr(&said)
	root.SetArgs(args)
	at, err := root.ExecuteC()
	code = cli.Report(&said, at, err)
	return code, out.String(), said.String()
}

func TestStandardInputIsRead(t *testing.T) {
	dir := t.TempDir()
	w := writeFile(t, dir, "w.yaml", "kind: Workflow\nname: w\nsteps: [{operation: noop}]\n")

	t.Run("within a limit", func(t *testing.T) {
		zero, err := os.Open("/dev/zero")
		require.NoError(t, err)
		defer zero.Close()
		p := &process{t: t, cmd: exec.Command(program(t), "run", w, "--input", "-")}
		p.cmd.Stdin, p.cmd.Stderr = zero, &p.stderr
		require.NoError(t, p.cmd.Start())
		require.Equal(t, cli.Refused, p.wait())
		require.Contains(t, p.stderr.String(), "--input: standard input is too large: it has more than the 33554432 bytes that are read")
	})
	for name, signal := range map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM} {
		t.Run("until "+name, func(t *testing.T) {
			p := &process{t: t, cmd: exec.Command(program(t), "run", w, "--input", "-")}
			stdin, err := p.cmd.StdinPipe()
			require.NoError(t, err)
			require.NoError(t, p.cmd.Start())
			// Write more than the capacity of a pipe: when the write returns, the command has begun to read.
			_, err = io.WriteString(stdin, strings.Repeat(" ", 1<<20))
			require.NoError(t, err)
			p.signal(signal)
			require.Equal(t, -1, p.wait(), "the signal ends the command, although its input has not ended")
		})
	}
}

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
)

// terminal is the command, running on a pseudoterminal.
type terminal struct {
	process
	keyboard *os.File
	closed   chan struct{} // closed when all output has been read
}

// openTerminal returns both ends of a terminal of 80 by 24 characters.
func openTerminal(t *testing.T) (keyboard, screen *os.File) {
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this machine has no pseudoterminals: %v", err)
	}
	fd := int(keyboard.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	return keyboard, screen
}

// launchOnTerminal starts the command on a terminal. Variables of env replace those of the test.
func launchOnTerminal(t *testing.T, dir string, env []string, args ...string) *terminal {
	t.Helper()
	keyboard, screen := openTerminal(t)
	defer screen.Close()
	p := &terminal{keyboard: keyboard, closed: make(chan struct{})}
	p.t, p.cmd = t, exec.Command(program(t), args...)
	p.cmd.Dir = dir
	p.cmd.Env = append(append(os.Environ(), "TERM=xterm-256color", "NO_COLOR=", "COLORTERM=", "TMUX=", "CI="), env...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = screen, screen, screen
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, p.cmd.Start())
	go func() {
		defer close(p.closed)
		_, err := io.Copy(&p.stdout, keyboard)
		if err != nil && !errors.Is(err, syscall.EIO) { // EIO: the other end is closed
			t.Errorf("read the terminal: %v", err)
		}
	}()
	return p
}

// end waits for the command and returns its exit code and output.
func (p *terminal) end() (code int, raw string) {
	code = p.wait()
	<-p.closed
	require.NoError(p.t, p.keyboard.Close())
	return code, strings.ReplaceAll(p.stdout.String(), "\r\n", "\n")
}

func (p *terminal) shows(text string) func() bool {
	return func() bool { return strings.Contains(ansi.Strip(p.stdout.String()), text) }
}

const flow = `
kind: Workflow
name: flow
operations: {v: {value: 1}, bad: {command: {shell: "printf 'because\n\\033[2Jof this\n' >&2; exit 2"}}}
steps:
  - {operation: v, id: first}
  - map: {id: each, over: [1, 2, 3], steps: [{operation: v, id: one}]}
  - conditional: {test: "{{ input.fail }}", then: [{operation: bad}]}
output: {done: true}
`

func TestATreeStaysOnTheTerminal(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "w.yaml", flow)
	code, raw := launchOnTerminal(t, dir, nil, "run", "w.yaml", "--input", `{"fail": false}`).end()
	require.Equal(t, cli.Done, code)
	require.Contains(t, raw, "\x1b[32m✓", "the output has colours")
	text := ansi.Strip(raw)
	require.Regexp(t, `✓ flow +completed +\d+ms  5/5 steps\n`, text)
	require.Regexp(t, `├─ ✓ each +3/3 completed +\d+ms\n`, text)
	require.Regexp(t, `└─ if input\.fail  skipped\n`, text)
	require.True(t, strings.HasSuffix(text, "\n\n{\n  \"done\": true\n}\n"), "%q", text)
}

func TestFailuresAreAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "w.yaml", flow)
	code, raw := launchOnTerminal(t, dir, nil, "run", "w.yaml", "--id", "r", "--input", `{"fail": true}`).end()
	require.Equal(t, cli.Failed, code)
	text := ansi.Strip(raw)
	require.Regexp(t, `└─ ✗ bad +failed +\d+ms  exit: exit status 2: of this\n`, text)
	require.Contains(t, text, "✗ bad: exit: exit status 2: of this\n  stderr:\n  │ because\n  │ of this\nrun r: failed: exit: exit status 2: of this\n")
	require.NotContains(t, raw, "\x1b[2Jof", "control sequences of a program do not reach the terminal")
}

// No verb writes control sequences of runs, documents and actors to a terminal; other outputs have the data unchanged.
func TestControlSequencesDoNotReachTheTerminal(t *testing.T) {
	dir := t.TempDir()
	const evil = `\e[2Jcleared\x9b2J\e]0;titled\a\u202ereversed`
	writeFile(t, dir, "good.yaml", `
kind: Workflow
name: "good"
operations: {v: {value: "{{ input }}"}}
steps: [{id: a, operation: v, input: "`+evil+`"}]
output: "{{ steps.a.output }}"
`)
	writeFile(t, dir, "bad.yaml", `
kind: Workflow
name: bad
operations: {f: {fail: {code: no, message: "`+evil+`"}}}
steps: [{id: a, operation: f}]
`)
	writeFile(t, dir, "wrong.yaml", `
kind: Workflow
name: wrong
"`+evil+`": 1
steps: [{operation: "`+evil+`"}]
`)
	writeFile(t, dir, "evil.scenario.yaml", `
kind: Scenario
name: evil
workflow: {kind: Workflow, name: w, steps: [{operation: a}]}
operations: {a: {output: "`+evil+`"}}
expect: {run: completed, steps: {a: {output: other}}}
`)
	require.Zero(t, launch(t, dir, "run", "good.yaml", "--data", "j", "--id", "g").wait())
	require.Equal(t, cli.Failed, launch(t, dir, "run", "bad.yaml", "--data", "j", "--id", "b").wait())
	for _, args := range [][]string{
		{"run", "good.yaml"}, {"run", "good.yaml", "-o", "quiet"}, {"run", "bad.yaml"}, {"run", "bad.yaml", "-o", "quiet"},
		{"validate", "wrong.yaml"}, {"run", "wrong.yaml"}, {"test", "evil.scenario.yaml"}, {"check", "bad.yaml"},
		{"runs", "show", "g", "--data", "j"}, {"runs", "output", "g", "--data", "j"}, {"runs", "events", "b", "--data", "j"},
		{"explain", "b", "a", "--data", "j"}, {"runs", "show", "\x1b[2J\u009b2J", "--data", "j"}, {"\x1b[2J\u009b2J"},
		{"run", "good.yaml", "-o", "json"}, {"runs", "show", "g", "--data", "j", "-o", "json"}, {"runs", "show", "g", "--data", "j", "-o", "jsonl"},
		{"runs", "events", "b", "--data", "j", "-o", "json"}, {"explain", "b", "a", "--data", "j", "-o", "json"}, {"check", "bad.yaml", "-o", "json"},
	} {
		_, raw := launchOnTerminal(t, dir, nil, args...).end()
		for _, command := range []string{"\x1b[2Jc", "\x1b]0;titled", "\u009b", "\u202e"} {
			require.NotContains(t, raw, command, args)
		}
	}
	p := launch(t, dir, "run", "good.yaml", "-o", "quiet")
	require.Zero(t, p.wait())
	require.Contains(t, p.stdout.String(), "\x1b[2Jcleared\u009b2J")
}

func TestNOCOLORDisablesColours(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "w.yaml", flow)
	_, raw := launchOnTerminal(t, dir, []string{"NO_COLOR=1"}, "run", "w.yaml", "--input", `{"fail": false}`).end()
	require.NotRegexp(t, "\x1b\\[[0-9;]*3[0-7]m", raw)
	require.Contains(t, ansi.Strip(raw), "✓ flow")
}

func TestATerminalThatCannotRedrawGetsLines(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "w.yaml", flow)
	code, raw := launchOnTerminal(t, dir, []string{"TERM=dumb"}, "run", "w.yaml", "--input", `{"fail": false}`).end()
	require.Equal(t, cli.Done, code)
	require.NotContains(t, raw, "\x1b")
	require.Contains(t, raw, "✓ completed  first")
}

// TestCtrlCIsAKeyOnATerminal presses Ctrl-C: the terminal sends no signal while the tree is drawn.
func TestCtrlCIsAKeyOnATerminal(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "w.yaml", holding)
	p := launchOnTerminal(t, dir, nil, "run", "w.yaml")
	pid := filepath.Join(dir, "pid")
	eventually(t, "the step to begin", exists(pid))
	gone := isGone(t, pid)
	eventually(t, "the tree", p.shows("hold"))
	_, err := p.keyboard.WriteString("\x03")
	require.NoError(t, err)
	code, raw := p.end()
	require.Equal(t, cli.Interrupted, code)
	require.Regexp(t, `⊘ holding +aborted`, ansi.Strip(raw))
	eventually(t, "the command to be stopped", gone)
}

func TestASecondCtrlCRestoresTheTerminal(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "w.yaml", stubborn)
	p := launchOnTerminal(t, dir, nil, "run", "w.yaml", "--data", "journal", "--id", "r")
	eventually(t, "the step to begin", exists(filepath.Join(dir, "pid")))
	eventually(t, "the tree", p.shows("hold"))
	_, err := p.keyboard.WriteString("\x03")
	require.NoError(t, err)
	eventually(t, "the note", p.shows("suspending"))
	_, err = p.keyboard.WriteString("\x03")
	require.NoError(t, err)
	code, raw := p.end()
	require.Equal(t, cli.Interrupted, code)
	require.Greater(t, strings.LastIndex(raw, "\x1b[?25h"), strings.LastIndex(raw, "\x1b[?25l"), "the cursor is shown again")
}

package operation

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

// Limits of the output of a command. Of an error stream, and of output that is not parsed as data, the command keeps the end, with
// a line about the number of omitted bytes. Output that is data must be complete: it is refused if it is larger.
const (
	StdoutMax = 1 << 20  // bytes
	StderrMax = 64 << 10 // bytes
)

// Streams of a program.
const (
	Stdout = "stdout"
	Stderr = "stderr"
)

// graceTime bounds the time of processes after SIGTERM, or after the exit of the command that started them.
const graceTime = 2 * time.Second

// command is the Caller of a command binding: each call runs the program once.
//
// The program receives the binding's variables, four that identify the call (SLUICE_RUN, SLUICE_STEP, SLUICE_ATTEMPT and
// SLUICE_IDEMPOTENCY_KEY), and from this process PATH, HOME, LANG, TMPDIR and those passed to Bind: others may be secrets. It
// runs in a process group of its own. When the context of the call ends, the group receives SIGTERM, and SIGKILL a grace period
// later. When the program has exited, its child processes have the same time to close the output, and are then killed: no process
// outlives the call, unless it has left the group by making its own session. The same is true if this process is killed: a guard, a
// separate shell, then kills the group, on Linux after the kernel has killed the program. Processes remain only if this process is
// killed between the start of the program and its registration with the guard, or if the guard is killed, too.
type command struct {
	bound  *template.Bound
	output string // "", text, json or lines
	passed []string
	grace  time.Duration
}

func (b *command) Call(c *Call) (any, error) {
	cmd, stdin, err := b.prepare(c)
	if err != nil {
		return nil, err
	}
	if c.Err() != nil {
		return nil, cancelled(c)
	}
	p := &process{cmd: cmd, grace: b.grace, stdin: stdin}
	p.stdout.limit, p.stderr.limit = StdoutMax, StderrMax
	p.redactor = c.redactor()
	if h, ok := c.host.(outputHost); ok {
		p.stdout.live, p.stderr.live = h.Writes(Stdout), h.Writes(Stderr)
	}
	if b.output != "" {
		p.stdout.full = p.kill // the output is refused in any case
		p.whole = true
	}
	if err := p.run(c); err != nil {
		return nil, notStarted(cmd, err)
	}
	return b.outcome(c, p)
}

// prepare evaluates the binding.
func (b *command) prepare(c *Call) (cmd *exec.Cmd, stdin []byte, err error) {
	s := &scope{call: c}
	argv, err := b.argv(s)
	if err != nil {
		return nil, nil, err
	}
	env, err := s.texts("env", b.bound.Env)
	if err != nil {
		return nil, nil, err
	}
	cmd = exec.Command(argv[0], argv[1:]...)
	if cmd.Dir, err = s.text("dir", b.bound.Dir); err != nil {
		return nil, nil, err
	}
	if c.Dir != "" && !filepath.IsAbs(cmd.Dir) {
		cmd.Dir = filepath.Join(c.Dir, cmd.Dir)
	}
	if b.bound.Stdin != nil {
		if stdin, _, err = s.payload("stdin", b.bound.Stdin); err != nil {
			return nil, nil, err
		}
	}
	cmd.Env = environment(c, b.passed, env)
	return cmd, stdin, nil
}

// argv returns the program and its arguments. It omits null arguments, as an environment omits null variables.
func (b *command) argv(s *scope) ([]string, error) {
	if b.bound.Shell != nil {
		script, err := s.text("shell", b.bound.Shell)
		return []string{"/bin/sh", "-c", script}, err
	}
	v, err := s.eval("argv", b.bound.Argv)
	if err != nil {
		return nil, err
	}
	list, _ := v.([]any)
	argv := make([]string, 0, len(list))
	for _, arg := range list {
		if arg != nil {
			argv = append(argv, value.Text(arg))
		}
	}
	if len(argv) == 0 || argv[0] == "" {
		return nil, &Error{Code: CodeNotStarted, Message: "argv names no program", Permanent: true}
	}
	return argv, nil
}

// notStarted returns the failure of a command that did not start. The failure is permanent, unless the cause was a lack of
// resources of the machine.
func notStarted(cmd *exec.Cmd, err error) error {
	if cmd.Dir != "" {
		// The error of the system would report the program as missing.
		if _, missing := os.Stat(cmd.Dir); missing != nil {
			err = missing
		}
	}
	return &Error{Code: CodeNotStarted, Message: err.Error(), Permanent: !isShortage(err), Err: err}
}

// outcome returns the output of the program, or its failure.
func (b *command) outcome(c *Call, p *process) (any, error) {
	switch {
	case b.output != "" && p.stdout.isCut():
		return nil, &Error{Code: CodeTooLarge, Permanent: true,
			Message: fmt.Sprintf("the output is larger than %d bytes: write it to a file and print its name", StdoutMax)}
	case p.state.Success():
		return b.parse(c, p)
	case c.Err() != nil:
		return nil, cancelled(c)
	}
	return nil, exitError(c, p)
}

// parse converts the output of the program to the output of the step.
func (b *command) parse(c *Call, p *process) (any, error) {
	text := p.stdout.String()
	switch b.output {
	case "text":
		return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"), nil
	case "lines":
		text = c.redact(text) // before splitting: a single line of a secret might not be recognized
		if err := c.takeNodes(len(text), strings.Count(text, "\n")+2); err != nil {
			return nil, err
		}
		return lines(text), nil
	case "json":
		return c.parseJSON("standard output", []byte(text))
	}
	return map[string]any{"exit_code": int64(0), "stdout": text, "stderr": p.stderr.String()}, nil
}

// lines returns the lines of a text without their ends. The last line needs no end.
func lines(text string) []any {
	list := []any{}
	for line := range strings.Lines(text) {
		list = append(list, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
	}
	return list
}

// exitError returns the failure of a program with a nonzero exit code. The message ends with the last line of the error stream,
// where programs name the cause; the details have more of it. The exit code is -1 if a signal ended the program.
func exitError(c *Call, p *process) error {
	details := map[string]any{"exit_code": int64(p.state.ExitCode())}
	message := p.state.String() // such as "exit status 2" or "signal: killed"
	if stderr := p.stderr.String(); stderr != "" {
		details["stderr"] = stderr
		if line := lastLine(stderr); line != "" {
			message += ": " + line
		}
	}
	// Many programs report errors on standard output. A failure includes at most as much of it as of the error stream.
	if p.whole {
		p.stdout.kept = []byte(c.redact(string(p.stdout.kept)))
	}
	p.stdout.limit = StderrMax
	if stdout := p.stdout.String(); stdout != "" {
		details["stdout"] = stdout
	}
	return &Error{Code: CodeExit, Message: message, Details: details}
}

// lastLine returns the last nonempty line, cut to the length of a message.
func lastLine(text string) string {
	const limit = 500
	text = strings.TrimSpace(text)
	line := []rune(strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]))
	if len(line) > limit {
		return string(line[:limit-1]) + "…"
	}
	return string(line)
}

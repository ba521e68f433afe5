package operation

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

// Limits of what a command may print. Of an error stream, and of an output that nobody reads as data, the end is kept and
// a line says how much was left out; output that is data must be whole, and is refused when it is larger.
const (
	StdoutMax = 1 << 20  // bytes
	StderrMax = 64 << 10 // bytes
)

// graceTime is how long processes have to end after SIGTERM, or after the command that started them has exited.
const graceTime = 2 * time.Second

// command is the Caller of a command binding: each call runs the program once.
//
// The program gets the binding's variables, four that say which call it serves (SLUICE_RUN, SLUICE_STEP, SLUICE_ATTEMPT and
// SLUICE_IDEMPOTENCY_KEY), and of this process PATH, HOME, LANG, TMPDIR and those that Bind was told: whatever else is there
// may be a secret. It runs in a process group of its own. When the call's context ends, the group gets SIGTERM, and SIGKILL
// a grace period later. When the program has exited, what it has started has the same time to close the output, and is then
// killed: nothing outlives the call, unless it has left the group by making a session of its own. That holds, too, when this
// process is killed: a guard, a shell of its own, then kills the group, on Linux after the kernel has killed the program. Only
// a program that is killed in the moment between its start and the guard's learning of it leaves behind what it had started by
// then, and so does one whose guard was killed as well.
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
	if b.output != "" {
		p.stdout.full = p.kill // what comes of it can only be refused
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
	if b.bound.Stdin != nil {
		if stdin, _, err = s.payload("stdin", b.bound.Stdin); err != nil {
			return nil, nil, err
		}
	}
	cmd.Env = environment(c, b.passed, env)
	return cmd, stdin, nil
}

// argv gives the program and its arguments. Like a variable of the environment, an argument that is null is left out.
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

// notStarted is the failure of a command that never ran. It is final, unless the machine was only short of something.
func notStarted(cmd *exec.Cmd, err error) error {
	if cmd.Dir != "" {
		// The system's own error would have it that the program is missing.
		if _, missing := os.Stat(cmd.Dir); missing != nil {
			err = missing
		}
	}
	return &Error{Code: CodeNotStarted, Message: err.Error(), Permanent: !isShortage(err), Err: err}
}

// outcome is what the exit of the program means.
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

// parse makes the step's output of what the program has printed.
func (b *command) parse(c *Call, p *process) (any, error) {
	text := p.stdout.String()
	switch b.output {
	case "text":
		return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"), nil
	case "lines":
		text = c.redact(text) // of a secret that is broken into lines no line tells what it is
		if err := c.takeNodes(len(text), strings.Count(text, "\n")+2); err != nil {
			return nil, err
		}
		return lines(text), nil
	case "json":
		return c.parseJSON("standard output", []byte(text))
	}
	return map[string]any{"exit_code": int64(0), "stdout": text, "stderr": p.stderr.String()}, nil
}

// lines gives the lines of a text without their ends. The last need not have one.
func lines(text string) []any {
	list := []any{}
	for line := range strings.Lines(text) {
		list = append(list, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
	}
	return list
}

// exitError is the failure of a program that has said so. Its message ends with the last line of the error stream, which
// is where programs name the cause; the details have more. The exit code is -1 for a program that a signal has ended.
func exitError(c *Call, p *process) error {
	details := map[string]any{"exit_code": int64(p.state.ExitCode())}
	message := p.state.String() // such as "exit status 2" or "signal: killed"
	if stderr := p.stderr.String(); stderr != "" {
		details["stderr"] = stderr
		if line := lastLine(stderr); line != "" {
			message += ": " + line
		}
	}
	// Many programs report on standard output what has gone wrong. A failure takes no more of it than of the other stream.
	if p.whole {
		p.stdout.kept = []byte(c.redact(string(p.stdout.kept)))
	}
	p.stdout.limit = StderrMax
	if stdout := p.stdout.String(); stdout != "" {
		details["stdout"] = stdout
	}
	return &Error{Code: CodeExit, Message: message, Details: details}
}

// lastLine gives the last line that says something, short enough for a message.
func lastLine(text string) string {
	const limit = 500
	text = strings.TrimSpace(text)
	line := []rune(strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]))
	if len(line) > limit {
		return string(line[:limit-1]) + "…"
	}
	return string(line)
}

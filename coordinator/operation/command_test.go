//go:build unix

package operation_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/template"
)

// never is a grace period longer than any test.
const never = time.Hour

func run(t testing.TB, b template.Command, input any) (any, error) {
	t.Helper()
	return bind(t, template.Binding{Command: &b}).Call(newCall(input))
}

func TestCommandOutcomes(t *testing.T) {
	for _, tt := range []struct {
		name string
		cmd  template.Command
		in   any
		want any
	}{
		{"without an output, all data is returned", template.Command{Shell: "echo out; echo err >&2"}, nil,
			map[string]any{"exit_code": int64(0), "stdout": "out\n", "stderr": "err\n"}},
		{"one line end is removed from a text", template.Command{Shell: `printf 'a\n\n'`, Output: "text"}, nil, "a\n"},
		{"a text without a line end", template.Command{Argv: []string{"printf", "a"}, Output: "text"}, nil, "a"},
		{"an empty text", template.Command{Argv: []string{"true"}, Output: "text"}, nil, ""},
		{"lines", template.Command{Shell: `printf 'a\r\n\nb'`, Output: "lines"}, nil, []any{"a", "", "b"}},
		{"no lines", template.Command{Argv: []string{"true"}, Output: "lines"}, nil, []any{}},
		{"one empty line", template.Command{Argv: []string{"echo"}, Output: "lines"}, nil, []any{""}},
		{"json", template.Command{Argv: []string{"echo", `{"a": [1, 2.5, null]}`}, Output: "json"}, nil,
			map[string]any{"a": []any{int64(1), 2.5, nil}}},
		{"input is empty unless it is given", template.Command{Argv: []string{"cat"}, Output: "text"}, "unused", ""},
		{"text as input is passed as it is", template.Command{Argv: []string{"cat"}, Stdin: "{{ input }}", Output: "text"}, "a \"b\"", "a \"b\""},
		{"other input is passed as JSON", template.Command{Argv: []string{"cat"}, Stdin: map[string]any{"in": "{{ input }}"}, Output: "text"},
			[]any{1, nil}, `{"in":[1,null]}`},
		{"a program need not read its input", template.Command{Argv: []string{"true"}, Stdin: "{{ input }}", Output: "text"},
			strings.Repeat("x", 1<<20), ""},
		{"large input comes back", template.Command{Argv: []string{"cat"}, Stdin: "{{ input }}", Output: "text"},
			strings.Repeat("x", operation.StdoutMax), strings.Repeat("x", operation.StdoutMax)},
		{"arguments are not shell words", template.Command{Argv: []string{"printf", "%s", "{{ input }}"}, Output: "text"},
			"$(id); 'a' *", "$(id); 'a' *"},
		{"arguments that are null are left out", template.Command{Argv: []string{"echo", "{{ input.a ?? null }}", "{{ input.b }}"}, Output: "text"},
			map[string]any{"a": nil, "b": true}, "true"},
		{"variables are added to the environment", template.Command{Shell: `echo "$A $LANG"`, Output: "text",
			Env: map[string]string{"A": "{{ input }}", "LANG": "{{ null }}"}}, "1 2", "1 2 yes"},
		{"variables name the call", template.Command{
			Shell: `echo "$SLUICE_RUN $SLUICE_STEP $SLUICE_ATTEMPT $SLUICE_IDEMPOTENCY_KEY"`, Output: "text"}, nil, "r s[1] 2 r/s[1]"},
		{"a binding may name it otherwise", template.Command{Shell: `echo "$SLUICE_RUN"`, Output: "text",
			Env: map[string]string{"SLUICE_RUN": "mine"}}, nil, "mine"},
		{"the folder", template.Command{Argv: []string{"cat", "file"}, Dir: "testdata/{{ input }}", Output: "text"}, "folder", "in the folder"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("LANG", "yes")
			got, err := run(t, tt.cmd, tt.in)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

// A program receives only the listed variables of this process, because the environment may hold secrets.
func TestAProgramReceivesOnlyTheNamedVariables(t *testing.T) {
	for _, name := range []string{"HOME", "LANG", "TMPDIR", "SLUICE_TOKEN", "PASSED", "PASSED_TOO", "OWN"} {
		t.Setenv(name, "of this process")
	}
	b := template.Binding{Command: &template.Command{Argv: []string{"env"}, Output: "lines", Env: map[string]string{"OWN": "the binding's", "PASSED_TOO": "too"}}}
	for _, passed := range [][]string{nil, {"PASSED", "PASSED_TOO", "OWN", "SLUICE_NOT_SET"}} {
		caller, err := operation.Bind(bound(t, b), passed...)
		require.NoError(t, err)
		out, err := caller.Call(newCall(nil))
		require.NoError(t, err)
		want := []any{
			"PATH=" + os.Getenv("PATH"), "HOME=of this process", "LANG=of this process", "TMPDIR=of this process", "OWN=the binding's", "PASSED_TOO=too",
			"SLUICE_RUN=r", "SLUICE_STEP=s[1]", "SLUICE_ATTEMPT=2", "SLUICE_IDEMPOTENCY_KEY=r/s[1]",
		}
		if passed != nil {
			want = append(want, "PASSED=of this process")
		}
		require.ElementsMatch(t, want, out)
	}
}

func TestCommandFailures(t *testing.T) {
	noRight := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(noRight, []byte("#!/bin/sh\n"), 0o600))
	for _, tt := range []struct {
		name      string
		cmd       template.Command
		code      string
		permanent bool
		message   string
		details   any
	}{
		{"another exit code", template.Command{Shell: "echo out; echo first >&2; echo 'the  cause' >&2; echo >&2; exit 3"},
			"exit", false, "exit status 3: the  cause",
			map[string]any{"exit_code": int64(3), "stdout": "out\n", "stderr": "first\nthe  cause\n\n"}},
		{"a silent one", template.Command{Argv: []string{"false"}}, "exit", false, "exit status 1", map[string]any{"exit_code": int64(1)}},
		{"a signal", template.Command{Shell: "kill -KILL $$"}, "exit", false, "signal: killed", map[string]any{"exit_code": int64(-1)}},
		{"no such program", template.Command{Argv: []string{"sluice-no-such-program"}}, "not_started", true, "executable file not found", nil},
		{"no such file", template.Command{Argv: []string{"/no/such/program"}}, "not_started", true, "no such file or directory", nil},
		{"no permission", template.Command{Argv: []string{noRight}}, "not_started", true, "permission denied", nil},
		{"no such folder", template.Command{Argv: []string{"true"}, Dir: "/no/such/folder"}, "not_started", true, "/no/such/folder", nil},
		{"no program", template.Command{Argv: []string{"{{ null }}"}}, "not_started", true, "argv names no program", nil},
		{"an invalid argument", template.Command{Argv: []string{"true", "a\x00b"}}, "not_started", true, "invalid argument", nil},
		{"malformed JSON", template.Command{Argv: []string{"echo", "{"}, Output: "json"}, "invalid_output", true, "standard output: parse JSON", nil},
		{"empty JSON", template.Command{Argv: []string{"true"}, Output: "json"}, "invalid_output", true, "standard output: parse JSON", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := run(t, tt.cmd, nil)
			e := failure(t, err)
			require.Equal(t, tt.code, e.Code)
			require.Equal(t, tt.permanent, e.Permanent)
			require.Contains(t, e.Message, tt.message)
			require.Equal(t, tt.details, e.Details)
		})
	}
}

func TestDataThatIsTooLargeEndsTheCommand(t *testing.T) {
	for _, output := range []string{"text", "json", "lines"} {
		t.Run(output, func(t *testing.T) {
			// yes prints without end.
			_, err := run(t, template.Command{Argv: []string{"yes"}, Output: output}, nil)
			e := failure(t, err)
			require.Equal(t, operation.CodeTooLarge, e.Code)
			require.True(t, e.Permanent)
		})
	}
}

func TestTheEndOfOtherOutputIsKept(t *testing.T) {
	const count = 400_000
	script := fmt.Sprintf("seq 1 %d; seq 1 %d >&2; exit $FAIL", count, count)
	for _, tt := range []struct {
		fail      string
		stdoutMax int
	}{{"0", operation.StdoutMax}, {"1", operation.StderrMax}} {
		t.Run("exit "+tt.fail, func(t *testing.T) {
			out, err := run(t, template.Command{Shell: script, Env: map[string]string{"FAIL": tt.fail}}, nil)
			got, _ := out.(map[string]any)
			if tt.fail != "0" {
				got = failure(t, err).Details.(map[string]any)
			} else {
				require.NoError(t, err)
			}
			for stream, limit := range map[string]int{"stdout": tt.stdoutMax, "stderr": operation.StderrMax} {
				text := got[stream].(string)
				first, rest, _ := strings.Cut(text, "\n")
				var dropped int
				_, err := fmt.Sscanf(first, "[%d bytes left out]", &dropped)
				require.NoError(t, err)
				whole := 0
				for n := 1; n <= count; n++ {
					whole += len(fmt.Sprint(n)) + 1
				}
				require.Equal(t, whole, dropped+len(rest))
				require.LessOrEqual(t, len(rest), limit)
				require.Greater(t, len(rest), limit-16)
				require.True(t, strings.HasSuffix(text, fmt.Sprintf("\n%d\n%d\n", count-1, count)))
			}
		})
	}
}

func TestMessagesOfFailedCommandsAreShort(t *testing.T) {
	_, err := run(t, template.Command{Shell: "head -c 9000 /dev/zero | tr '\\0' x >&2; exit 1"}, nil)
	require.Less(t, len(failure(t, err).Message), 600)
}

// pipe makes a named pipe in a folder, to synchronize a program and a test. Opening one end waits for the other end, and reading to
// the end waits until all writers have ended.
func pipe(t testing.TB, dir, name string) (path string) {
	t.Helper()
	path = filepath.Join(dir, name)
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	return path
}

// readAll reads a named pipe to its end.
func readAll(t testing.TB, path string) string {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(f)
	require.NoError(t, err)
	return string(text)
}

func TestTheEndOfACallTerminatesTheWholeGroup(t *testing.T) {
	dir := t.TempDir()
	up, said := pipe(t, dir, "up"), pipe(t, dir, "said")
	caller := operation.WithGrace(bind(t, template.Binding{Command: &template.Command{Dir: dir, Shell: `
		exec 3>said
		trap "wait; echo parent was asked >&3; exit 7" TERM
		sh -c 'trap "echo child was asked >&3; exit" TERM; (echo >up; exec tail -f /dev/null) & wait' &
		wait`}}), never)
	c := newCall(nil)
	done := start(caller, c)
	text := make(chan string)
	go func() { text <- readAll(t, said) }()
	readAll(t, up)

	because := errors.New("timeout")
	c.End(because)
	err := <-done
	require.ErrorIs(t, err, because)
	require.Equal(t, operation.CodeCancelled, failure(t, err).Code)
	require.False(t, failure(t, err).Permanent)
	require.Equal(t, "child was asked\nparent was asked\n", <-text)
}

func TestAnAnswerInTheGracePeriodCounts(t *testing.T) {
	dir := t.TempDir()
	up := pipe(t, dir, "up")
	caller := operation.WithGrace(bind(t, template.Binding{Command: &template.Command{Dir: dir, Output: "text", Shell: `
		trap "echo saved; exit 0" TERM
		(echo >up; exec tail -f /dev/null) & wait`}}), never)
	c := newCall(nil)
	var out any
	done := make(chan error)
	go func() {
		var err error
		out, err = caller.Call(c)
		done <- err
	}()
	readAll(t, up)
	c.End(errors.New("timeout"))
	require.NoError(t, <-done)
	require.Equal(t, "saved", out)
}

func TestAGroupThatIgnoresSIGTERMIsKilled(t *testing.T) {
	dir := t.TempDir()
	up, alive := pipe(t, dir, "up"), pipe(t, dir, "alive")
	caller := operation.WithGrace(bind(t, template.Binding{Command: &template.Command{Dir: dir, Shell: `
		trap "" TERM
		exec 3>alive
		sh -c 'sh -c "echo >up; tail -f /dev/null"; true'; true`}}), time.Millisecond)
	c := newCall(nil)
	done := start(caller, c)
	ended := make(chan string)
	go func() { ended <- readAll(t, alive) }()
	readAll(t, up)
	c.End(errors.New("timeout"))
	require.Equal(t, operation.CodeCancelled, failure(t, <-done).Code)
	require.Empty(t, <-ended)
}

func TestBackgroundProcessesDoNotOutliveTheCall(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script string
		grace  time.Duration
	}{
		{"without the output open, it is killed at once", `tail -f /dev/null >/dev/null 2>&1 & echo done`, never},
		{"with the output open, it is killed after the grace period", `tail -f /dev/null & echo done`, time.Millisecond},
		{"and if it ignores SIGTERM", `(trap "" TERM; tail -f /dev/null; true) & echo done`, time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			alive := pipe(t, dir, "alive")
			caller := operation.WithGrace(bind(t, template.Binding{Command: &template.Command{
				Dir: dir, Output: "text", Shell: "exec 3>alive\n" + tt.script,
			}}), tt.grace)
			ended := make(chan string)
			go func() { ended <- readAll(t, alive) }()
			out, err := caller.Call(newCall(nil))
			require.NoError(t, err)
			require.Equal(t, "done", out)
			require.Empty(t, <-ended)
		})
	}
}

func TestOutputOfBackgroundProcessesIsKept(t *testing.T) {
	dir := t.TempDir()
	gate := pipe(t, dir, "gate")
	caller := operation.WithGrace(bind(t, template.Binding{Command: &template.Command{
		Dir: dir, Output: "lines", Shell: "echo early; cat gate &",
	}}), never)
	go func() { _ = os.WriteFile(gate, []byte("late\n"), 0) }()
	out, err := caller.Call(newCall(nil))
	require.NoError(t, err)
	require.Equal(t, []any{"early", "late"}, out)
}

func TestAProcessThatLeavesTheGroupDoesNotDelayTheCall(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("this machine has no setsid")
	}
	dir := t.TempDir()
	pipe(t, dir, "up")
	gate := pipe(t, dir, "gate")
	caller := operation.WithGrace(bind(t, template.Binding{Command: &template.Command{
		Dir: dir, Output: "text", Shell: `setsid sh -c 'echo >up; cat gate' & cat up >/dev/null; echo done`,
	}}), time.Millisecond)
	out, err := caller.Call(newCall(nil))
	// The process continues, and ends with its input.
	require.NoError(t, os.WriteFile(gate, nil, 0))
	require.NoError(t, err)
	require.Equal(t, "done", out)
}

func TestConcurrentCommandsAreIndependent(t *testing.T) {
	caller := bind(t, template.Binding{Command: &template.Command{
		Argv: []string{"sh", "-c", `cat; echo " $SLUICE_ATTEMPT"`}, Stdin: "{{ input }}", Output: "text"}})
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			c := newCall(fmt.Sprint("input ", i))
			c.Attempt = int32(i)
			out, err := caller.Call(c)
			if err != nil || out != fmt.Sprintf("input %d %d", i, i) {
				t.Errorf("call %d = %v, %v", i, out, err)
			}
		})
	}
	all.Wait()
}

func BenchmarkCommand(b *testing.B) {
	caller := bind(b, template.Binding{Command: &template.Command{Argv: []string{"true"}, Output: "text"}})
	out, err := caller.Call(newCall(nil))
	require.NoError(b, err)
	require.Equal(b, "", out)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := caller.Call(newCall(nil)); err != nil {
			b.Fatal(err)
		}
	}
}

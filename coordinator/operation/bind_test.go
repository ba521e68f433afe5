package operation_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

func TestMain(m *testing.M) {
	if runAsVictim() {
		return
	}
	// Connect to the servers of these tests directly.
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		_ = os.Unsetenv(name)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { os.Exit(code) }))
}

// bind checks a binding as part of a document, and returns its caller.
func bind(t testing.TB, b template.Binding) operation.Caller {
	t.Helper()
	caller, err := operation.Bind(bound(t, b))
	require.NoError(t, err)
	return caller
}

// bound checks a binding as part of a stored document, which may have literals that new documents must not have.
func bound(t testing.TB, b template.Binding) *template.Bound {
	t.Helper()
	checked, err := template.Check(&template.Workflow{
		Name: "test", Operations: map[string]template.Binding{"op": b}, Steps: []template.Node{&template.Step{Operation: "op"}},
	}, template.Known{Lenient: true})
	require.NoError(t, err)
	return checked.Bindings["op"]
}

// newCall returns a call of step `s[1]` in run `r`.
func newCall(input any) *operation.Call {
	c := &operation.Call{Request: call.Request{Run: "r", Node: "s[1]", Operation: "op", Attempt: 2, Input: input}}
	c.Begin(context.Background())
	return c
}

// start makes a call in the background. The channel receives its error.
func start(caller operation.Caller, c *operation.Call) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := caller.Call(c)
		done <- err
	}()
	return done
}

// failure requires that err is an *operation.Error, and returns it.
func failure(t testing.TB, err error) *operation.Error {
	t.Helper()
	require.Error(t, err)
	e, ok := errors.AsType[*operation.Error](err)
	require.True(t, ok, "%T: %v", err, err)
	return e
}

func TestBindingsOfTheEngineAreRefused(t *testing.T) {
	for name, b := range map[string]template.Binding{
		"sleep": {Sleep: &template.Sleep{For: "PT1S"}},
		"wait":  {Wait: &template.Wait{Message: "go"}},
		"value": {Value: &template.Constant{Value: "v"}},
		"fail":  {Fail: &template.Fail{Code: "no"}},
		"child": {Workflow: &template.Child{Name: "child"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := operation.Bind(bound(t, b))
			require.ErrorContains(t, err, `operation "op"`)
		})
	}
}

func TestExpressionsOfABindingSeeTheCall(t *testing.T) {
	raw, err := value.Encode(map[string]any{"n": 7})
	require.NoError(t, err)
	for _, tt := range []struct {
		name string
		text string
		call func(c *operation.Call)
		want string
	}{
		{"the input", "{{ input.n }}", nil, "7"},
		{"the input, encoded", "{{ input.n + input.n }}", func(c *operation.Call) { c.Input = value.Raw(raw) }, "14"},
		{"the input, a Go value", "{{ input.n }}", func(c *operation.Call) {
			c.Input = struct {
				N int `json:"n"`
			}{8}
		}, "8"},
		{"the attempt", "{{ attempt }}", nil, "2"},
		{"the run", "{{ run.id }}", nil, "r"},
		{"no participant", "{{ participant ?? 'none' }}", nil, "none"},
		{"the participant", "{{ participant.id }} at {{ participant.endpoint }}", func(c *operation.Call) {
			c.Participant, c.About = "ann", map[string]any{"endpoint": "http://a"}
		}, "ann at http://a"},
		{"a participant that the directory does not list", "{{ participant.id }}", func(c *operation.Call) { c.Participant = "bob" }, "bob"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			caller := bind(t, template.Binding{Command: &template.Command{Argv: []string{"printf", "%s", tt.text}, Output: "text"}})
			c := newCall(map[string]any{"n": 7})
			if tt.call != nil {
				tt.call(c)
			}
			got, err := caller.Call(c)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestACallDoesNotChangeTheDirectory(t *testing.T) {
	caller := bind(t, template.Binding{Command: &template.Command{Argv: []string{"true", "{{ participant.id }}"}}})
	c := newCall(nil)
	c.Participant, c.About = "ann", map[string]any{"endpoint": "e"}
	_, err := caller.Call(c)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"endpoint": "e"}, c.About)
}

func TestAnInvalidInputIsAPermanentFailure(t *testing.T) {
	for name, b := range map[string]template.Binding{
		"argv":    {Command: &template.Command{Argv: []string{"true", "{{ input.a.b }}"}}},
		"stdin":   {Command: &template.Command{Argv: []string{"true"}, Stdin: "{{ input.a.b }}"}},
		"env":     {Command: &template.Command{Argv: []string{"true"}, Env: map[string]string{"A": "{{ input.a.b }}"}}},
		"dir":     {Command: &template.Command{Argv: []string{"true"}, Dir: "{{ input.a.b }}"}},
		"url":     {HTTP: &template.HTTP{URL: "{{ input.a.b }}"}},
		"method":  {HTTP: &template.HTTP{URL: "http://h", Method: "{{ input.a.b }}"}},
		"headers": {HTTP: &template.HTTP{URL: "http://h", Headers: map[string]string{"A": "{{ input.a.b }}"}}},
		"body":    {HTTP: &template.HTTP{URL: "http://h", Body: "{{ input.a.b }}"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := bind(t, b).Call(newCall(map[string]any{"a": 1}))
			e := failure(t, err)
			require.Equal(t, reactive.CodeInputResolution, e.Code)
			require.True(t, e.Permanent)
			require.True(t, strings.HasPrefix(e.Message, name+": "), e.Message)
		})
	}
}

func TestACallThatHasEndedDoesNothing(t *testing.T) {
	because := errors.New("aborted by ann")
	for name, b := range map[string]template.Binding{
		"command": {Command: &template.Command{Argv: []string{"/does/not/exist"}}},
		"http":    {HTTP: &template.HTTP{URL: "http://169.254.0.1/"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCall(nil)
			c.End(because)
			_, err := bind(t, b).Call(c)
			require.ErrorIs(t, err, because)
			require.Equal(t, operation.CodeCancelled, failure(t, err).Code)
		})
	}
}

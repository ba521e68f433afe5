package coordinator_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

func newEngine(t testing.TB, config coordinator.Config) *coordinator.Engine {
	e, err := coordinator.New(t.Context(), memory.New(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Shutdown(context.Background())) })
	return e
}

func parse(t testing.TB, text string) *template.Workflow {
	w, err := template.Parse("test.yaml", []byte(text))
	require.NoError(t, err)
	return w
}

func run(t testing.TB, e *coordinator.Engine, w *template.Workflow, input any) *coordinator.Result {
	r, err := e.Start(t.Context(), w, input)
	require.NoError(t, err)
	result, err := r.Wait(t.Context())
	require.NoError(t, err)
	return result
}

func TestValuesFlowThroughSteps(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{
		operation.Define("split", func(_ context.Context, s string) ([]string, error) { return []string{s, s + "!"}, nil }),
		operation.Define("upper", func(_ context.Context, s string) (string, error) { return "<" + s + ">", nil }),
	}})
	w := parse(t, `
kind: Workflow
name: flow
steps:
  - {operation: split, input: "{{ input.word }}"}
  - map: {id: each, over: "{{ steps.split.output }}", as: word, max_concurrency: 1, steps: [{operation: upper, input: "{{ word }}"}]}
output: {words: "{{ steps.each.output }}"}
`)
	result := run(t, e, w, map[string]any{"word": "hi"})
	require.NoError(t, result.Err())
	require.Equal(t, map[string]any{"words": []any{"<hi>", "<hi!>"}}, result.Output)
}

func TestAFailureNamesTheRun(t *testing.T) {
	calls := 0
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{
		operation.Define("pay", func(context.Context, any) (any, error) {
			calls++
			return nil, &operation.Error{Code: "declined", Message: "no money"}
		}),
		operation.Define("ship", func(context.Context, any) (any, error) { return nil, errors.New("must not run") }),
	}})
	w := parse(t, `
kind: Workflow
name: shop
steps: [{operation: pay, timing: {retry: {max_attempts: 3, backoff: PT0.001S}}}, {operation: ship}]
`)
	result := run(t, e, w, nil)
	require.Equal(t, reactive.RunFailed, result.Status)
	require.Equal(t, "declined", result.Failure.Code)
	require.Equal(t, 3, calls)
	require.ErrorContains(t, result.Err(), "declined: no money")
	var failure *journal.Failure
	require.ErrorAs(t, result.Err(), &failure)
}

func TestAPanicFailsItsCallOnly(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{
		operation.Define("boom", func(context.Context, any) (any, error) { panic("oh no") }),
		operation.Define("fine", func(context.Context, any) (string, error) { return "fine", nil }),
	}})
	w := parse(t, `
kind: Workflow
name: panics
steps:
  - {operation: boom}
  - conditional: {test: boom, then: [], else: [{operation: fine}]}
output: "{{ steps.boom.error.code }}/{{ steps.fine.output ?? null }}"
`)
	result := run(t, e, w, nil)
	require.NoError(t, result.Err())
	require.Equal(t, "panic/fine", result.Output)
}

func TestProgramsReceiveThePassedVariables(t *testing.T) {
	t.Setenv("SLUICE_A", "a")
	t.Setenv("SLUICE_B", "b")
	e := newEngine(t, coordinator.Config{PassEnv: []string{"SLUICE_A"}})
	result := run(t, e, parse(t, `
kind: Workflow
name: show
operations: {show: {command: {shell: 'echo "[$SLUICE_A] [$SLUICE_B]"', output: text}}}
steps: [{operation: show}]
output: "{{ steps.show.output }}"
`), nil)
	require.Equal(t, "[a] []", result.Output)
	_, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{PassEnv: []string{"SLUICE_A=x"}})
	require.ErrorContains(t, err, `Config.PassEnv: "SLUICE_A=x" is not the name of an environment variable`)
}

package expr_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

func TestADefaultCoversASkippedStepAndNothingElse(t *testing.T) {
	for _, in := range []string{
		`steps.skipped.output ?? "d"`, `steps.skipped.output.a.b ?? "d"`, `steps.skipped.output[0]["x"] ?? "d"`, `steps.skipped.output?.a ?? "d"`, `(steps.skipped.output).a ?? "d"`,
		`input.none ?? steps.skipped.output ?? "d"`, `steps.skipped.output ?? steps.skipped.output.x ?? "d"`, `steps["skipped"]["output"].a ?? "d"`,
		`(steps.skipped.output ?? input.none) ?? "d"`,
	} {
		got, err := eval(t, "{{ "+in+" }}")
		require.NoError(t, err, in)
		require.Equal(t, "d", got, in)
	}
	for _, in := range []string{
		`steps.skipped.output`, `steps.skipped.output.a`, `input.n ?? 1 == steps.skipped.output`, `(steps.skipped.output + 1) ?? "d"`, `len(steps.skipped.output) ?? "d"`,
		`upper(steps.skipped.output)[0] ?? "d"`, `input.none ?? steps.skipped.output`, `input.o[steps.skipped.output] ?? "d"`, `(true ? steps.skipped.output : 1) ?? "d"`,
	} {
		if in == `input.n ?? 1 == steps.skipped.output` {
			in = `(input.n ?? 1) == steps.skipped.output`
		}
		_, err := eval(t, "{{ "+in+" }}")
		require.ErrorIs(t, err, expr.ErrNoOutput, in)
	}
	for _, in := range []string{`steps.pay.output ?? "d"`, `steps.pay.output.a ?? "d"`, `steps.nobody.output ?? "d"`} {
		_, err := eval(t, "{{ "+in+" }}")
		require.Error(t, err, in)
		require.False(t, errors.Is(err, expr.ErrNoOutput), in)
	}
	pointer, err := expr.CompileValue(map[string]any{"from": "/steps/skipped/output"}, scope)
	require.NoError(t, err)
	v, err := pointer.Eval(newEnv(t))
	require.NoError(t, err)
	require.Nil(t, v, "a pointer to the output of a skipped step is null")
	for _, from := range []map[string]any{
		{"from": "/steps/caught/output"}, {"from": "/steps/pay/output"}, {"from": "/steps/skipped/output", "required": true},
	} {
		pointer, err = expr.CompileValue(from, scope)
		require.NoError(t, err)
		_, err = pointer.Eval(newEnv(t))
		require.Error(t, err, from)
	}
	// A missing member is null; a member of null is an error, as without ??.
	got, err := eval(t, `{{ steps["fetch-data"].output.x ?? 1 }}`)
	require.NoError(t, err)
	require.Equal(t, int64(1), got)
	_, err = eval(t, `{{ steps["fetch-data"].output.x.y ?? 1 }}`)
	require.ErrorContains(t, err, `there is no "y" in null`)
}

func TestStepsAreReadWhenTheyAreEvaluated(t *testing.T) {
	tests := []struct {
		in   string
		want []string
	}{
		{`input.yes ? steps.split.output : steps.pay.output`, []string{"split.output"}},
		{`false and steps.pay.output`, nil},
		{`true or steps.pay.output`, nil},
		{`1 ?? steps.pay.output`, nil},
		{`map([], steps.pay.output)`, nil},
		{`map(1..2, steps.split.status)`, []string{"split.status", "split.status"}},
		{`steps.split.status == "x" or steps.pay.error.code == "declined"`, []string{"split.status", "pay.error"}},
	}
	for _, tt := range tests {
		tpl, err := expr.Compile("{{ "+tt.in+" }}", scope)
		require.NoError(t, err)
		e := newEnv(t)
		_, err = tpl.Eval(e)
		require.NoError(t, err, tt.in)
		require.Equal(t, tt.want, e.reads, tt.in)
	}
}

func TestFromPointers(t *testing.T) {
	from := func(path string, required ...any) map[string]any {
		m := map[string]any{"from": path}
		if len(required) > 0 {
			m["required"] = required[0]
		}
		return m
	}
	tests := []struct {
		name string
		in   any
		want value.Value
		err  string
	}{
		{"a step's output", from("/steps/split/output/1"), "b", ""},
		{"deep", from("/steps/fetch-data/output/rows/0/v"), int64(1), ""},
		{"a step's status", from("/steps/split/status"), "completed", ""},
		{"a variable", from("/input/o/a/b"), int64(1), ""},
		{"a whole variable", from("/item"), "it", ""},
		{"a null that is there", from("/input/none"), nil, ""},
		{"a skipped step", from("/steps/skipped/output/a/b"), nil, ""},
		{"a skipped step, not required", from("/steps/skipped/output", false), nil, ""},
		{"a skipped step, required", from("/steps/skipped/output", true), nil, "step has no output"},
		{"a failed step", from("/steps/pay/output"), nil, "declined"},
		{"a path that is not there", from("/steps/fetch-data/output/row"), nil, `/steps/fetch-data/output/row: the object at /steps/fetch-data/output has no key "row"`},
		{"a missing index", from("/input/list/3"), nil, `the list at /input/list has 3 items, so there is no index 3`},
		{"a path through a scalar", from("/input/n/x"), nil, `at /input/n there is an integer, which has no "x"`},
		{"a variable that is not there", from("/line"), nil, `no variable "line"`},
		{"inside a value, beside expressions", map[string]any{"a": []any{from("/index"), "{{ index + 1 }}", 1}, "b": "c"}, map[string]any{"a": []any{int64(4), int64(5), int64(1)}, "b": "c"}, ""},
		{"another key makes it data", map[string]any{"from": "Berlin", "to": "Rome"}, map[string]any{"from": "Berlin", "to": "Rome"}, ""},
		{"so do three", map[string]any{"from": "/x", "required": true, "x": 1}, map[string]any{"from": "/x", "required": true, "x": int64(1)}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := eval(t, tt.in)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				var e *expr.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, "/from", e.Pointer)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
	refused := []struct {
		name string
		in   any
		want string
	}{
		{"no pointer", from("Berlin"), `from must be a JSON pointer such as /steps/id/output, not "Berlin"`},
		{"empty", from(""), `from must be a JSON pointer`},
		{"an expression", from("{{ input }}"), `from must be a JSON pointer`},
		{"a number", map[string]any{"from": 1}, `from must be a JSON pointer such as /steps/id/output, not an integer (1)`},
		{"required is no boolean", from("/input", "yes"), `required must be true or false, not a string ("yes")`},
		{"bare steps", from("/steps"), `/steps names no field of a step`},
		{"bare step", from("/steps/a"), `/steps/a names no field of a step`},
		{"unknown field", from("/steps/a/outptu"), `unknown field "outptu" of a step (did you mean "output"?)`},
		{"unknown name", from("/inputt/a"), `unknown name "inputt" in /inputt/a (did you mean "input"?)`},
	}
	for _, tt := range refused {
		t.Run("refused: "+tt.name, func(t *testing.T) {
			_, err := expr.CompileValue(tt.in, scope)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestAConditionMustGiveABoolean(t *testing.T) {
	for in, want := range map[string]string{"{{ input.n }}": "an integer (7)", "yes": `a string ("yes")`, "{{ input.o }}": "an object", "{{ input.yes }}!": `a string ("true!")`} {
		tpl, err := expr.Compile(in, scope)
		require.NoError(t, err)
		_, err = tpl.EvalBool(newEnv(t))
		require.EqualError(t, err, "a condition must give true or false, but it gave "+want)
	}
	tpl, err := expr.Compile("{{ input.yes }}", scope)
	require.NoError(t, err)
	ok, err := tpl.EvalBool(newEnv(t))
	require.NoError(t, err)
	require.True(t, ok)
	tpl, err = expr.Compile("{{ steps.skipped.output }}", scope)
	require.NoError(t, err)
	_, err = tpl.EvalBool(newEnv(t))
	require.ErrorIs(t, err, expr.ErrNoOutput)
}

package expr_test

import (
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// FuzzCompile: for any text, compiling and evaluating end without a panic, in a value of the model or an error with a place,
// and twice in the same.
func FuzzCompile(f *testing.F) {
	for _, text := range []string{
		"", "{{", "}}", "{{ }}", "a {{ input.n }} b {{ steps.split.output[0] }}", `{{ steps["fetch-data"].output?.rows[0]["v"] ?? 1 }}`, "{{ {a: {b: 1}} }}", "{{ \"}}\" }}", "{{ 1 // x }}", "{{ 1 /* x",
		"{{ map(1..9, {let x = #; filter(input.list, # > x)}) | flatten() | sort(\"desc\") }}", "{{ reduce(input.list, #acc + #index, 0) }}", "{{ a ?: b ? c : d }}", "{{ 1 < 2 < 3 }}", "{{ if true { 1 } else if false { 2 } else { 3 } }}",
		"{{ b\"x\" }}", "{{ $env }}", "{{ ::len([1]) }}", "{{ input.s[1:-1] + `raw` + '\\u00e9' }}", "{{ not in }}", "{{ 0x1f ** -2 }}", "{{ input.s matches 'a+' }}", "{{ groupBy(input.lines, .price) }}", "{{ steps }}", "{{ null?.x }}", "{{ input.none.x == 1 and not input.list[0].y }}", "{{ let a = [1]; let b = [a, a]; [b, b] == [b, b] }}", "é{{ é }}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = string([]rune(text)) // offsets count in the text that value.Of makes of it
		tpl, err := expr.Compile(text, scope)
		if err != nil {
			requirePlaced(t, text, err)
			return
		}
		for _, r := range tpl.Reads() {
			require.True(t, r.Offset >= 0 && r.Offset <= len(text) && r.Text != "" && utf8.ValidString(text) == utf8.ValidString(r.Text))
		}
		holds, guardErr := tpl.EvalBool(newEnv(t))
		got, err := tpl.Eval(newEnv(t))
		requireGuard(t, got, err, holds, guardErr)
		again, errAgain := tpl.Eval(newEnv(t))
		if err != nil {
			require.EqualError(t, errAgain, err.Error())
			requirePlaced(t, text, err)
			return
		}
		normal, err := value.Of(got)
		require.NoError(t, err)
		require.Equal(t, normal, got, "of the model")
		require.True(t, value.Equal(got, again))
		if fixed, ok := tpl.Constant(); ok {
			require.True(t, value.Equal(fixed, got))
		}
	})
}

// requireGuard checks that a guard has the value of the expression, if that has one; null does not hold.
func requireGuard(t require.TestingT, v value.Value, err error, holds bool, guardErr error) {
	yes, isBool := v.(bool)
	switch {
	case err != nil:
	case isBool || v == nil:
		require.NoError(t, guardErr)
		require.Equal(t, yes, holds)
	default:
		require.Error(t, guardErr)
	}
}

// requirePlaced checks that each error, joined or not, is an *Error with a place inside the text.
func requirePlaced(t *testing.T, text string, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			requirePlaced(t, text, err)
		}
		return
	}
	var e *expr.Error
	require.True(t, errors.As(err, &e))
	require.True(t, e.Offset >= 0 && e.Offset <= len(text), "offset %d of %q", e.Offset, text)
	require.NotEmpty(t, e.Msg)
}

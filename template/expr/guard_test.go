package expr_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template/expr"
)

func guard(t require.TestingT, text string, env expr.Env) (bool, error) {
	tpl, err := expr.Compile("{{ "+text+" }}", scope)
	require.NoError(t, err, text)
	return tpl.EvalBool(env)
}

func TestNullInGuards(t *testing.T) {
	for in, want := range map[string]bool{
		`input.none`: false, `not input.none`: true, `!input.missing`: true, `input.missing.a.b.c`: false, `null`: false,
		`input.none.x == 1`: false, `input.none.x != 1`: true, `input.none.x == nil`: true, `input.none["x"].y == "z"`: false,
		`input.none[0] == 1`: false, `input.none[input.n].x == 1`: false, `input?.none.x.y == 1`: false,
		`input.none and input.yes`: false, `input.yes or input.none`: true, `input.none.x or input.yes`: true,
		`input.yes && !input.none.ok`: true, `input.none.ok ? true : false`: false, `(input.none.ok ?: input.yes)`: true,
		`input.none.x ?? true`: true, `if input.none.x { false } else { true }`: true,
		`any(input.lines, .paid)`: false, `none(input.lines, .paid)`: true, `all(input.lines, .paid.at == nil)`: true,
		`len(filter(input.lines, .paid.at)) == 0`: true, `let v = input.none.x; v == 1`: false,
		`input.yes`: true, `input.o.a.b == 1`: true, `steps.split.error.code == "x"`: false, `steps.split.error.code != "x"`: true,
	} {
		got, err := guard(t, in, newEnv(t))
		require.NoError(t, err, in)
		require.Equal(t, want, got, in)
	}
	for in, want := range map[string]string{
		`input.none.x < 1`: "cannot compare", `input.none.x + 1 == 2`: "cannot add", `len(input.none.x) == 0`: "len", `-input.none.x == 1`: "subtract",
		`input.none[1:2] == []`: "slice of null", `any(input.none.list, true)`: "needs a list", `input.n.x == 1`: `there is no "x" in an integer`,
		`line.x`: `no variable "line"`, `steps.pay.output.x == 1`: "declined", `steps.skipped.output.x == 1`: "skipped", `input.n`: "must give true or false",
		`input.none.x in [1, 2]`: "cannot look for null", `1 in input.none.list`: "needs a list or an object, not null",
		`"a" not in input.none.o`: "not null", `not (input.none.s contains "x")`: "needs two strings, not null and a string",
		`input.n and true`: "must be true or false", `not input.s`: "must be true or false",
	} {
		_, err := guard(t, in, newEnv(t))
		require.ErrorContains(t, err, want, in)
	}
	for _, in := range []string{`input.none.x == 1`, `not input.none`, `input.none and true`, `input.none ? 1 : 2`, `any(input.lines, .paid)`} {
		_, err := eval(t, "{{ "+in+" }}")
		require.Error(t, err, "%s is a value here, and no guard", in)
	}
}

// TestOperatorsTakeNoNull, on either side, in a guard or outside, except for those that allow null in a guard.
func TestOperatorsTakeNoNull(t *testing.T) {
	others := []string{`"x"`, "1", "2.5", "true", "[1, null]", "{a: 1}", "null", "input.s", "input.list", "input.o", "input.none"}
	for _, op := range []string{
		"+", "-", "*", "/", "%", "**", "^", "<", "<=", ">", ">=", "in", "not in", "..", "contains", "not contains", "startsWith",
		"not startsWith", "endsWith", "not endsWith", "matches", "not matches",
	} {
		for _, null := range []string{"null", "input.none", "input.missing"} {
			for _, other := range others {
				for _, in := range []string{null + " " + op + " " + other, other + " " + op + " " + null} {
					tpl, err := expr.Compile("{{ "+in+" }}", scope)
					if err != nil {
						continue // refused before it runs
					}
					_, err = tpl.Eval(newEnv(t))
					require.Error(t, err, in)
					_, err = tpl.EvalBool(newEnv(t))
					require.Error(t, err, in)
				}
			}
		}
	}
}

// drawGuard writes a condition over existing and missing values.
func drawGuard(t *rapid.T, depth int) string {
	member := func() string {
		return rapid.SampledFrom([]string{
			"input.yes", "input.none", "input.missing", "input.none.x", "input.missing.x.y", "input.o.a.b", "input.o.z.q", "input.n", "input.s.x",
			`input.none["k"]`, "input.list[0]", "input.none[1]", "steps.split.error.code", "steps.skipped.output.x", "line.x", "null", "true",
		}).Draw(t, "member")
	}
	if depth == 0 {
		return member()
	}
	inner := func() string { return drawGuard(t, depth-1) }
	switch rapid.IntRange(0, 7).Draw(t, "kind") {
	case 0:
		return fmt.Sprintf("(%s and %s)", inner(), inner())
	case 1:
		return fmt.Sprintf("(%s or %s)", inner(), inner())
	case 2:
		return fmt.Sprintf("not (%s)", inner())
	case 3:
		return fmt.Sprintf("(%s ? %s : %s)", inner(), inner(), inner())
	case 4:
		return fmt.Sprintf("(%s %s %s)", member(), rapid.SampledFrom([]string{"==", "!=", "<", "??", "in"}).Draw(t, "op"), member())
	case 5:
		return fmt.Sprintf("%s(input.lines, .%s or %s)", rapid.SampledFrom([]string{"any", "all", "none"}).Draw(t, "predicate"),
			rapid.SampledFrom([]string{"paid", "paid.at", "price.x"}).Draw(t, "key"), inner())
	}
	return member()
}

// TestAGuardAndItsOppositeNeverAgree, and a guard has the value of the expression, if that is a boolean.
func TestAGuardAndItsOppositeNeverAgree(t *testing.T) {
	e := newEnv(t)
	rapid.Check(t, func(t *rapid.T) {
		text := drawGuard(t, 3)
		holds, err := guard(t, text, e)
		opposite, oppositeErr := guard(t, "not ("+text+")", e)
		require.Equal(t, err == nil, oppositeErr == nil, "%s: %v, %v", text, err, oppositeErr)
		if err == nil {
			require.NotEqual(t, holds, opposite, text)
		}
		tpl, compileErr := expr.Compile("{{ "+text+" }}", scope)
		require.NoError(t, compileErr)
		v, valueErr := tpl.Eval(e)
		requireGuard(t, v, valueErr, holds, err)
	})
}

package expr_test

import (
	"fmt"
	"strings"
	"testing"

	exprlang "github.com/expr-lang/expr"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// source draws expressions of one kind, n, s, b or l (number, string, boolean, list of numbers), from the part of the
// language with the same meaning in this package and expr-lang.
func source(t *rapid.T, kind byte, depth int) string {
	leaves := map[byte][]string{
		'n': {"0", "1", "2.5", "7", "input.n", "input.x", "input.o.a", "input.list[0]", "input.list[-1]", `input.o["a"]`},
		's': {`"a"`, `'bé'`, `""`, "input.s", "input.words[1]", `input.o?.k`},
		'b': {"true", "false", "input.yes", "input.n > 3"},
		'l': {"[]", "[1, 2, 3]", "input.list", "1..4", "3..1"},
	}
	if depth == 0 {
		return rapid.SampledFrom(leaves[kind]).Draw(t, "leaf")
	}
	forms := map[byte][]string{
		'n': {"(n + n)", "(n - n)", "(n * n)", "(n / 4)", "-n", "len(s)", "len(l)", "sum(l)", "count(l, # > n)", "(b ? n : n)", "max(n, n)", "min(n, n)", "abs(n)", "ceil(n)", "floor(n)", "round(n)", "reduce(l, #acc + #, n)",
			"(let v = n; v * 2)", "(find(l, # > n) ?? n)", "(findIndex(l, # > n) ?? n)", "(findLast(l, # < n) ?? n)", "(input.nothing ?? n)", "sum(l, # * n)", "(first(l) ?? n)", "(last(l) ?? n)", "mean(l)", "median(l)", "indexOf(s, s)"},
		's': {"(s + s)", "upper(s)", "lower(s)", "trim(s)", "(b ? s : s)", "join([s, s], s)", "repeat(s, 2)", "replace(s, s, \"z\")", "(input.none ?? s)", "if b { s } else { s }", "trimPrefix(s, \"a\")", "trimSuffix(s, \"a\")", "toBase64(s)"},
		'b': {"(n < n)", "(n >= n)", "(n == n)", "(s != s)", "(s < s)", "not b", "(b and b)", "(b or b)", "(n in l)", "(n not in l)", "(s contains s)", "(s startsWith s)", "(s endsWith s)", "any(l, # > n)", "all(l, # > n)", "none(l, # > n)", "one(l, # > n)", "(s matches \"^a\")", "hasPrefix(s, s)"},
		'l': {"map(l, # + n)", "filter(l, # > n)", "l[1:]", "l[:2]", "l[-2:]", "sort(l)", "sort(l, \"desc\")", "reverse(l)", "concat(l, l)", "take(l, 2)", "map(l, #index)", "(l | filter(b))", "uniq(map(l, # + 0))", "map(l, sum(l, # * 2))", "flatten([l, l])"},
	}
	var b strings.Builder
	form := rapid.SampledFrom(append(forms[kind], leaves[kind]...)).Draw(t, "form")
	for i := 0; i < len(form); i++ {
		alone := (i == 0 || !isWord(form[i-1])) && (i+1 == len(form) || !isWord(form[i+1])) && (i == 0 || form[i-1] != '"' && form[i-1] != '.')
		if alone && strings.IndexByte("nsbl", form[i]) >= 0 {
			b.WriteString(source(t, form[i], depth-1))
		} else {
			b.WriteByte(form[i])
		}
	}
	return b.String()
}

func isWord(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// The grammar is expr-lang's, and so is the meaning unless documented otherwise: its own machine must return the same.
func TestMeaningAgreesWithTheLibrary(t *testing.T) {
	e := newEnv(t)
	vars := map[string]any{"input": e.names["input"]}
	agreed := 0
	rapid.Check(t, func(t *rapid.T) {
		in := source(t, rapid.SampledFrom([]byte("nsbl")).Draw(t, "kind"), rapid.IntRange(0, 3).Draw(t, "depth"))
		if strings.Contains(in, "let v") && strings.Count(in, "let v") > 1 || len(in) > 2000 {
			t.Skip("the same variable twice")
		}
		program, err := exprlang.Compile(in, exprlang.Optimize(false), exprlang.AllowUndefinedVariables())
		if err != nil {
			t.Skip("not an expression of the library")
		}
		want, err := exprlang.Run(program, vars)
		if err != nil {
			t.Skip("the library gives no value")
		}
		if list, ok := want.([]any); ok && list == nil {
			want = []any{} // the library returns nil for some empty lists
		}
		tpl, err := expr.Compile("{{ "+in+" }}", scope)
		require.NoError(t, err, in)
		got, err := tpl.Eval(e)
		require.NoError(t, err, in)
		if !value.Equal(want, got) {
			t.Fatalf("%s\nlibrary: %v\nhere:    %v", in, want, got)
		}
		agreed++
	})
	require.Positive(t, agreed)
	t.Log(fmt.Sprint(agreed, " expressions compared"))
}

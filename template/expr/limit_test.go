package expr_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// Each of these would take hours or exhaust memory, so the test also shows that they end.
func TestNothingHangsOrEatsMemory(t *testing.T) {
	double := func(n int) string { // let a0 = [1]; let a1 = [a0, a0]; …
		var b strings.Builder
		b.WriteString("let a0 = [1]; ")
		for i := range n {
			a, z := "a"+value.Text(i+1), "a"+value.Text(i)
			b.WriteString("let " + a + " = [" + z + ", " + z + "]; ")
		}
		return b.String() + "a" + value.Text(n)
	}
	nest := func(open, inner, end string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	tests := []struct{ name, in string }{
		{"a long range", `map(1..1e9, # * 2)`},
		{"the longest range", `-9223372036854775807..9223372036854775807`},
		{"nested loops", `map(1..1000, map(1..1000, map(1..1000, #)))`},
		{"nested loops of counting", `sum(1..1000000, count(1..1000000, true))`},
		{"a growing text", `reduce(1..1000, #acc + #acc, "x")`},
		{"a growing list", `reduce(1..1000, concat(#acc, #acc), [1])`},
		{"a deepening list", `reduce(1..1000, [#acc], 1)`},
		{"a deepening object", `reduce(1..1000, {{a: #acc}}, 1)`},
		{"repeat", `repeat("abc", 1000000000000)`},
		{"repeat of repeat", `repeat(repeat("a", 10000), 10000)`},
		{"replace", `replace(repeat("a", 100000), "a", repeat("b", 100000))`},
		{"join", `join(map(1..100000, "abc"), repeat("x", 100000))`},
		{"split", `map(1..1000, split(repeat("a", 100000), ""))`},
		{"a shared graph as a result", double(60)},
		{"a shared graph in a text", strings.TrimSuffix(double(60), "a60") + " string(a60)"},
		{"a shared graph compared", "let z = 0; " + strings.TrimSuffix(double(60), "a60") + " a60 == a60"},
		{"a shared graph sought", strings.TrimSuffix(double(60), "a60") + " a60 in [a60]"},
		{"a shared graph flattened", strings.TrimSuffix(double(60), "a60") + " flatten(a60)"},
		{"a shared graph as JSON", strings.TrimSuffix(double(60), "a60") + " toJSON(a60)"},
		{"a shared graph made unique", strings.TrimSuffix(double(60), "a60") + " uniq([a60, a60])"},
		{"comparisons in comparisons", nest(`1 < (`, `2`, ` < 3 ? 2 : 2) < 3`, 60)},
		{"long strings compared", `let s = repeat("x", 1000000); map(1..1000000, s + "a" == s + "b")`},
		{"long strings measured", `let s = repeat("x", 1000000); map(1..1000000, len(s))`},
		{"long strings indexed", `let s = repeat("x", 1000000); map(1..1000000, s[-1])`},
		{"long keys", `let s = repeat("x", 1000000); map(1..1000000, s in {a: 1})`},
		{"long keys read", `let s = repeat("x", 1000000); map(1..1000000, get({a: 1}, s))`},
		{"a slow pattern", `repeat("a", 1000000) matches "(a?){500}(a*){100}b"`},
		{"a pattern made on the way", `map(1..100000, "a" matches repeat("a?", 1000))`},
		{"a long pattern made on the way", `"a" matches repeat("a?", 100000)`},
		{"sorting again and again", `map(1..1000, sort(1..100000))`},
		{"grouping long keys", `groupBy(1..1000000, repeat("x", 1000000))`},
		{"parsing", `map(1..100, fromJSON(repeat("[", 100) + repeat("1,", 1000000) + "1" + repeat("]", 100)))`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tpl, err := expr.Compile("{{ "+tt.in+" }}", scope)
			require.NoError(t, err)
			_, err = tpl.Eval(newEnv(t))
			require.ErrorIs(t, err, expr.ErrLimit)
		})
	}
}

// The parser uses the condition of a ?: b twice, so that nesting doubles the paths through the tree.
func TestSharedNodesAreCompiledOnce(t *testing.T) {
	got, err := eval(t, "{{ "+strings.Repeat("(", 200)+"true"+strings.Repeat(" ?: 1)", 200)+" }}")
	require.NoError(t, err)
	require.Equal(t, true, got)
	_, err = eval(t, "{{ "+strings.Repeat("(", 4000)+"1"+strings.Repeat(")", 4000)+" }}")
	require.NoError(t, err)
}

func TestLimitsLeaveRoomForOrdinaryWork(t *testing.T) {
	for in, want := range map[string]value.Value{
		`len(filter(1..100000, # % 2 == 0))`:                    int64(50000),
		`len(map(1..100000, {{n: #, s: "x" + string(#)}}))`:     int64(100000),
		`sortBy(1..20000, -#)[0]`:                               int64(20000),
		`len(join(map(1..100000, "abc"), ","))`:                 int64(399999),
		`len(fromJSON(toJSON(1..100000)))`:                      int64(100000),
		`count(1..1000, {let x = #; any(1..100, # * # == x)})`:  int64(31),
		`repeat("some text ", 10000) matches "^(some text )+$"`: true,
		`len(groupBy(1..10000, # % 7))`:                         int64(7),
	} {
		got, err := eval(t, "{{ "+in+" }}")
		require.NoError(t, err, in)
		require.Equal(t, want, got, in)
	}
}

// Budgets belong to one evaluation: another one must not reduce them.
func TestATemplateMayBeEvaluatedConcurrently(t *testing.T) {
	tpl, err := expr.Compile("{{ let k = input.n; sum(map(1..20000, # * k)) }}", scope)
	require.NoError(t, err)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 5 {
				got, err := tpl.Eval(newEnv(t))
				if err != nil || got != int64(1400070000) {
					t.Errorf("got %v, %v", got, err)
				}
			}
		})
	}
	group.Wait()
}

func TestResultsDoNotChangeTheEnvironment(t *testing.T) {
	e := newEnv(t)
	before, err := value.Encode(e.names["input"])
	require.NoError(t, err)
	for _, in := range []string{`sort(input.list)`, `reverse(input.list)`, `concat(take(input.list, 1), [9])`, `concat(input.list[:1], [9])`, `sortBy(input.lines, .price)`, `filter(input.list, true)`, `groupBy(input.list, #)`} {
		tpl, err := expr.Compile("{{ "+in+" }}", scope)
		require.NoError(t, err)
		_, err = tpl.Eval(e)
		require.NoError(t, err)
	}
	after, err := value.Encode(e.names["input"])
	require.NoError(t, err)
	require.Equal(t, before, after)
}

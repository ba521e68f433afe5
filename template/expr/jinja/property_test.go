package jinja_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/expr/jinja"
	"github.com/sluiceflow/sluice/template/value"
)

// evalPart evaluates an expression with names that it reads.
func evalPart(t *rapid.T, source string, names env) any {
	c, err := jinja.Compile("{{ " + source + " }}")
	require.NoError(t, err, source)
	v, err := c.Eval(names)
	require.NoError(t, err, source)
	return v
}

// Numbers, strings, and lists of each are drawn of one kind, so that any two have an order.
var (
	numbers = rapid.OneOf(rapid.Map(rapid.Int64Range(-3, 3), toAny), rapid.Map(rapid.Int64(), toAny), rapid.Map(rapid.Bool(), toAny), rapid.Map(rapid.Float64(), toAny), rapid.SampledFrom([]any{0.5, -0.5, 1e300, 9007199254740993, 9007199254740992.5}))
	words   = rapid.Map(rapid.OneOf(rapid.StringN(0, 3, -1), rapid.SampledFrom([]string{"a", "A", "b", "ß", "SS"})), toAny)
	ranked  = rapid.SampledFrom([]*rapid.Generator[any]{numbers, words, listsOf(numbers), listsOf(words), listsOf(listsOf(numbers)), listsOf(bits), listsOf(listsOf(bits))})
	bits    = rapid.Map(rapid.Int64Range(0, 1), toAny)
)

func listsOf(g *rapid.Generator[any]) *rapid.Generator[any] {
	return rapid.Map(rapid.SliceOfN(g, 0, 3), func(l []any) any { return l })
}

// sort orders values of one kind by <=, is stable, and loses nothing; reversed, the greatest comes first, and equals keep
// their order.
func TestSortIsStableAndTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := ranked.Draw(t, "kind")
		var rows []any
		for i, key := range rapid.SliceOfN(g, 0, 40).Draw(t, "keys") {
			rows = append(rows, map[string]any{"key": key, "at": i})
		}
		if rows == nil {
			rows = []any{}
		}
		exact := rapid.Bool().Draw(t, "exact")
		before := "[x.key] < [y.key]"
		if g == words && !exact {
			before = "x.key.lower() < y.key.lower()"
		}
		reverse := rapid.Bool().Draw(t, "reverse")
		attribute := rapid.SampledFrom([]string{"key", "key,key"}).Draw(t, "attribute")
		sorted := evalPart(t, "rows | sort(attribute=a, reverse=r, case_sensitive=e)", env{"rows": rows, "r": reverse, "e": exact, "a": attribute}).([]any)
		require.Len(t, sorted, len(rows))
		seen := map[any]bool{}
		for i, x := range sorted {
			seen[x.(map[string]any)["at"]] = true
			if i == 0 {
				continue
			}
			less := evalPart(t, before, env{"x": sorted[i-1], "y": x}).(bool)
			more := evalPart(t, before, env{"x": x, "y": sorted[i-1]}).(bool)
			require.False(t, less && more)
			if reverse {
				less, more = more, less
			}
			require.False(t, more, "%v before %v", sorted[i-1], x)
			if !less {
				require.Less(t, sorted[i-1].(map[string]any)["at"], x.(map[string]any)["at"], "equals stay in their order")
			}
		}
		require.Len(t, seen, len(rows))
	})
}

// Of two values of one ordered kind, exactly one of <, == and > holds, and grouping and min agree with that.
func TestOrderIsTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := ranked.Draw(t, "kind")
		names := env{"x": g.Draw(t, "x"), "y": g.Draw(t, "y"), "z": g.Draw(t, "z")}
		holds := 0
		for _, op := range []string{"<", "==", ">"} {
			if evalPart(t, "x "+op+" y", names).(bool) {
				holds++
			}
		}
		require.Equal(t, 1, holds)
		require.Equal(t, true, evalPart(t, "(x <= y) == (not y < x) and (x != y) == (not x == y) and (x < z or not (x < y and y < z))", names))
		require.Equal(t, true, evalPart(t, "[x, y, z] | min(case_sensitive=true) <= y and [x, y, z] | max(case_sensitive=true) >= y", names))
		require.Equal(t, true, evalPart(t, "(x == y) == ([[x], [y]] | groupby(0, case_sensitive=true) | length == 1)", names))
	})
}

// An integer and a float are compared exactly, even where no float is next to the integer.
func TestIntegersAndFloatsCompareExactly(t *testing.T) {
	large := rapid.OneOf(rapid.Int64Range(1<<53-3, 1<<53+3), rapid.Int64Range(1<<62-700, 1<<62+700), rapid.Int64Range(-1<<53-3, -1<<53+3))
	rapid.Check(t, func(t *rapid.T) {
		names := env{"a": large.Draw(t, "a"), "b": large.Draw(t, "b")}
		require.Equal(t, true, evalPart(t, "(a < b / 1) == (a < (b / 1) | int) and (b / 1 <= a) == ((b / 1) | int <= a) and (a == b / 1) == (a == (b / 1) | int)", names))
	})
}

// anything draws a value of package value.
func anything(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.Bool(), toAny), rapid.Map(rapid.Int64(), toAny), rapid.Map(rapid.Float64(), toAny), rapid.Map(rapid.String(), toAny),
		rapid.SampledFrom([]any{"'", `"`, `'"`, `\`, "\x00\u2028\U000e0001", "é😀", 0.1, 1e16, 1e-5, math.Copysign(0, -1), 5e-324}))
	if depth == 0 {
		return leaf
	}
	inner := anything(depth - 1)
	return rapid.OneOf(leaf, listsOf(inner), rapid.Map(rapid.MapOfN(rapid.String(), inner, 0, 3), func(m map[string]any) any { return m }))
}

// The text of a value is an expression that returns the value again, and so is its JSON.
func TestTextsAndJSONReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, err := value.Of(anything(2).Draw(t, "value"))
		require.NoError(t, err)
		if v == int64(math.MinInt64) {
			t.Skip("whose literal is the negative of what is no integer")
		}
		names := env{"x": v}
		indent := rapid.SampledFrom([]string{"", "(indent=2)", "('\t')", "(0)"}).Draw(t, "indent")
		require.True(t, value.Equal(v, evalPart(t, "x | tojson"+indent+" | fromjson", names)))
		written := evalPart(t, "'%r' % [x]", names).(string)
		if strings.Contains(written, "-9223372036854775808") || len(written) > expr.MaxLength || strings.Contains(written, "e+") && strings.Contains(written, "nan") {
			t.Skip("no literal")
		}
		require.Truef(t, value.Equal([]any{v}, evalPart(t, written, nil)), "%s", written)
	})
}

// The quotient and the remainder of whole numbers yield the number again, and the remainder has the sign of the divisor.
func TestDivision(t *testing.T) {
	small := rapid.OneOf(rapid.Int64Range(-20, 20), rapid.Int64Range(-1<<31, 1<<31))
	rapid.Check(t, func(t *rapid.T) {
		names := env{"a": small.Draw(t, "a"), "b": small.Filter(func(i int64) bool { return i != 0 }).Draw(t, "b")}
		require.Equal(t, true, evalPart(t, "a // b * b + a % b == a and (a % b == 0 or (a % b < 0) == (b < 0)) and (a % b) | abs < b | abs and a * b / b == a", names))
		require.Equal(t, true, evalPart(t, "(a + 0.5) // b * b + (a + 0.5) % b == a + 0.5 and a is divisibleby b == (a % b == 0)", names))
	})
}

// Filters that split a text or a list lose nothing.
func TestPartsMakeTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := env{
			"s": rapid.StringOf(rapid.SampledFrom([]rune("aB -\t\n\r,ßé'"))).Draw(t, "s"), "n": rapid.IntRange(1, 9).Draw(t, "n"),
			"sep": rapid.SampledFrom([]string{",", "a", " -", "ß"}).Draw(t, "sep"), "i": rapid.IntRange(-9, 9).Draw(t, "i"), "k": rapid.SampledFrom([]int{-3, -1, 1, 2}).Draw(t, "k"),
		}
		for _, law := range []string{
			"sep.join(s.split(sep)) == s", "sep.join(s.rsplit(sep, n)) == s", "sep.join(s.split(sep, n)) == s", "s.partition(sep) | join == s", "s.rpartition(sep) | join == s", "s.splitlines(true) | join == s", `s.splitlines() == s.replace('\r\n', '\x0c').splitlines()`,
			"s | list | join == s", "s[::-1][::-1] == s", "s[:i] ~ s[i:] == s", "(s[i::k] | list) == (s | list)[i::k]", "s | list | batch(n) | sum(start=[]) == s | list", "s | list | slice(n) | sum(start=[]) == s | list",
			"s | list | slice(n, 0) | map('length') | unique | list | length == 1", "s | list | reverse | list == (s | list)[::-1]", "s.center(n) | length == [n, s | length] | max", "s.replace(sep, '') == s.split(sep) | join",
			"s.count(sep) == s.split(sep) | length - 1", "(s.find(sep) >= 0) == (sep in s)", "s.strip() == s.lstrip().rstrip()", "s.split() == s.rsplit()", "s.lower().upper() == s.upper()", "s | e | striptags == s.split() | join(' ')",
			"(s | truncate(n + 3, true, leeway=0)) | length <= n + 3", "s | wordwrap(n) | map('trim') | join == s | map('trim') | join",
			"s | wordwrap(n) | length == 0 or (s | wordwrap(n)).splitlines() | map('length') | max <= n", "s | b64encode | b64decode == s", "'{:{n}}'.format(s, n=n) | length == [n, s | length] | max", "'%*s' % (n, s) == s.rjust(n)",
		} {
			require.Equal(t, true, evalPart(t, law, names), law)
		}
	})
}

// Random directives and layouts of formats return a text or an error, within bounds, and twice the same.
func TestFormatsNeverPanic(t *testing.T) {
	pieces := rapid.StringOf(rapid.SampledFrom([]rune("%%%{{{}}}()[]!:.*#+- 019,_=<>^$aAbcdeEfFgGinorsxXüé")))
	rapid.Check(t, func(t *rapid.T) {
		names := env{"f": pieces.Draw(t, "format"), "x": anything(1).Draw(t, "x"), "y": rapid.OneOf(numbers, words).Draw(t, "y")}
		for _, source := range []string{"f % x", "f % (x, y)", "f % (y,)", "f % {'a': x}", "f.format(x, y, a=y)", "f.format(y)", "('{:' ~ f ~ '}').format(y)", "('%' ~ f) % y", "f | format(x)", "f | format(a=x)"} {
			c, err := jinja.Compile("{{ " + source + " }}")
			require.NoError(t, err)
			v, err := c.Eval(names)
			again, err2 := c.Eval(names)
			require.Equal(t, fmt.Sprint(err), fmt.Sprint(err2), source)
			require.Equal(t, v, again)
			if err == nil {
				require.True(t, utf8.ValidString(v.(string)), source)
				require.LessOrEqual(t, len(v.(string)), expr.MaxBytes)
			}
		}
	})
}

// Every callable takes any value and any arguments: it returns a value of the model or an error, and twice the same.
func TestCallsNeverPanic(t *testing.T) {
	forms := map[string]string{"filter": "OF | NAMEARGS", "test": "OF is NAMEARGS", "method": "(OF).NAMEARGS", "function": "NAMEARGS"}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(anything(1), rapid.SampledFrom([]any{[]any{[]any{"a", 1}}, []any{map[string]any{"a": 1}, map[string]any{"a": "b"}}, int64(math.MinInt64), "%s{}"}))
		small := rapid.IntRange(-3, 9)
		names := env{"x": v.Draw(t, "x"), "a": v.Draw(t, "a"), "b": rapid.OneOf(v, numbers).Draw(t, "b"), "c": v.Draw(t, "c"), "i": small.Draw(t, "i"), "j": small.Draw(t, "j")}
		args := rapid.SampledFrom([]string{"()", "(a)", "(b)", "(b, a)", "(b, c, a)", "(*a)", "(**a)", "(b, *a, **c)", "('a')", "('a', b)", "(a=b)", "(i)", "(i, a)", "(a, i)", "(a, i, j)", "(b, i, j)"}).Draw(t, "args")
		of := rapid.SampledFrom([]string{"x", "x", "(x, a)", "[x, b]", "{b: x}", "nobody", "1e308 * 10", "(x,)"}).Draw(t, "of")
		for what, known := range jinja.Names() {
			for _, name := range known {
				source := strings.NewReplacer("OF", of, "NAME", name, "ARGS", args).Replace(forms[what])
				if strings.ContainsAny(name, "=<>") {
					source = "[" + of + "] | select('" + name + "', b)"
				}
				c, err := jinja.Compile("{{ " + source + " }}")
				if err != nil {
					continue
				}
				got, err := c.Eval(names)
				again, err2 := c.Eval(names)
				require.Equal(t, fmt.Sprint(err), fmt.Sprint(err2), source)
				require.Equal(t, got, again, source)
				if err == nil {
					same, err := value.Of(got)
					require.NoError(t, err, source)
					require.Equal(t, same, got, source)
				}
			}
		}
	})
}

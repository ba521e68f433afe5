package jinja_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/expr/jinja"
	"github.com/sluiceflow/sluice/template/value"
)

// The value of a single expression keeps its type; in a text it becomes a string.
func TestTexts(t *testing.T) {
	check(t, []given{
		{"plain", "plain"}, {"", ""}, {"{{ n }}", 3}, {"{{ f }}", 1.5}, {"{{ null }}", nil}, {"{{ list }}", list(3, 1, 2)},
		{"n={{ n }}", "n=3"}, {"{{ n }}{{ n }}", "33"}, {"{{ yes }}/{{ null }}/{{ nobody }}/{{ f }}", "True/None//1.5"},
		{"{ {{ n }} }", "{ 3 }"}, {"a {{- n -}} b", "a3b"}, {"a{# no {{ one #}b", "ab"}, {"{{ '}}' }}", "}}"}, {"{{+ 'a' }}", "a"},
		{"{{ n }}\n", 3}, {"{{ list }}\n", list(3, 1, 2)}, {"{{ n }}\n\n", "3\n"}, {"\n{{ n }}", "\n3"}, {"n\n", "n\n"}, {"{{ 1, 2 }}", list(1, 2)},
		{"a\r\n{{ n }}\rb", "a\n3\nb"}, {"a\r\nb", "a\r\nb"}, {"{{ 'a\r\nb' }}", "a\nb"},
		{"{{ 6 / 2 }}", 3}, {"x{{ 6 / 2 }}", "x3.0"}, {"x{{ [1.0, none, nobody, 'a', (true,)] }}", "x[1.0, None, Undefined, 'a', (True,)]"},
		{"x{{ {'b': \"it's\", 'a': '\"'} }}", `x{'a': '"', 'b': "it's"}`}, {"x{{ 1e20 }} {{ 0.00001 }} {{ 1e15 }}", "x1e+20 1e-05 1000000000000000.0"},
		{"x{{ ['é\\n\\t\\x00\\u2028\\\\'] }}", `x['é\n\t\x00\u2028\\']`},
	})
}

func TestLiterals(t *testing.T) {
	check(t, []given{
		{`{{ '\u00e9\x41\101\0\a\v' }}`, "éAA\x00\a\v"}, {`{{ '\U0001f600' }}`, "😀"}, {`{{ '\q\8' }}`, `\q\8`}, {"{{ 'a\\\nb' }}", "ab"}, {"{{ 'a\\\r\nb' }}", "ab"},
		{"{{ 'it\\'s' }}", "it's"}, {`{{ "a\n" "b" }}`, "a\nb"}, {`{{ '\d' }}`, `\d`}, {"{{ True }}", true}, {"{{ None }}", nil},
		{"{{ 1_000 + 1e3 }}", 2000}, {"{{ 1.0 }}", 1}, {"{{ 0x1f + 0b11 + 0o17 }}", 49}, {"{{ 0XFF_ff }}", 65535}, {"{{ 00 }}", 0},
		{"{{ (1, 2) }}", list(1, 2)}, {"{{ (1,) }}", list(1)}, {"{{ () }}", list()}, {"{{ [1, 2,] }}", list(1, 2)}, {"{{ (1) }}", 1},
		{"{{ {'a': [1, (2,)]} }}", map[string]any{"a": []any{1, []any{2}}}}, {"{{ {1: 'x', true: 'y', none: 'z'} }}", map[string]any{"1": "y", "null": "z"}},
		{"{{ {1: 'x', 404: 'y'}[404] }}", "y"}, {"{{ {(1, 2): 'x'}[1, 2] }}", "x"}, {"{{ {1.5: 'x'} }}", map[string]any{"1.5": "x"}},
	})
	refused(t, map[string]string{
		"{{ {(1,): 2} }}":      "a key must be a string, a number, true, false or null",
		"{{ {1: 2, '1': 3} }}": `two of its keys are written "1"`,
		"{{ {[1]: 2} }}":       "a list cannot be a key",
	})
}

func TestCompileRefuses(t *testing.T) {
	uncompiled(t, map[string]string{
		"{{ }}":                     "unexpected end",
		"{{ a b }}":                 `unexpected "b"`,
		"{{ a + }}":                 "unexpected end",
		"{{ (a }}":                  "unexpected end",
		"{{ (,) }}":                 `unexpected ","`,
		"{{ a | }}":                 "unexpected end",
		"{{ a.1e5 }}":               `unexpected "e5"`,
		"{{ a":                      "it is not closed",
		"{{ 'a }}":                  "it is not closed",
		"{# a":                      "it is not closed",
		"{% if a %}":                "statements {% … %} are not read",
		`{{ '\u12' }}`:              `\u must be followed by 4 digits that make a character`,
		`{{ '\ud800' }}`:            `\u must be followed by 4 digits`,
		`{{ '\N{DIGIT ONE}' }}`:     `\N{…} is not known`,
		`{{ 'a\`:                    "it is not closed",
		"{{ a && b }}":              `unexpected "&&" (did you mean "and"?)`,
		"{{ a || b }}":              `unexpected "||" (did you mean "or"?)`,
		"{{ !a }}":                  `unexpected "!" (did you mean "not"?)`,
		"{{ a = 1 }}":               `unexpected "=" (did you mean "=="?)`,
		"{{ a & b }}":               `unexpected '&'`,
		"{{ a ? b }}":               `unexpected "?" (did you mean "if"?)`,
		"{{ else }}":                `unexpected "else"`,
		"{{ a[] }}":                 "an index is missing",
		"{{ a[1,] }}":               `unexpected "]"`,
		"{{ a is }}":                "unexpected end",
		"{{ a is not | }}":          `unexpected "|"`,
		"{{ a is odd is even }}":    `behind a test there is no "is"`,
		"{{ a is odd if b }}":       "put the test in parentheses",
		"{{ 007 }}":                 `unexpected "7"`,
		"{{ 1__0 }}":                `unexpected "__0"`,
		"{{ 9223372036854775808 }}": "is out of range",
		"{{ 0xffffffffffffffff }}":  "is out of range",
		"{{ 0xfg }}":                `unexpected "g"`,
		"{{ 1e999 }}":               "is out of range",

		"{{ " + strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200) + " }}": "nests at most",
		"{{ " + strings.Repeat("not ", 300) + "1 }}":                              "nests at most",
		"{{ 1" + strings.Repeat(" + 1", 2000) + " }}":                             "at most 1000 parts",
		"{{ '" + strings.Repeat("x", expr.MaxLength) + "' }}":                     "is too long",
	})
}

func TestCompileSaysWhereAndReportsAll(t *testing.T) {
	_, err := jinja.CompileValue(map[string]any{"a": []any{"ok", "so {{ b | lowr }}"}, "b": "{{ + }}"})
	var list []*expr.Error
	for _, err := range err.(interface{ Unwrap() []error }).Unwrap() {
		var e *expr.Error
		require.ErrorAs(t, err, &e)
		list = append(list, e)
	}
	require.Len(t, list, 2)
	require.Equal(t, "/a/1", list[0].Pointer)
	require.Equal(t, 10, list[0].Offset)
	require.Equal(t, "{{ b | lowr }}", list[0].Text)
	require.Equal(t, "/b", list[1].Pointer)
}

func TestCompileValue(t *testing.T) {
	c, err := jinja.CompileValue(map[string]any{"{{ k }}": []any{"{{ n }}", 5, nil, "{{ 4 / 2 }}", "{{ (1, nobody) }}"}, "t": "n={{ n }}"})
	require.NoError(t, err)
	v, err := c.Eval(world)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"{{ k }}": []any{int64(3), int64(5), nil, int64(2), []any{int64(1), nil}}, "t": "n=3"}, v)
	require.Equal(t, []string{"n", "nobody"}, c.Names())
	_, fixed := c.Constant()
	require.False(t, fixed)
	c, err = jinja.CompileValue(map[string]any{"a": 1.0})
	require.NoError(t, err)
	v, fixed = c.Constant()
	require.True(t, fixed)
	require.Equal(t, map[string]any{"a": int64(1)}, v)
}

func TestErrorsOfTheEnvironmentAreKept(t *testing.T) {
	_, err := eval(t, "{{ broken }}")
	require.ErrorIs(t, err, world["broken"].(error))
	_, err = eval(t, "a {{ broken }}")
	require.ErrorIs(t, err, world["broken"].(error))
}

// Results share memory with the environment, so an expression must not change it.
func TestNothingChangesTheEnvironment(t *testing.T) {
	before, err := value.Of(map[string]any{"rows": world["rows"], "list": world["list"], "ctx": world["ctx"]})
	require.NoError(t, err)
	text, err := value.Encode(before)
	require.NoError(t, err)
	names := env(before.(map[string]any))
	for _, source := range []string{
		"{{ list | sort }}", "{{ list | reverse }}", "{{ list + [4] }}", "{{ list | list + [4] }}", "{{ list[:2] + [9] }}", "{{ list.copy() + [1] }}",
		"{{ list | batch(2, 0) }}", "{{ list | slice(2, 0) }}", "{{ rows | groupby('sku') }}", "{{ rows | sort(attribute='qty,sku', reverse=true) }}",
		"{{ dict(ctx, n=9) }}", "{{ ctx.copy() }}", "{{ '%d %d %d' % (list | list).copy() if no else list | unique }}", "{{ range(*list[1:]) }}", "{{ dict(**ctx) }}",
	} {
		c, err := jinja.Compile(source)
		require.NoError(t, err, source)
		_, err = c.Eval(names)
		require.NoError(t, err, source)
	}
	after, err := value.Encode(before)
	require.NoError(t, err)
	require.Equal(t, text, after)
}

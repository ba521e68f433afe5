package jinja_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/expr/jinja"
	"github.com/sluiceflow/sluice/template/value"
)

// env is an environment of plain values.
type env map[string]any

func (e env) Name(name string) (value.Value, error) {
	v, ok := e[name]
	if !ok {
		return nil, jinja.ErrUndefined
	}
	if err, ok := v.(error); ok {
		return nil, err
	}
	return value.Of(v)
}

func (env) Step(string, expr.Field) (value.Value, error) { return nil, errors.New("no steps") }

var world = env{
	"n": 3, "f": 1.5, "s": "Widget", "yes": true, "no": false, "null": nil, "list": []any{3, 1, 2},
	"rows":  []any{map[string]any{"sku": "nut", "qty": 4}, map[string]any{"sku": "bolt", "qty": 9}},
	"ctx":   map[string]any{"n": 2, "text": "true", "deep": map[string]any{"k": "v"}},
	"pairs": []any{[]any{"a", 1}, []any{"b", 2}},
	"huge":  int64(9223372036854775807), "broken": errors.New("the disk is gone"),
}

func eval(t *testing.T, source string) (any, error) {
	t.Helper()
	c, err := jinja.Compile(source)
	require.NoError(t, err, source)
	v, err := c.Eval(world)
	if err == nil {
		same, oferr := value.Of(v)
		require.NoError(t, oferr, source)
		require.Equal(t, same, v, "%s gives a value of the model", source)
	}
	return v, err
}

func list(items ...any) any {
	if items == nil {
		items = []any{}
	}
	v, _ := value.Of(items)
	return v
}

func TestEval(t *testing.T) {
	tests := []struct {
		source string
		want   any
	}{
		// what an expression alone gives keeps its type; in a text it becomes one
		{"plain", "plain"}, {"", ""}, {"{{ n }}", int64(3)}, {"{{ f }}", 1.5}, {"{{ null }}", nil}, {"{{ list }}", list(3, 1, 2)},
		{"n={{ n }}", "n=3"}, {"{{ n }}{{ n }}", "33"}, {"{{ yes }}/{{ null }}/{{ nobody }}/{{ f }}", "True/None//1.5"},
		{"{{ {'a': 1} }}!", `{"a":1}!`}, {"{ {{ n }} }", "{ 3 }"}, {"a {{- n -}} b", "a3b"}, {"a{# no {{ one #}b", "ab"}, {"{{ '}}' }}", "}}"},
		{`{{ '\u00e9\x41\101\0\a\v' }}`, "éAA\x00\a\v"}, {`{{ '\U0001f600' }}`, "😀"}, {`{{ '\q\8' }}`, `\q\8`}, {"{{ 'a\\\nb' }}", "ab"},
		{"{{ n }}\n", int64(3)}, {"{{ list }}\n", list(3, 1, 2)}, {"{{ n }}\n\n", "3\n"}, {"\n{{ n }}", "\n3"}, {"n\n", "n\n"},
		{"{{ '}}' }}", "}}"}, {"{{ 'it\\'s' }}", "it's"}, {`{{ "a\n" "b" }}`, "a\nb"}, {`{{ '\d' }}`, `\d`},

		// numbers
		{"{{ 1 + 2 * 3 }}", int64(7)}, {"{{ (1 + 2) * 3 }}", int64(9)}, {"{{ 7 / 2 }}", 3.5}, {"{{ 6 / 2 }}", int64(3)}, {"{{ 7 // -2 }}", int64(-4)},
		{"{{ -7 // 2 }}", int64(-4)}, {"{{ -7 % 3 }}", int64(2)}, {"{{ 7 % -3 }}", int64(-2)}, {"{{ 7.5 // 2 }}", int64(3)}, {"{{ -7.5 % 2 }}", 0.5},
		{"{{ 2 ** 3 ** 2 }}", int64(64)}, {"{{ -2 ** 2 }}", int64(4)}, {"{{ 2 ** -1 }}", 0.5}, {"{{ (-1) ** 3 }}", int64(-1)}, {"{{ 0 ** 0 }}", int64(1)},
		{"{{ 1_000 + 1e3 }}", int64(2000)}, {"{{ 1.0 }}", int64(1)}, {"{{ - 3 }}", int64(-3)}, {"{{ -n | abs }}", int64(3)}, {"{{ +n }}", int64(3)},

		{"{{ 0x1f + 0b11 + 0o17 }}", int64(49)}, {"{{ 0XFF_ff }}", int64(65535)}, {"{{ [[1, [5]]].0.1.0 }}", int64(5)}, {"{{ -9223372036854775807.0 - 1024 }}", int64(-9223372036854775808)},
		{"{{ 1 // 0.1 }}", int64(9)}, {"{{ 1 % 0.1 }}", 0.09999999999999995}, {"{{ 1.5 // 0.3 }}", int64(5)}, {"{{ -0.5 // 1e18 }}", int64(-1)}, {"{{ 7.5 % -2 }}", -0.5},
		{"{{ 1.115 | round(2) }}", 1.11}, {"{{ 2.675 | round(2) }}", 2.67}, {"{{ 1350 | round(-2) }}", int64(1400)}, {"{{ 1250.0 | round(-2) }}", int64(1200)}, {"{{ -2.5 | round }}", int64(-2)},
		{"{{ 9007199254740993 | round }}", int64(9007199254740993)}, {"{{ 1e300 | round(10) }}", 1e300}, {"{{ 1234 | round(-2, 'ceil') }}", int64(1300)}, {"{{ 0.1 | round(1000) }}", 0.1},
		{"{{ '12_000' | int }}", int64(12000)}, {"{{ '1__0' | int(-1) }}", int64(-1)}, {"{{ 'ff' | int(0, 16) }}", int64(255)}, {"{{ '-0x1f' | int(base=16) }}", int64(-31)},
		{"{{ '0b_11' | int(base=2) }}", int64(3)}, {"{{ '0x1f' | int }}", int64(0)}, {"{{ 'inf' | int(3) }}", int64(3)}, {"{{ -1.9 | int }}", int64(-1)}, {"{{ '1_0.5' | float }}", 10.5}, {"{{ '1_e5' | float }}", int64(0)}, {"{{ '1_._5' | float }}", int64(0)},
		{"{{ '0x1p4' | float }}", int64(0)}, {"{{ 'nan' | float(none) }}", nil}, {"{{ '1e3' | int }}", int64(1000)},

		// text and lists
		{"{{ 'a' + 'b' }}", "ab"}, {"{{ 'ab' * 2 }}", "abab"}, {"{{ 'ab' * -1 }}", ""}, {"{{ 'n=' ~ n ~ yes }}", "n=3True"}, {"{{ [1] + [2] }}", list(1, 2)},
		{"{{ 1 ~ 2 + 3 }}", nil}, {"{{ (1, 2) }}", list(1, 2)}, {"{{ (1,) }}", list(1)}, {"{{ () }}", list()}, {"{{ [1, 2,] }}", list(1, 2)},
		{"{{ list[0] }}", int64(3)}, {"{{ list[-1] }}", int64(2)}, {"{{ list[9] }}", nil}, {"{{ list[1:] }}", list(1, 2)}, {"{{ list[:-1] }}", list(3, 1)},
		{"{{ list[::-1] }}", list(2, 1, 3)}, {"{{ list[::2] }}", list(3, 2)}, {"{{ s[0] }}", "W"}, {"{{ s[1:3] }}", "id"}, {"{{ s[::-1] }}", "tegdiW"},
		{"{{ ctx.deep.k }}", "v"}, {"{{ ctx['deep']['k'] }}", "v"}, {"{{ rows[0].sku }}", "nut"}, {"{{ rows.1.sku }}", "bolt"}, {"{{ (rows | first).sku }}", "nut"},
		{"{{ ctx.nothing }}", nil}, {"{{ {'a': n}.a }}", int64(3)},

		// conditions
		{"{{ 1 < 2 < 3 }}", true}, {"{{ 3 > 2 > 2 }}", false}, {"{{ n == 3.0 }}", true}, {"{{ 'a' < 'b' }}", true}, {"{{ [1] == [1.0] }}", true},
		{"{{ 2 in list }}", true}, {"{{ 'c' in ['a'] + ['c'] }}", true}, {"{{ 'x' not in ctx }}", true}, {"{{ 'dge' in s }}", true}, {"{{ not 'a' in ['a'] }}", false},
		{"{{ not no and yes }}", true}, {"{{ n or 5 }}", int64(3)}, {"{{ no or 5 }}", int64(5)}, {"{{ no and broken }}", false}, {"{{ yes or broken }}", true},
		{"{{ 'big' if n > 2 else 'small' }}", "big"}, {"{{ 'big' if n > 5 }}", nil}, {"{{ (1 if no else 2) + 1 }}", int64(3)}, {"{{ 1 if no else 2 if no else 3 }}", int64(3)},
		{"{{ 'a' in nobody }}", false}, {"{{ 'a' not in nobody }}", true}, {"{{ nobody is iterable }}", true}, {"{{ true == 1 }}", false}, {"{{ n != 3 }}", false},
		{"{{ nobody == nobody2 }}", true}, {"{{ nobody == none }}", false}, {"{{ True }}", true}, {"{{ None }}", nil},

		// tests
		{"{{ n is defined }}", true}, {"{{ nobody is defined }}", false}, {"{{ nobody is not defined }}", true}, {"{{ ctx.token is defined }}", false},
		{"{{ null is none }}", true}, {"{{ n is divisibleby 3 }}", true}, {"{{ n is divisibleby(2) }}", false}, {"{{ n is odd and n is not even }}", true},
		{"{{ 1 + 1 is integer }}", nil}, {"{{ f is float }}", true}, {"{{ list is iterable }}", true}, {"{{ ctx is mapping }}", true}, {"{{ s is string }}", true},
		{"{{ n is in [3] }}", true}, {"{{ n is gt 2 }}", true}, {"{{ 'a' is lower }}", true}, {"{{ yes is true }}", true}, {"{{ 1 if n is defined else 2 }}", int64(1)},
		{"{{ n is number }}", true}, {"{{ nobody is undefined }}", true}, {"{{ no is boolean }}", true}, {"{{ n is eq(3) }}", true}, {"{{ n is sequence }}", false},

		// filters
		{"{{ nobody | default(1) }}", int64(1)}, {"{{ ctx.n | default(0) | int + 1 }}", int64(3)}, {"{{ '' | default('x') }}", ""}, {"{{ '' | d('x', true) }}", "x"},
		{"{{ '12' | int }}", int64(12)}, {"{{ ' 1.9 ' | int }}", int64(1)}, {"{{ 'x' | int(7) }}", int64(7)}, {"{{ yes | int }}", int64(1)}, {"{{ '1.5' | float }}", 1.5},
		{"{{ yes | string | lower == 'true' }}", true}, {"{{ 'YES' | bool }}", true}, {"{{ 'ab' | list }}", list("a", "b")}, {"{{ ctx | list }}", list("deep", "n", "text")},
		{"{{ s | length }}", int64(6)}, {"{{ rows | length }}", int64(2)}, {"{{ nobody | length }}", int64(0)}, {"{{ list | first }}", int64(3)}, {"{{ [] | first }}", nil},
		{"{{ list | last }}", int64(2)}, {"{{ list | sort }}", list(1, 2, 3)}, {"{{ list | sort(reverse=true) }}", list(3, 2, 1)}, {"{{ ['b', 'A'] | sort }}", list("A", "b")},
		{"{{ rows | sort(attribute='sku') | map(attribute='sku') | join('+') }}", "bolt+nut"}, {"{{ rows | join(',', attribute='qty') }}", "4,9"},
		{"{{ rows | sum('qty') }}", int64(13)}, {"{{ list | sum }}", int64(6)}, {"{{ list | min }}", int64(1)}, {"{{ list | max }}", int64(3)}, {"{{ (rows | max(attribute='qty')).sku }}", "bolt"},
		{"{{ rows | selectattr('qty', 'gt', 5) | map(attribute='sku') | list }}", list("bolt")}, {"{{ rows | rejectattr('nothing') | length }}", int64(2)},
		{"{{ list | select('odd') | list }}", list(3, 1)}, {"{{ [0, 1] | reject }}", list(0)}, {"{{ ['a'] | map('upper') }}", list("A")}, {"{{ ['1'] | map('int', 5) }}", list(1)},
		{"{{ [[1, 2], [3]] | map('join', d='-') }}", list("1-2", "3")}, {"{{ [[3, 1], [2, 9]] | map('sort', reverse=true) }}", list([]any{3, 1}, []any{9, 2})},
		{"{{ ['x', ''] | map('default', 'y', boolean=true) }}", list("x", "y")}, {"{{ rows | map(default=0, attribute='nope') }}", list(0, 0)},
		{"{{ rows | selectattr('qty', '==', 4) | map(attribute='sku') }}", list("nut")}, {"{{ list | select('>', 1) }}", list(3, 2)}, {"{{ list | reject('lessthan', other=2) | length }}", int64(2)},
		{"{{ [ctx, ctx.deep, {}] | map(attribute='n') | select('defined') }}", list(2)}, {"{{ [ctx, {}] | map(attribute='n') | map('default', 0) }}", list(2, 0)},
		{"{{ null | map('upper') | list }}", list()}, {"{{ null | selectattr('x') }}", list()},
		{"{{ [nobody, 1] | first | default(5) }}", int64(5)}, {"{{ {'x': nobody}.x is defined }}", false}, {"{{ dict(x=nobody).x | d(5) }}", int64(5)},
		{"{{ [nobody] == [none] }}", false}, {"{{ [{'a': nobody}] == [{'a': nobody}] }}", true}, {"{{ nobody in [none] }}", false}, {"{{ {} in [nobody] }}", false},
		{"{{ [nobody, {'a': nobody}] }}", list(nil, map[string]any{"a": nil})}, {"{{ [nobody] | tojson }}", "[null]"}, {"{{ [nobody] ~ '' }}", "[null]"},
		{"{{ [1, null, nobody] | join('-') }}", "1-None-"}, {"{{ [[nobody], [null], nobody, null] | unique | length }}", int64(2)}, {"{{ rows | map(attribute='nope') }}", list(nil, nil)},
		{"{{ ['a', 'A', 'b'] | unique }}", list("a", "b")}, {"{{ 'abc' | reverse }}", "cba"}, {"{{ list | reverse }}", list(2, 1, 3)}, {"{{ 2.5 | round }}", int64(2)},
		{"{{ 2.456 | round(2) }}", 2.46}, {"{{ 2.1 | round(0, 'ceil') }}", int64(3)}, {"{{ {'b': 1, 'a': 2} | dictsort }}", list([]any{"a", 2}, []any{"b", 1})},
		{"{{ {'b': 1, 'a': 2}.items() }}", list([]any{"a", 2}, []any{"b", 1})}, {"{{ {'b': 1, 'a': 2} | values }}", list(2, 1)}, {"{{ ctx.keys() }}", list("deep", "n", "text")},
		{"{{ ctx.deep | tojson }}", `{"k":"v"}`}, {"{{ '[1, 2.0]' | fromjson }}", list(1, 2)}, {"{{ 'hi' | b64encode }}", "aGk="}, {"{{ 'aGk=' | b64decode }}", "hi"},
		{"{{ 'a b/c' | urlencode }}", "a%20b/c"}, {"{{ {'b': 1, 'a': 'x y'} | urlencode }}", "a=x+y&b=1"}, {"{{ 'hello world' | title }}", "Hello World"},
		{"{{ 'hELLO' | capitalize }}", "Hello"}, {"{{ ' x ' | trim }}", "x"}, {"{{ 'xax' | trim('x') }}", "a"}, {"{{ 'aaa' | replace('a', 'b', 2) }}", "bba"}, {"{{ 5 | upper }}", "5"},

		{"{{ pairs | map(attribute=0) }}", list("a", "b")}, {"{{ pairs | map(attribute='1') | sum }}", int64(3)}, {"{{ pairs | selectattr(1, 'gt', 1) | length }}", int64(1)},
		{"{{ pairs | sort(attribute=1, reverse=true) | first | first }}", "b"}, {"{{ [{'a': [{'b': 1}]}] | map(attribute='a.0.b') }}", list(1)}, {"{{ [{'0': 1}] | sum('0') }}", int64(1)},
		{"{{ [{}, {'a': {'b': 2}}] | map(attribute='a.b', default=7) }}", list(7, 2)}, {"{{ [ctx] | map(attribute='nope', default=none) | first is defined }}", false},
		{"{{ ['b', 'A', 'a'] | min }}", "A"}, {"{{ ['a', 'B'] | max }}", "B"}, {"{{ ['a', 'B'] | max(case_sensitive=true) }}", "a"}, {"{{ ['a', 'A'] | unique(true) }}", list("a", "A")},
		{"{{ {'b': 1, 'A': 2, 'C': 0} | dictsort | map('first') }}", list("A", "b", "C")}, {"{{ {'b': 1, 'A': 2, 'C': 0} | dictsort(true) | map('first') }}", list("A", "C", "b")},
		{"{{ {'b': 1, 'A': 2, 'C': 0} | dictsort(by='value', reverse=true) | map('last') }}", list(2, 1, 0)}, {"{{ {'b': 1, 'A': 2} | items | first | first }}", "A"},
		{"{{ \"it's a foo_bar-baz (1st)\" | title }}", "It's A Foo_bar-Baz (1st)"}, {"{{ \"it's 1st\".title() }}", "It'S 1St"}, {"{{ 5 | title }}", "5"},
		{"{{ pairs | urlencode }}", "a=1&b=2"}, {"{{ {'a b': null, 'c': 'x/y &'} | urlencode }}", "a+b=None&c=x%2Fy+%26"}, {"{{ [] | urlencode }}", ""},

		// methods and functions
		{"{{ 'a,b'.split(',') }}", list("a", "b")}, {"{{ ' a  b '.split() }}", list("a", "b")}, {"{{ 'a,b,c'.split(',', 1) }}", list("a", "b,c")}, {"{{ '-'.join(['a', 'b']) }}", "a-b"},
		{"{{ s.lower().startswith('wid') }}", true}, {"{{ s.endswith('x') }}", false}, {"{{ 'xx1'.lstrip('x').isdigit() }}", true}, {"{{ 'aéb'.find('b') }}", int64(2)},
		{"{{ ' a b  c '.split(none, 1) }}", list("a", "b  c ")}, {"{{ ' a b  c d '.split(maxsplit=2) }}", list("a", "b", "c d ")}, {"{{ 'a b'.split(none, 0) }}", list("a b")},
		{"{{ 'a,b,c'.split(',', 0) }}", list("a,b,c")}, {"{{ 'a,b,c'.split(',', -1) }}", list("a", "b", "c")}, {"{{ ' '.split() }}", list()},
		{"{{ ' x '.strip('') }}", " x "}, {"{{ ' x '.strip(none) }}", "x"}, {"{{ 'aaa'.replace('a', 'b', 0) }}", "aaa"}, {"{{ 'ab'.replace('', '-') }}", "-a-b-"},
		{"{{ ctx.get('n') }}", int64(2)}, {"{{ ctx.get('nothing', 5) }}", int64(5)}, {"{{ ctx.get('nothing') }}", nil}, {"{{ list.index(1) }}", int64(1)}, {"{{ [1, 1].count(1) }}", int64(2)},
		{"{{ range(3) }}", list(0, 1, 2)}, {"{{ range(1, 6, 2) | list }}", list(1, 3, 5)}, {"{{ range(3, 0, -1) }}", list(3, 2, 1)}, {"{{ range(0) }}", list()}, {"{{ dict(a=1).a }}", int64(1)},
	}
	fails := map[string]bool{"{{ 1 ~ 2 + 3 }}": true, "{{ 1 + 1 is integer }}": true}
	for _, tt := range tests {
		got, err := eval(t, tt.source)
		if fails[tt.source] {
			require.Error(t, err, tt.source)
			continue
		}
		require.NoError(t, err, tt.source)
		require.Equal(t, tt.want, got, tt.source)
	}
}

func TestEvalFails(t *testing.T) {
	tests := map[string]string{
		"{{ nobody.field }}":                `nobody is undefined: it has no "field"`,
		"{{ ctx.nothing.field }}":           `nothing is undefined: it has no "field"`,
		"{{ nobody[0] }}":                   "nobody is undefined: it has no [0]",
		"{{ nobody.items() }}":              "nobody is undefined: it has no method items",
		"{{ nobody + 1 }}":                  "nobody, which is undefined",
		"{{ nobody | int }}":                "filter int: nobody is undefined",
		"{{ nobody < 1 }}":                  "have no order",
		"{{ huge + 1 }}":                    "too large a number",
		"{{ huge * 2 }}":                    "too large a number",
		"{{ -huge - 2 }}":                   "too large a number",
		"{{ 2 ** 10000000 }}":               "too large a number",
		"{{ 10.5 ** 1000 }}":                "too large a number",
		"{{ 1 / 0 }}":                       "division by zero",
		"{{ 1.5 // 0 }}":                    "division by zero",
		"{{ n % 0 }}":                       "division by zero",
		"{{ 1e30 | int }}":                  "too large a number",
		"{{ '9223372036854775808' | int }}": "too large a number",
		"{{ '1e30' | int(1) }}":             "too large a number",
		"{{ '1' | int(base=1) }}":           "base must be from 2 to 36",
		"{{ 2.5 | round('1') }}":            "precision must be a whole number, not a string",
		"{{ 's' + 1 }}":                     "have no +",
		"{{ broken }}":                      "the disk is gone",
		"{{ 'a' | fromjson }}":              "filter fromjson",
		"{{ ['a', 1] | sort }}":             "have no order",
		"{{ n | join }}":                    "cannot be gone through",
		"{{ n.upper() }}":                   "it is one of strings",
		"{{ list.index(9) }}":               "is not in the list",
		"{{ range(1, 2, 0) }}":              "its step must not be 0",
		"{{ list[::0] }}":                   "must not be 0",
		"{{ {1: 2} }}":                      "a key must be a string",
		"{{ ['a'] | map('' ~ 'nope') }}":    `unknown filter "nope"`,
		"{{ 1 is divisibleby 0 }}":          "cannot be divided",
		"{{ [1] | select('' ~ 'nope') }}":   `unknown test "nope"`,

		"{{ ['a'] | map('' ~ 'upper', 1) }}":       "filter upper takes no arguments",
		"{{ ['a'] | map('' ~ 'sort', revers=1) }}": "filter sort takes no revers",
		"{{ ['a'] | map('' ~ 'lowr') }}":           `(did you mean "lower"?)`,
		"{{ ['a'] | map(attribut='x') }}":          "it takes no attribut",
		"{{ rows | map(attribute='tag.x') }}":      `it has no ["x"]`,
		"{{ rows | selectattr('tag.x') }}":         `it has no ["x"]`,
		"{{ rows | sum(attribute=1.5) }}":          "attribute must be a string",
		"{{ [1] | urlencode }}":                    "it needs pairs of a name and a value",
		"{{ ctx | dictsort(by='x') }}":             "by must be key or value",
		"{{ ['a'] | map }}":                        "it needs attribute",
		"{{ ['a'] | select('' ~ 'gt') }}":          "test gt needs other",
		"{{ ['a'] | select(other=1) }}":            "test must be a string",
		"{{ ['a'] | selectattr }}":                 "it needs the name of a field",
		"{{ 'abc'.replace(none, 'x') }}":           "old must be a string, not null",
		"{{ 'abc'.startswith(none) }}":             "prefix must be a string, not null",
		"{{ 'abc'.find(none) }}":                   "sub must be a string, not null",
		"{{ 'abc'.split('') }}":                    "sep must not be empty",
		"{{ 'abc'.split('b', 'x') }}":              "maxsplit must be a whole number",
		"{{ 'ab' | replace('a', 'b', 'x') }}":      "count must be a whole number",
		"{{ range(1, stop=3) }}":                   "its numbers have no names",
	}
	for source, want := range tests {
		_, err := eval(t, source)
		require.ErrorContains(t, err, want, source)
		var e *expr.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, source, e.Text)
	}
	_, err := eval(t, "{{ broken }}")
	require.ErrorIs(t, err, world["broken"].(error), "what the environment says is kept")
}

func TestCompileRefuses(t *testing.T) {
	tests := map[string]string{
		"{{ }}":                 "unexpected end",
		"{{ a b }}":             `unexpected "b"`,
		"{{ a + }}":             "unexpected end",
		"{{ (a }}":              "unexpected end",
		"{{ a | }}":             "unexpected end",
		"{{ a | lowr }}":        `unknown filter "lowr" (did you mean "lower"?)`,
		"{{ a is defned }}":     `unknown test "defned" (did you mean "defined"?)`,
		"{{ a.splt() }}":        `unknown method "splt" (did you mean "split"?)`,
		"{{ rnge(1) }}":         `unknown function "rnge" (did you mean "range"?)`,
		"{{ now() }}":           `unknown function "now"`,
		"{{ a()() }}":           "unknown function",
		"{{ a":                  "it is not closed",
		"{{ 'a }}":              "it is not closed",
		"{# a":                  "it is not closed",
		"{% if a %}":            "statements {% … %} are not read",
		`{{ '\u12' }}`:          `\u must be followed by 4 digits that make a character`,
		`{{ '\ud800' }}`:        `\u must be followed by 4 digits`,
		`{{ '\N{DIGIT ONE}' }}`: `\N{…} is not known`,
		`{{ 'a\`:                "it is not closed",
		"{{ a && b }}":          `unexpected "&&" (did you mean "and"?)`,
		"{{ a || b }}":          `unexpected "||" (did you mean "or"?)`,
		"{{ !a }}":              `unexpected "!" (did you mean "not"?)`,
		"{{ a = 1 }}":           `unexpected "=" (did you mean "=="?)`,
		"{{ a & b }}":           `unexpected '&'`,
		"{{ a ? b }}":           `unexpected "?" (did you mean "if"?)`,
		"{{ else }}":            `unexpected "else"`,
		"{{ a[] }}":             "an index is missing",
		"{{ a is }}":            "unexpected end",
		"{{ a is not | }}":      `unexpected "|"`,

		"{{ a | sort(revers=true) }}":        `filter sort takes no revers (did you mean "reverse"?)`,
		"{{ a | upper('x') }}":               "filter upper takes no arguments",
		"{{ a | round(1, 'ceil', 3) }}":      "filter round takes no more than precision, method",
		"{{ a | round(1, precision=2) }}":    "filter round is given precision twice",
		"{{ a | join(d=1, d=2) }}":           "filter join is given d twice",
		"{{ a | replace('x') }}":             "filter replace needs new",
		"{{ a.replace(new='x') }}":           "method replace needs old",
		"{{ a.startswith() }}":               "method startswith needs prefix",
		"{{ a.items(1) }}":                   "method items takes no arguments",
		"{{ a is defined(1) }}":              "test defined takes no arguments",
		"{{ a is gt }}":                      "test gt needs other",
		"{{ a | map('lowr') }}":              `unknown filter "lowr" (did you mean "lower"?)`,
		"{{ a | map('upper', 1) }}":          "filter upper takes no arguments",
		"{{ a | map('sort', revers=1) }}":    "filter sort takes no revers",
		"{{ a | reject('defned') }}":         `unknown test "defned" (did you mean "defined"?)`,
		"{{ a | selectattr('x', 'gt') }}":    "test gt needs other",
		"{{ range() }}":                      "function range needs start",
		"{{ range(1, 2, 3, 4) }}":            "function range takes no more than start, stop, step",
		"{{ a | replace('x', 'y') | nope }}": `unknown filter "nope"`,
		"{{ 9223372036854775808 }}":          "is no number",
		"{{ 0xffffffffffffffff }}":           "is no number",
		"{{ 0xfg }}":                         "is no number",
		"{{ 1e999 }}":                        "is no number",
		"{{ " + strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200) + " }}": "nests at most",
		"{{ " + strings.Repeat("not ", 300) + "1 }}":                              "nests at most",
		"{{ 1" + strings.Repeat(" + 1", 2000) + " }}":                             "at most 1000 parts",
		"{{ '" + strings.Repeat("x", expr.MaxLength) + "' }}":                     "is too long",
	}
	for source, want := range tests {
		_, err := jinja.Compile(source)
		require.ErrorContains(t, err, want, "%.80s", source)
	}
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
	c, err := jinja.CompileValue(map[string]any{"{{ k }}": []any{"{{ n }}", 5, nil}, "t": "n={{ n }}"})
	require.NoError(t, err)
	v, err := c.Eval(world)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"{{ k }}": []any{int64(3), int64(5), nil}, "t": "n=3"}, v)
	require.Equal(t, []string{"n"}, c.Names())
	_, fixed := c.Constant()
	require.False(t, fixed)
	c, err = jinja.CompileValue(map[string]any{"a": 1.0})
	require.NoError(t, err)
	v, fixed = c.Constant()
	require.True(t, fixed)
	require.Equal(t, map[string]any{"a": int64(1)}, v)
}

func TestEvalBool(t *testing.T) {
	tests := map[any]bool{
		"{{ yes }}": true, "{{ no }}": false, "{{ nobody }}": false, "{{ n }}": true, "{{ 0 }}": false, "{{ [] }}": false, "{{ list }}": true,
		"{{ 'false' }}": false, "{{ 'True' }}": true, "{{ 'yes' }}": true, "{{ '1' }}": true, "{{ 'no' }}": false, "{{ ctx.text }}": true,
		"{{ n > 2 }}!": false, " {{ n > 2 }} ": true, true: true, false: false, "true": true, "": false,
	}
	for source, want := range tests {
		c, err := jinja.CompileValue(source)
		require.NoError(t, err)
		got, err := c.EvalBool(world)
		require.NoError(t, err)
		require.Equal(t, want, got, "%v", source)
	}
	c, err := jinja.Compile("{{ nobody.field }}")
	require.NoError(t, err)
	_, err = c.EvalBool(world)
	require.Error(t, err)
}

func TestKeys(t *testing.T) {
	tests := []struct {
		source string
		keys   []string
		all    bool
	}{
		{"{{ ctx.a and ctx['b'].c and ctx.get('d', ctx.e) }}", []string{"a", "b", "d", "e"}, false},
		{"{{ other.a }}", nil, false},
		{"{{ ctx[other] }}", nil, true},
		{"{{ ctx | length }}", nil, true},
		{"{{ 'a' in ctx }}", nil, true},
		{"{{ [1 if ctx.a else ctx.b, x[ctx.c:], {'k': ctx.d}, range(ctx.e), -ctx.f, ctx.g is in ctx.h] }}", []string{"a", "b", "c", "d", "e", "f", "g", "h"}, false},
		{"{{ ctx.items() }}", nil, true},
		{"{{ ctx.get(k) }}", nil, true},
		{"{{ ctx.get('a', default=ctx.b) }}", []string{"a", "b"}, false},
		{"{{ ctx.a.get('m', default=ctx.b) and ctx.get('c', default=ctx.d).m }}", []string{"a", "b", "c", "d"}, false},
	}
	for _, tt := range tests {
		c, err := jinja.Compile(tt.source)
		require.NoError(t, err)
		keys, all := c.Keys("ctx")
		require.Equal(t, tt.keys, keys, tt.source)
		require.Equal(t, tt.all, all, tt.source)
	}
}

func TestMembers(t *testing.T) {
	for _, tt := range []struct {
		source  string
		members []string
		all     bool
	}{
		{"{{ ctx.a.m and ctx['a'].n and ctx.get('a').get('o', ctx.a.p) and ctx.a.m.deep }}", []string{"m", "n", "o", "p"}, false},
		{"{{ ctx.get('a', ctx.a.q).m }}", []string{"m", "q"}, false},
		{"{{ ctx.b.m }}", nil, false},
		{"{{ ctx.a }}", nil, true},
		{"{{ ctx.a[other] }}", nil, true},
		{"{{ ctx.a | length }}", nil, true},
	} {
		c, err := jinja.Compile(tt.source)
		require.NoError(t, err)
		members, all := c.Members("ctx", "a")
		require.Equal(t, tt.members, members, tt.source)
		require.Equal(t, tt.all, all, tt.source)
	}
}

// aliases is an environment in which results can be read as their field data.
type aliases struct{ env }

func (a aliases) Under(name, key string) (value.Value, bool) {
	v, err := a.Name(name)
	return v, err == nil && key == "data"
}

func TestFallback(t *testing.T) {
	for source, want := range map[string]any{
		"{{ list.data }}": list(3, 1, 2), "{{ list['data'] }}": list(3, 1, 2), "{{ list.data | length }}": int64(3), "{{ list.data is defined }}": true,
		"{{ ctx.deep.data }}": nil, "{{ list.other is defined }}": false, "{{ ctx.get('data').n }}": int64(2), "{{ ctx.get('none', 5) }}": int64(5),
		"{{ ctx.deep }}": map[string]any{"k": "v"}, "{{ (list).data.data is defined }}": false, "{{ list[0].data is defined }}": false,
	} {
		c, err := jinja.Compile(source)
		require.NoError(t, err)
		v, err := c.Eval(aliases{world})
		require.NoError(t, err, source)
		require.Equal(t, want, v, source)
	}
	c, err := jinja.Compile("{{ nobody['data'] }}")
	require.NoError(t, err)
	_, err = c.Eval(aliases{world})
	require.ErrorContains(t, err, `nobody is undefined: it has no ["data"]`)
}

// What would take long, or much, ends at once, and nothing of that size is made.
func TestLimits(t *testing.T) {
	for _, source := range []string{
		"{{ range(10 ** 9) | length }}", "{{ range(0, huge) }}", "{{ 'a' * 10 ** 12 }}", "{{ ('x' * 10 ** 7).replace('x', 'y' * 10 ** 7) }}",
		"{{ range(10 ** 6) | list | sort | map('string') | join(range(10 ** 6) | join) }}",
		"{{ range(10 ** 5) | map('string') | map('replace', '1', 'x' * 10 ** 6) | join }}",
		"{{ ('ab' * 10 ** 6) | list | map('upper') | map('list') | map('join') | unique | length }}",
	} {
		_, err := eval(t, source)
		require.ErrorIs(t, err, expr.ErrLimit, source)
	}
	grown := testing.AllocsPerRun(1, func() { _, _ = eval(t, "{{ range(10 ** 9) }}") })
	require.Less(t, grown, 200.0)
}

// One value that stands in a list many times is as much work to whoever goes through the list as many values are.
func TestLimitsOfWhatIsShared(t *testing.T) {
	const long, deep = "range(10 ** 5) | map(attribute='x', default='y' * 10 ** 6)", "range(1000) | map(attribute='x', default="
	for _, source := range []string{
		"{{ " + long + " }}", "{{ " + long + " | tojson }}", "{{ " + long + " | sort }}", "{{ " + long + " | map('length') | sum }}",
		"{{ " + long + " | select('lower') }}", "{{ " + long + " | map('int') }}", "{{ " + long + " | map('trim') | length }}",
		"{{ " + long + " | max }}", "{{ " + long + " | unique }}", "{{ " + long + " | b64encode }}", "{{ 'x' in " + long + " | map('lower') }}",
		"{{ " + deep + deep + "range(1000))) }}",
		"{{ (" + deep + deep + "range(1000)))) == (" + deep + deep + "range(1000)))) }}",
		"{{ (" + deep + deep + "range(1000)))) ~ '' }}", "{{ ctx[" + deep + deep + "range(1000)))].x }}",
	} {
		c, err := jinja.Compile(source)
		require.NoError(t, err, source)
		_, err = c.Eval(world)
		require.Error(t, err, source)
		require.Less(t, len(err.Error()), 1000, source)
		if !strings.HasPrefix(source, "{{ ctx[") {
			require.ErrorIs(t, err, expr.ErrLimit, source)
		}
	}
	nested := world["null"]
	for range 100 {
		nested = []any{nested}
	}
	c, err := jinja.Compile("{{ " + strings.Repeat("[", 40) + "nested" + strings.Repeat("]", 40) + " }}")
	require.NoError(t, err)
	_, err = c.Eval(env{"nested": nested})
	require.ErrorIs(t, err, expr.ErrLimit, "values nest no deeper than the model has them")
}

// Every number of a range is there, also where the next one would be none.
func TestRangeAtTheEdge(t *testing.T) {
	for source, want := range map[string]any{
		"{{ range(9223372036854773808, huge, 1000) }}":                list(9223372036854773808, 9223372036854774808),
		"{{ range(huge - 1, huge) }}":                                 list(9223372036854775806),
		"{{ range(huge, huge) }}":                                     list(),
		"{{ range(-huge - 1, huge, huge) }}":                          list(-9223372036854775808, -1, 9223372036854775806),
		"{{ range(-huge, -huge - 1, -5) }}":                           list(-9223372036854775807),
		"{{ range(5, 0, -2) }}":                                       list(5, 3, 1),
		"{{ range(0, 5, -1) }}":                                       list(),
		"{{ ('é' * 3000 ~ 'b' * 1000) | trim('é' * 3000) | length }}": int64(1000),
	} {
		got, err := eval(t, source)
		require.NoError(t, err, source)
		require.Equal(t, want, got, source)
	}
}

func Example() {
	guard, err := jinja.Compile("{{ (rows | first).qty | int < limit and event.name == 'step.done' }}")
	if err != nil {
		panic(err)
	}
	fmt.Println(guard.EvalBool(env{
		"rows": []any{map[string]any{"qty": "4"}}, "limit": 5, "event": map[string]any{"name": "step.done"},
	}))
	// Output: true <nil>
}

func FuzzEval(f *testing.F) {
	for _, s := range []string{
		"{{ n + 1 }}", "a {{ s | upper }} b", "{{ rows | selectattr('qty', 'gt', 5) | list }}", "{{ 1 if n is defined else 2 }}", "{{ list[::-1] }}",
		"{{ {'a': [1, (2,)]} }}", "{% x %}", "{{- n -}}", "{# c #}", "{{ 2 ** 3 }}", "{{ ctx.get('n').x }}", "{{ 'a' ~ 1.5e3 }}", "{{ range(3) | sum }}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		c, err := jinja.Compile(source)
		if err != nil {
			return
		}
		v, err := c.Eval(world)
		again, err2 := c.Eval(world)
		require.Equal(t, err == nil, err2 == nil)
		if err != nil {
			require.Equal(t, err.Error(), err2.Error())
			return
		}
		require.Equal(t, v, again)
		same, err := value.Of(v)
		require.NoError(t, err)
		require.True(t, value.Equal(same, v))
	})
}

func BenchmarkEval(b *testing.B) {
	for _, source := range []string{"{{ ctx.deep.k }}", "{{ ctx.n | default(0) | int < n }}", "{{ s | lower }}-{{ n }}"} {
		b.Run(source, func(b *testing.B) {
			c, err := jinja.Compile(source)
			require.NoError(b, err)
			_, err = c.Eval(world)
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = c.Eval(world)
			}
		})
	}
}

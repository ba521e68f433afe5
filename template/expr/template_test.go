package expr_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// env is an Env for tests. It counts reads of steps, to check laziness.
type env struct {
	names map[string]any
	steps map[string]any // id → output, or an error
	reads []string
}

func (e *env) Name(name string) (value.Value, error) {
	v, ok := e.names[name]
	if !ok {
		return nil, fmt.Errorf("no variable %q", name)
	}
	if err, ok := v.(error); ok {
		return nil, err
	}
	return v, nil
}

func (e *env) Step(id string, f expr.Field) (value.Value, error) {
	e.reads = append(e.reads, id+"."+f.String())
	v, ok := e.steps[id]
	err, failed := v.(error)
	switch {
	case !ok:
		return nil, fmt.Errorf("no step %q", id)
	case f == expr.Output && failed:
		return nil, err
	case f == expr.Output:
		return v, nil
	case f == expr.Status && errors.Is(err, expr.ErrSkipped):
		return "skipped", nil
	case f == expr.Status && failed:
		return "failed", nil
	case f == expr.Status:
		return "completed", nil
	case f == expr.Failure && failed:
		return map[string]any{"code": err.Error()}, nil
	}
	return nil, nil
}

func newEnv(t testing.TB) *env {
	input, err := value.Of(map[string]any{
		"n": 7, "x": 2.5, "s": "héllo", "yes": true, "none": nil, "big": int64(1) << 60,
		"list": []any{3, 1, 2}, "words": []any{"b", "a"},
		"o":     map[string]any{"a": map[string]any{"b": 1}, "k": "v"},
		"lines": []any{map[string]any{"id": "a", "price": 5}, map[string]any{"id": "b", "price": 3}, map[string]any{"id": "c", "price": 5}},
	})
	require.NoError(t, err)
	return &env{
		names: map[string]any{"input": input, "item": "it", "index": int64(4)},
		steps: map[string]any{
			"split":      []any{"a", "b"},
			"fetch-data": map[string]any{"n": int64(21), "rows": []any{map[string]any{"v": int64(1)}}},
			"skipped":    fmt.Errorf("step %q: %w", "skipped", expr.ErrSkipped),
			"caught":     fmt.Errorf("step %q: %w", "caught", expr.ErrNoOutput),
			"pay":        errors.New("declined"),
		},
	}
}

var scope = expr.Scope{Names: []string{"input", "item", "index", "line"}}

func eval(t testing.TB, v any) (value.Value, error) {
	tpl, err := expr.CompileValue(v, scope)
	require.NoError(t, err)
	return tpl.Eval(newEnv(t))
}

func TestStringsKeepTheTypeOfALoneExpressionAndPutOthersIntoTheText(t *testing.T) {
	tests := []struct {
		name, in string
		want     value.Value
	}{
		{"literal", "just text", "just text"},
		{"empty", "", ""},
		{"braces that are none", "{ x } } {", "{ x } } {"},
		{"integer", "{{ input.n }}", int64(7)},
		{"list", "{{input.list}}", []any{int64(3), int64(1), int64(2)}},
		{"null", "{{ input.none }}", nil},
		{"blank around it makes a text", " {{ input.n }}", " 7"},
		{"text", "{{ input.s }} has {{ input.n }} of {{ input.x }}", "héllo has 7 of 2.5"},
		{"side by side", "{{ input.n }}{{ input.n }}", "77"},
		{"null and booleans in a text", "a {{ null }} {{ true }}", "a null true"},
		{"containers in a text", "{{ input.list }} {{ {b: [1], a: '<'} }}", `[3,1,2] {"a":"<","b":[1]}`},
		{"braces inside", "{{ {a: {b: 1}} }}", map[string]any{"a": map[string]any{"b": int64(1)}}},
		{"braces inside, close together", "{{{a: {b: 1}}}}", map[string]any{"a": map[string]any{"b": int64(1)}}},
		{"closing braces in a string", `{{ "}}" + '}}' }}`, "}}}}"},
		{"a literal opening brace", `{{ "{{" }} x`, "{{ x"},
		{"escaped quote", `{{ "a\"}}" }}`, `a"}}`},
		{"raw string", "{{ `a\\` }}", `a\`},
		{"comment to the end", "{{ 1 // don't }}", int64(1)},
		{"comment inside", "{{ 1 /* }} ' */ + 1 }}", int64(2)},
		{"lines", "{{\n 1 + // one\n 2\n}}", int64(3)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := eval(t, tt.in)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestLanguage(t *testing.T) {
	tests := []struct {
		in   string
		want string
	}{ // want as JSON
		{`4 / 2`, `2`}, {`7 / 2`, `3.5`}, {`7 % 4`, `3`}, {`2 ** 10`, `1024`}, {`2 ^ -1`, `0.5`}, {`2.5 * 2`, `5`}, {`-input.n`, `-7`}, {`+input.x`, `2.5`},
		{`1e3`, `1000`}, {`0x10 + 0b11 + 0o7 + 1_000`, `1026`}, {`.5 + .5`, `1`},
		{`9007199254740993 + 0`, `9007199254740993`}, {`input.big * 2 / 2`, `1152921504606846976`},
		{`1 == 1.0 and [1] == [1.0] and {a: 1} == {a: 1.0}`, `true`}, {`true == "true"`, `false`}, {`null == nil`, `true`}, {`1 != 2`, `true`},
		{`1 < 2.5`, `true`}, {`2.5 <= 2`, `false`}, {`"a" < "b"`, `true`}, {`9007199254740993 > 9007199254740992.5`, `true`}, {`1 < input.n < 9`, `true`}, {`1 < input.n < 3`, `false`},
		{`not true or !false and true`, `true`}, {`false and input.none.x`, `false`}, {`true || input.none.x`, `true`},
		{`2 in input.list`, `true`}, {`2.0 in [1, 2]`, `true`}, {`"k" in input.o`, `true`}, {`1 not in input.list`, `false`},
		{`input.s contains "ll" and input.s startsWith "h" and input.s endsWith "o"`, `true`},
		{`input.s matches "^h.l+o$"`, `true`}, {`input.s matches ("^" + "x")`, `false`},
		{`1..4`, `[1,2,3,4]`}, {`3..1`, `[]`}, {`input.none ?? "d"`, `"d"`}, {`input.n ?? 1`, `7`}, {`input.nothing ?? input.none ?? 3`, `3`},
		{`input.yes ? 1 : 2`, `1`}, {`false ?: "x"`, `"x"`}, {`true ?: "x"`, `true`}, {`if input.n > 5 { "big" } else if input.n > 3 { "mid" } else { "small" }`, `"big"`},
		{`let x = input.n; let y = x + 1; x * y`, `56`}, {`1; 2`, `2`}, {`input.words | sort() | join("-")`, `"a-b"`},
		{`input.list[0] + input.list[-1]`, `5`}, {`input.list[4/2]`, `2`}, {`input.s[1]`, `"é"`}, {`input.s[1:3]`, `"él"`}, {`input.s[-2:]`, `"lo"`}, {`input.s[:-3]`, `"hé"`}, {`input.s[9:]`, `""`},
		{`input.list[1:]`, `[1,2]`}, {`input.list[:-1]`, `[3,1]`}, {`input.list[2:1]`, `[]`}, {`input["o"]["k"]`, `"v"`}, {`input.o["k"]`, `"v"`}, {`input.nothing`, `null`},
		{`input.none?.x.y`, `null`}, {`input.none?.x["y"]`, `null`}, {`input.none?.["x"]`, `null`}, {`input?.o?.a.b`, `1`},
		{`{a: 1, "b c": 2, ("d" + "e"): 3, 4: 5}`, `{"4":5,"a":1,"b c":2,"de":3}`}, {`[1, [2], null]`, `[1,[2],null]`},
		{`all(input.list, # > 0)`, `true`}, {`all([], false)`, `true`}, {`any(input.list, # > 2)`, `true`}, {`none(input.list, # > 3)`, `true`}, {`one(input.list, # > 2)`, `true`},
		{`filter(input.lines, .price == 5) | map(.id)`, `["a","c"]`}, {`map(input.list, # * #index)`, `[0,1,4]`}, {`find(input.lines, {.price < 5}).id`, `"b"`}, {`find(input.list, # > 9)`, `null`},
		{`findIndex(input.list, # < 3)`, `1`}, {`findIndex(input.list, # > 9)`, `null`}, {`findLast(input.list, # < 3)`, `2`}, {`findLastIndex(input.list, # < 3)`, `2`},
		{`count(input.list, # > 1)`, `2`}, {`count([true, false, true])`, `2`}, {`sum(input.list)`, `6`}, {`sum(input.lines, .price)`, `13`}, {`sum([])`, `0`},
		{`reduce(input.list, #acc * 10 + #)`, `312`}, {`reduce(input.list, #acc + #, 10)`, `16`}, {`reduce([], #acc, 0)`, `0`}, {`reduce(input.list, #acc + #index, 0)`, `3`},
		{`groupBy(input.lines, .price)["5"] | map(.id)`, `["a","c"]`}, {`sortBy(input.lines, .price) | map(.id)`, `["b","a","c"]`}, {`sortBy(input.lines, .price, "desc") | map(.id)`, `["a","c","b"]`},
		{`map(1..3, {let outer = #; map(1..#, # * outer)})`, `[[1],[2,4],[3,6,9]]`}, {`map(input.list, any(input.list, # > 2) and # > 1)`, `[true,false,true]`},
		{`abs(-3) + abs(-0.5)`, `3.5`}, {`[ceil(1.2), floor(1.8), round(1.5), round(-1.5)]`, `[2,1,2,-2]`}, {`[int("12"), int(2.9), int(-2.9), float("1.5"), float(2)]`, `[12,2,-2,1.5,2]`},
		{`[max(1, 2.5), min(input.list), max([1, 2], 3), mean(1, 2), median(3, 1, 2), median([1, 2]), mean([])]`, `[2.5,1,3,1.5,2,1.5,0]`},
		{`[bitand(6, 3), bitor(6, 3), bitxor(6, 3), bitnand(6, 3), bitnot(0), bitshl(1, 4), bitshr(-16, 2), bitushr(-1, 63)]`, `[2,7,5,4,-1,16,-4,1]`},
		{`[upper("é"), lower("É"), trim("  a "), trim("xax", "x"), trimPrefix("ab", "a"), trimSuffix("ab", "b"), trimPrefix(" a")]`, `["É","é","a","a","b","a","a"]`},
		{`split("a,b,c", ",")`, `["a","b","c"]`}, {`split("a,b,c", ",", 2)`, `["a","b,c"]`}, {`split("hé", "")`, `["h","é"]`}, {`split("", ",")`, `[""]`}, {`splitAfter("a,b", ",")`, `["a,","b"]`}, {`split("a,b", ",", 0)`, `[]`},
		{`[replace("aaa", "a", "b"), replace("aaa", "a", "b", 2), replace("ab", "", "-"), repeat("ab", 3), repeat("", 9), join(["a", "b"]), join([], ",")]`, `["bbb","bba","-a-b-","ababab","","ab",""]`},
		{`[indexOf(input.s, "l"), lastIndexOf(input.s, "l"), indexOf("a", "b")]`, `[2,3,-1]`}, {`hasPrefix("ab", "a") and hasSuffix("ab", "b")`, `true`},
		{`[string(1), string("a"), string([1]), string(null), string(2.5)]`, `["1","a","[1]","null","2.5"]`},
		{`[toJSON({b: 1, a: "<"}), toBase64("hé"), fromBase64("aMOp")]`, `["{\"a\":\"<\",\"b\":1}","aMOp","hé"]`}, {`fromJSON('{"a": [1.0, 2]}').a`, `[1,2]`},
		{`[toQuery({b: "é&", a: [1, {k: 2}], n: null}), toQuery({}), toQuery({"a b": true})]`, `["a=1&a=%7B%22k%22%3A2%7D&b=%C3%A9%26","","a+b=true"]`},
		{`[len(input.s), len(input.list), len(input.o)]`, `[5,3,2]`}, {`[first(input.list), last(input.list), first([]), last([])]`, `[3,2,null,null]`},
		{`[take(input.list, 2), take(input.list, 9), reverse(input.list)]`, `[[3,1],[3,1,2],[2,1,3]]`}, {`[sort(input.list), sort(input.list, "desc"), sort(["b", "a"])]`, `[[1,2,3],[3,2,1],["a","b"]]`},
		{`uniq([1, "1", 1.0, [1], [1.0], {a: 1}, {a: 1}])`, `[1,"1",[1],{"a":1}]`}, {`concat([1], [2, 3], [])`, `[1,2,3]`}, {`flatten([1, [2, [3, []]]])`, `[1,2,3]`},
		{`[keys(input.o), values({b: 1, a: 2}), toPairs({b: 1, a: 2})]`, `[["a","k"],[2,1],[["a",2],["b",1]]]`}, {`fromPairs([["a", 1], ["b", 2], ["a", 3]])`, `{"a":3,"b":2}`},
		{`[get(input.o, "k"), get(input.o, "x"), get(input.list, 0), get(input.list, 9), get(null, "x")]`, `["v",null,3,null,null]`},
		{`map([null, true, 1, 1.5, "", [], {}], type(#))`, `["nil","bool","int","float","string","array","map"]`},
		{`item + string(index)`, `"it4"`}, {`steps.split.output[1]`, `"b"`}, {`steps["fetch-data"].output.n * 2`, `42`}, {`steps["split"]["status"]`, `"completed"`},
		{`steps?.split?.output?.[0]`, `"a"`}, {`steps.pay.status == "failed" and steps.pay.error?.code == "declined"`, `true`}, {`steps.split.error?.code`, `null`}, {`steps.split.fulfillment`, `null`},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			got, err := eval(t, "{{ "+tt.in+" }}")
			require.NoError(t, err)
			normal, err := value.Of(got)
			require.NoError(t, err)
			require.Equal(t, normal, got, "results are of the model")
			text, err := value.JSON(got)
			require.NoError(t, err)
			require.Equal(t, tt.want, string(text))
		})
	}
}

func TestEvaluationErrorsSayWhatIsWrong(t *testing.T) {
	tests := []struct{ in, want string }{
		{`input.n + "a"`, `cannot add an integer and a string`}, {`null + 1`, `cannot add null and an integer`}, {`[1] + [2]`, `cannot add a list and a list: concat(a, b) joins them`}, {`[] - 1`, `cannot subtract a list and an integer`},
		{`1 / (input.n - 7)`, `division by zero`}, {`1 % (input.n - 7)`, `division by zero`}, {`1.5 / (input.n - 7)`, `division by zero`}, {`0 ** -1`, `division by zero`}, {`1.5 % 2`, `% needs two integers`},
		{`9223372036854775807 + input.n`, `beyond the range of integers`}, {`-9223372036854775807 - input.n`, `beyond the range of integers`}, {`input.big * 8`, `beyond the range of integers`}, {`input.n ** 99`, `beyond the range of integers`},
		{`10.5 ** 999`, `not a finite number`}, {`int(1e30)`, `beyond the range of integers`}, {`int("x")`, `int cannot read "x" as an integer`}, {`int(" 5 ")`, `int cannot read " 5 " as an integer`}, {`float("x")`, `float cannot read "x" as a number`},
		{`input.none.x`, `there is no "x" in null`}, {`input.n.x`, `there is no "x" in an integer`}, {`input.n[0]`, `there is no 0 in an integer`}, {`input.list[3]`, `index 3 is out of range: the list has a length of 3`},
		{`input.s[-6]`, `index -6 is out of range: the string has a length of 5`}, {`input.list["a"]`, `there is no "a" in a list`}, {`input.list["a" + ""]`, `an index of a list must be an integer, not a string ("a")`}, {`input.o[1]`, `a key must be a string, not an integer (1)`},
		{`input.n[1:]`, `cannot take a slice of an integer`}, {`input.list[input.s:]`, `the bounds of a slice must be integers`}, {`{(input.n): 1}`, `a key must be a string`},
		{`input.n < "a"`, `cannot compare an integer with a string`}, {`null < 1`, `cannot compare null with an integer`}, {`1 in input.n`, "`in` needs a list or an object, not an integer"}, {`"a" in input.s`, `write a contains b`}, {`1 in input.o`, `a key must be a string`},
		{`input.n contains "a"`, `contains needs two strings, not an integer and a string`}, {`input.n matches "a"`, `matches needs two strings`}, {`input.s matches ("(" + "")`, `malformed pattern "("`}, {`1..input.x`, `a range needs two integers`},
		{`input.n ? 1 : 2`, `a condition must be true or false, not an integer (7)`}, {`input.n ?: 2`, `a condition must be true or false`}, {`input.n and true`, `both sides of and must be true or false`}, {`not input.n`, `what is negated must be true or false`}, {`-input.s`, `cannot subtract`}, {`+input.s`, `+ needs a number, not a string ("héllo")`},
		{`map(input.n, #)`, `map needs a list, not an integer (7)`}, {`filter(input.list, #)`, `the predicate of filter must be true or false, not an integer (3)`}, {`find(input.list, #)`, `the predicate of find must be`}, {`reduce([], #acc)`, `needs an initial value`},
		{`sum(["a"])`, `cannot add`}, {`groupBy([[1]], #)`, `groupBy needs keys that are texts`}, {`sort([1, "a"])`, `cannot compare`}, {`sort([1], "up")`, `the order of sorting is "asc" or "desc", not a string ("up")`}, {`sortBy([1], #, 1)`, `the order of sorting`},
		{`upper(input.n)`, `upper needs a string, not an integer (7)`}, {`split(input.s, 1)`, `argument 2 of split must be a string, not an integer (1)`}, {`max("a")`, `max needs a number or a list of numbers`}, {`max([])`, `max needs at least one number`}, {`abs("a")`, `abs needs a number`},
		{`bitshl(1, -1)`, `argument 2 of bitshl must be at least 0`}, {`repeat("a", -1)`, `must be at least 0`}, {`take([1], -1)`, `must be at least 0`}, {`join([1])`, `join needs a list of strings, but element 0 is an integer (1)`}, {`fromJSON("{")`, `parse JSON`}, {`fromBase64("?")`, `fromBase64`}, {`fromBase64("/w==")`, `not a text in UTF-8`},
		{`fromPairs([1])`, `element 0 is an integer (1)`}, {`fromPairs([[1, 2]])`, `a key must be a string`}, {`keys([])`, `keys needs an object, not a list`}, {`len(1)`, `len needs a list, an object or a string`}, {`first("a")`, `first needs a list`},
		{`line`, `no variable "line"`},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			_, err := eval(t, map[string]any{"a/b": []any{"x {{ " + tt.in + " }}"}})
			require.ErrorContains(t, err, tt.want)
			var e *expr.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, "/a~1b/0", e.Pointer)
			require.Equal(t, 2, e.Offset)
			require.Equal(t, "{{ "+tt.in+" }}", e.Text)
			require.True(t, strings.HasPrefix(err.Error(), "/a~1b/0: {{ "), err.Error())
		})
	}
}

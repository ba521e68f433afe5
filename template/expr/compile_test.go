package expr_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/expr"
)

func TestCompileErrorsShowTheFaultAndSuggest(t *testing.T) {
	long := strings.Repeat("1+", expr.MaxLength/2) + "1"
	tests := []struct{ name, in, want string }{
		{"misspelt name", `{{ inptu.n }}`, `unknown name "inptu" (did you mean "input"?)`},
		{"misspelt steps", `{{ step.x.output }}`, `unknown name "step" (did you mean "steps"?)`},
		{"a name that is like no other", `{{ elsewhere }}`, `unknown name "elsewhere"`},
		{"the library's own environment", `{{ $env }}`, `unknown name "$env"`},
		{"misspelt function", `{{ uper("a") }}`, `unknown function "uper" (did you mean "upper"?)`},
		{"misspelt predicate", `{{ fliter([1], # > 0) }}`, `malformed expression {{ fliter([1], # > 0) }}: unexpected "#"`},
		{"misspelt field", `{{ steps.x.outptu }}`, `unknown field "outptu" of a step (did you mean "output"?)`},
		{"misspelt variable of let", `{{ let total = 1; totl }}`, `unknown name "totl" (did you mean "total"?)`},
		{"bare steps", `{{ steps }}`, `steps by itself is not a value: write steps.<id>.output`},
		{"bare step", `{{ steps.x }}`, `steps.x is not a value: name a field (status, output, error or fulfillment)`},
		{"bare step in brackets", `{{ steps["x-y"] }}`, `steps["x-y"] is not a value`},
		{"computed step", `{{ steps[input.id].output }}`, `the id of a step must be written out, not computed`},
		{"computed field", `{{ steps.x["out" + "put"] }}`, `the field of a step must be written out, not computed`},
		{"steps given away", `{{ len(steps) }}`, `steps by itself is not a value`},
		{"unfinished", `{{ 1 + }}`, `malformed expression {{ 1 + }}: unexpected end`},
		{"misplaced token", `{{ 1 1 }}`, `malformed expression {{ 1 1 }}: unexpected "1"`},
		{"strange character", `{{ 1 ~ 2 }}`, `malformed expression {{ 1 ~ 2 }}: unrecognized character`},
		{"empty", `a {{ }}`, `malformed expression {{ }}: it is empty`},
		{"not closed", `a {{ input.n`, `malformed expression {{ input.n: it is not closed by }}`},
		{"not closed because of a quote", `{{ 'a }} b`, `it is not closed by }}`},
		{"too long", "{{" + long + "}}", `is too long: at most 8192 are allowed`},
		{"too many parts", "{{" + strings.Repeat("1+", 600) + "1}}", `it has more than 1000 parts`},
		{"clock", `{{ now() }}`, `there is no function "now": expressions know no time`},
		{"method", `{{ input.s.ToUpper() }}`, `values have no methods`},
		{"method of a chain", `{{ input?.s() }}`, `values have no methods`},
		{"bytes", `{{ b"x" }}`, `bytes such as b"…" are not values here`},
		{"too few arguments", `{{ split("a") }}`, `split takes 2 to 3 arguments, not 1`},
		{"too many arguments", `{{ upper("a", "b") }}`, `upper takes 1 argument, not 2`},
		{"no arguments", `{{ max() }}`, `max takes at least 1 arguments, not 0`},
		{"acc outside reduce", `{{ map([1], #acc) }}`, `#acc is known in reduce only`},
		{"unknown hash", `{{ map([1], #idex) }}`, `unknown name "#idex" (did you mean "index"?)`},
		{"item outside", `{{ # }}`, `malformed expression`},
		{"let hides a name", `{{ let input = 1; input }}`, `let input would hide`},
		{"let hides a variable", `{{ let a = 1; let a = 2; a }}`, `let a would hide`},
		{"let hides a function", `{{ let len = 1; len }}`, `let len would hide`},
		{"let hides a predicate", `{{ let map = 1; map }}`, `let map would hide`},
		{"bad pattern", `{{ "a" matches "(" }}`, `malformed pattern "("`},
		{"a pattern that grows", `{{ "a" matches "(x{500}y{500}){2}|(a{1000}b{1000}c{1000}d{1000}e{1000}){1}|(a{1000}b{1000}c{1000}d{1000}e{1000})" }}`, `too complex`},
		{"?? and another operator", `{{ 1 ?? 2 + 1 }}`, `Wrap either by parentheses`},
		{"large literal", `{{ 9223372036854775808 }}`, `: 9223372036854775808 is beyond the range of integers`},
		{"large hex literal", `{{ 0xffffffffffffffff }}`, `: 0xffffffffffffffff is beyond the range of integers`},
		{"infinite literal", `{{ 1e999 }}`, `malformed expression`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := expr.Compile(tt.in, scope)
			require.ErrorContains(t, err, tt.want)
			var e *expr.Error
			require.ErrorAs(t, err, &e)
		})
	}
}

// TestKeysOfKnownObjects: a key that an object never has would read as null, and a guard that reads it would not hold. Objects
// whose keys are computed, or not known, may be read with any.
func TestKeysOfKnownObjects(t *testing.T) {
	known := expr.Scope{Names: []string{"input", "run"}, Keys: map[string][]string{"run": {"id", "name"}, "steps.error": {"code", "message"}}}
	from := func(pointer string) any { return map[string]any{"from": pointer} }
	for _, tt := range []struct {
		in   any
		want string // "": it compiles
	}{
		{"{{ run.name + run['id'] + run?.id + steps.a.error.code }}", ""},
		{"{{ [run, steps.a.error, steps.a.error?.message[0:1], run[input.key], input.nmae, steps.a.output.cod] }}", ""},
		{"{{ map([1], {let run = {nmae: #}; run.nmae}) }}", `let run would hide`},
		{"{{ run.nmae == 'w' }}", `unknown field "nmae" of run (did you mean "name"?)`},
		{"in {{ run?.['nmae'].x }}", `unknown field "nmae" of run (did you mean "name"?)`},
		{"{{ steps.a.error.cod ?? 1 }}", `unknown field "cod" of a step's error (did you mean "code"?)`},
		{"{{ steps['a']?.error?.details.x }}", `unknown field "details" of a step's error`},
		{from("/run/name"), ""},
		{from("/steps/a/error/code"), ""},
		{from("/input/nmae"), ""},
		{from("/run/nmae"), `unknown field "nmae" of run (did you mean "name"?)`},
		{from("/steps/a/error/cod/x"), `unknown field "cod" of a step's error (did you mean "code"?)`},
	} {
		_, err := expr.CompileValue(tt.in, known)
		if tt.want == "" {
			require.NoError(t, err, tt.in)
			continue
		}
		require.ErrorContains(t, err, tt.want, tt.in)
	}
	_, err := expr.Compile("é {{ 1 + run.nmae }}", known)
	var e *expr.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, strings.Index("é {{ 1 + run.nmae }}", "nmae"), e.Offset)
	_, err = expr.Compile("{{ run.nmae }}", expr.Scope{Names: known.Names})
	require.NoError(t, err, "any key")
}

func TestErrorsCarryTheirPlace(t *testing.T) {
	_, err := expr.CompileValue(map[string]any{"a": []any{"x", "é {{ input.n + totl }}"}}, expr.Scope{Names: []string{"input", "total"}})
	var e *expr.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "/a/1", e.Pointer)
	require.Equal(t, strings.Index("é {{ input.n + totl }}", "totl"), e.Offset, "in bytes")
	require.Equal(t, "totl", e.Text)
	require.Equal(t, "total", e.Suggestion)
	require.EqualError(t, err, `/a/1: unknown name "totl" (did you mean "total"?)`)

	_, err = expr.Compile("é {{ 'é' + + }}", scope)
	require.ErrorAs(t, err, &e)
	require.Equal(t, strings.Index("é {{ 'é' + + }}", " }}"), e.Offset-1+1, "of the token that was not expected")
}

func TestAllErrorsAreReportedInOrder(t *testing.T) {
	_, err := expr.CompileValue(map[string]any{
		"b": "{{ 1 + }}",
		"a": []any{"{{ foo }} {{ bar }} {{ steps }}", "{{"},
		"c": map[string]any{"from": "/inputs/x"},
	}, scope)
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, 6)
	for i, want := range []string{"/a/0: unknown name \"foo\"", "/a/0: unknown name \"bar\"", "/a/0: steps by itself", "/a/1: malformed", "/b: malformed", "/c/from: unknown name \"inputs\" in /inputs/x (did you mean \"input\"?)"} {
		require.True(t, strings.HasPrefix(lines[i], want), "%s\n%s", lines[i], want)
	}
}

func TestReadsAndNamesAreKnownBeforeAnythingRuns(t *testing.T) {
	tpl, err := expr.CompileValue([]any{
		"é {{ steps.b.output.x + steps[\"a-c\"].status }} {{ input.n }}",
		"{{ index > 1 ? steps.c?.error?.code : (steps.d.output.a.b ?? steps.e.output ?? steps.f[ 'output' ]) }}",
		"{{ let x = steps.g.output; map(x, # + item + steps.h.fulfillment) }}",
		map[string]any{"from": "/steps/i/output/0"},
		map[string]any{"from": "/steps/j/status", "required": true},
		"{{ 1 < steps.k.output < 3 }}",
		"{{ (steps.l.output + 1) ?? len(steps.m.output) }}",
	}, scope)
	require.NoError(t, err)
	var got []string
	for _, r := range tpl.Reads() {
		mark := ""
		if r.Defaulted {
			mark = " defaulted"
		}
		if r.Optional {
			mark += " optional"
		}
		got = append(got, r.Step+"."+r.Field.String()+mark+" as "+r.Text)
	}
	require.Equal(t, []string{
		"b.output as steps.b.output", `a-c.status as steps["a-c"].status`,
		"c.error as steps.c?.error", "d.output defaulted as steps.d.output", "e.output defaulted as steps.e.output", "f.output as steps.f[ 'output' ]",
		"g.output as steps.g.output", "h.fulfillment as steps.h.fulfillment",
		"i.output optional as /steps/i/output/0", "j.status as /steps/j/status",
		"k.output as steps.k.output",
		"l.output as steps.l.output", "m.output as steps.m.output",
	}, got)
	require.Equal(t, "/0", tpl.Reads()[1].Pointer)
	require.Equal(t, strings.Index("é {{ steps.b.output.x + steps[", "steps["), tpl.Reads()[1].Offset)
	require.Equal(t, []string{"input", "index", "item"}, tpl.Names())
	_, fixed := tpl.Constant()
	require.False(t, fixed)
}

func TestConstantsAreFoundWhenCompiled(t *testing.T) {
	for _, in := range []any{"text", "{{ 1 + 2 }}", int64(3), nil, []any{"a", "{{ upper('b') }}"}, map[string]any{}} {
		tpl, err := expr.CompileValue(in, scope)
		require.NoError(t, err)
		v, fixed := tpl.Constant()
		require.True(t, fixed, in)
		got, err := tpl.Eval(nil)
		require.NoError(t, err)
		require.Equal(t, v, got)
	}
	// A template that fails, or takes long, is not a constant: it may never be evaluated.
	for _, in := range []any{"{{ 1 / 0 }}", "{{ map(1..1000000, #) }}", "{{ input }}", map[string]any{"from": "/input"}} {
		tpl, err := expr.CompileValue(in, scope)
		require.NoError(t, err)
		_, fixed := tpl.Constant()
		require.False(t, fixed, in)
	}
}

func TestAVariableOfTheScopeMayBeCalledLikeAFunctionOrNull(t *testing.T) {
	tpl, err := expr.Compile("{{ len + null }}", expr.Scope{Names: []string{"len", "null"}})
	require.NoError(t, err)
	got, err := tpl.Eval(&env{names: map[string]any{"len": int64(1), "null": int64(2)}})
	require.NoError(t, err)
	require.Equal(t, int64(3), got)
}

// Suggestions for a thousand misspelt names are searched until the budget is spent; the work is the number of names
// compared.
func TestASpellerHasABudget(t *testing.T) {
	looked := 0
	known := func(yield func(string) bool) {
		for i := range 8_000 {
			looked++
			if !yield(fmt.Sprintf("identifier_%05d", i)) {
				return
			}
		}
	}
	var s expr.Speller
	require.Equal(t, "identifier_00007", s.Nearest("identifer_00007", known))
	for range 1_000 {
		s.Nearest("identifer_00007", known)
	}
	require.Less(t, looked, 600_000)
	require.Empty(t, s.Nearest("identifer_00007", known), "it is spent")
	var other expr.Speller
	require.Equal(t, "identifier_00007", other.Nearest("identifer_00007", known))
}

func TestNearest(t *testing.T) {
	known := []string{"split", "order.split", "screen", "input", "output", "Archive", "ab", "cat", "bat"}
	tests := []struct{ word, want string }{
		{"splt", "split"}, {"splitt", "split"}, {"order.splitt", "order.split"}, {"scren", "screen"}, {"inptu", "input"}, {"INPUT", "input"}, {"archvie", "Archive"},
		{"ac", "ab"}, {"rat", "bat"}, {"", ""}, {"x", ""}, {"elsewhere", ""}, {"split", ""}, {strings.Repeat("x", 100), ""},
	}
	for _, tt := range tests {
		got, ok := expr.Nearest(tt.word, known)
		require.Equal(t, tt.want, got, tt.word)
		require.Equal(t, tt.want != "", ok, tt.word)
	}
	got, _ := expr.Nearest("rat", []string{"cat", "bat"})
	require.Equal(t, "bat", got, "the order of the known names does not matter")
}

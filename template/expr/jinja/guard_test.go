package jinja_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template/expr/jinja"
)

func holds(t require.TestingT, source any, names env) bool {
	c, err := jinja.CompileValue(source)
	require.NoError(t, err, "%v", source)
	yes, err := c.EvalBool(names)
	require.NoError(t, err, "%v", source)
	return yes
}

func TestEvalBool(t *testing.T) {
	for source, want := range map[any]bool{
		// everything but a text holds as in Jinja
		"{{ yes }}": true, "{{ no }}": false, "{{ nobody }}": false, "{{ n }}": true, "{{ 0 }}": false, "{{ 0.0 }}": false, "{{ [] }}": false, "{{ list }}": true, "{{ () }}": false, "{{ null.x }}": false,
		"{{ not nobody }}": true, "{{ n > 2 }}": true, "{{ 1e308 * 10 }}": true,

		// a text that one expression returns holds unless it says no
		"{{ 'false' }}": false, "{{ 'True' }}": true, "{{ 'yes' }}": true, "{{ '1' }}": true, "{{ ' No\n' }}": false, "{{ '0' }}": false, "{{ 'None' }}": false, "{{ '' }}": false, "{{ ' ' }}": false,
		"{{ ctx.text }}": true, "{{ s }}": true, "{{ '00' }}": true, "{{ 'null' }}": true, "{{ 'falsey' }}": true, "{{ 'off' }}": true, "{# a #}{{ s }}": true,

		// not, and, or and if test texts alike
		"{{ not s }}": false, "{{ not 'no' }}": true, "{{ not not 'FALSE' }}": false, "{{ s and yes }}": true, "{{ yes and s }}": true, "{{ 'no' and yes }}": false, "{{ 'no' or s }}": true, "{{ 'no' or 'none' }}": false,
		"{{ 'false' if yes else yes }}": false, "{{ 1 if 'false' else 0 }}": false, "{{ ('no' or 'x') == 'x' }}": true, "{{ [not 'no'] == [true] }}": true,

		// a text around expressions, or without any, holds when it says yes
		"{{ n > 2 }}!": false, " {{ n > 2 }} ": true, "{{ s }}!": false, "{{ 'ye' }}s": true, "{{ s }}{{ s }}": false, "x{{ 'no' or s }}": false, true: true, false: false, "true": true, "": false, "Widget": false, " 1 ": true,
	} {
		require.Equal(t, want, holds(t, source, world), "%v", source)
	}
	require.True(t, holds(t, []any{"{{ no }}"}, world))
	require.False(t, holds(t, map[string]any{}, world))
	c, err := jinja.Compile("{{ nobody.field }}")
	require.NoError(t, err)
	_, err = c.EvalBool(world)
	require.Error(t, err)
}

// In a value, not, and, or and if are Jinja's, even in a template that was evaluated as a guard before.
func TestOnlyGuardsReadTexts(t *testing.T) {
	c, err := jinja.Compile("{{ [not 'no', 'no' and 1, 'false' or 2, 3 if '0' else 4] }}")
	require.NoError(t, err)
	yes, err := c.EvalBool(world)
	require.NoError(t, err)
	require.True(t, yes)
	v, err := c.Eval(world)
	require.NoError(t, err)
	require.Equal(t, list(false, 1, "false", 3), v)
}

// values draws the values that a guard may read.
func values(t *rapid.T, label string) any {
	return rapid.OneOf(
		rapid.Just[any](nil), rapid.Map(rapid.Bool(), toAny), rapid.Map(rapid.Int64Range(-1, 2), toAny), rapid.Map(rapid.SampledFrom([]float64{0, 0.5, -1.5}), toAny),
		rapid.Map(rapid.SampledFrom([]string{"", " ", "no", "No ", "NONE", "0", "false", "\tFalse\n", "true", "1", "yes", "abc", "nope", "0.0", "none of it", "ﬀ"}), toAny),
		rapid.Map(rapid.String(), toAny), rapid.Map(rapid.SliceOfN(rapid.Just[any](int64(0)), 0, 1), func(l []any) any { return l }), rapid.Just[any](map[string]any{}),
	).Draw(t, label)
}

func toAny[T any](v T) any { return v }

// logic draws a tree of not, and, or and if over a, b, c and nobody, and returns whether it holds if each name holds as is
// says.
func logic(t *rapid.T, depth int, is map[string]bool) (source string, holds bool) {
	kind := "name"
	if depth > 0 {
		kind = rapid.SampledFrom([]string{"name", "not", "and", "or", "if", "if"}).Draw(t, "kind")
	}
	if kind == "name" {
		name := rapid.SampledFrom([]string{"a", "b", "c", "nobody"}).Draw(t, "name")
		return name, is[name]
	}
	x, isX := logic(t, depth-1, is)
	if kind == "not" {
		return "(not " + x + ")", !isX
	}
	y, isY := logic(t, depth-1, is)
	switch kind {
	case "and":
		return "(" + x + " and " + y + ")", isX && isY
	case "or":
		return "(" + x + " or " + y + ")", isX || isY
	}
	z, isZ := logic(t, depth-1, is)
	if isY {
		return "(" + x + " if " + y + " else " + z + ")", isX
	}
	return "(" + x + " if " + y + " else " + z + ")", isZ
}

// As a guard an expression of not, and, or and if follows the rules of logic from the truth of its names, so exactly one of
// x and not x holds.
func TestGuardsFollowLogic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names, is := env{}, map[string]bool{}
		for _, name := range []string{"a", "b", "c"} {
			names[name] = values(t, name)
			is[name] = holds(t, "{{ "+name+" }}", names)
		}
		source, want := logic(t, rapid.IntRange(0, 4).Draw(t, "depth"), is)
		require.Equal(t, want, holds(t, "{{ "+source+" }}", names), source)
		require.Equal(t, !want, holds(t, "{{ not "+source+" }}", names), source)
	})
}

package expr_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/expr/jinja"
)

// written shows an outline as a term.
func written(o *expr.Outline) string {
	names := map[expr.OutlineKind]string{
		expr.Other: "some", expr.ListLiteral: "list", expr.Logic: "test", expr.Equality: "equal", expr.Ordering: "order", expr.Membership: "find",
		expr.TextMatch: "match", expr.Arithmetic: "reckon", expr.Length: "measure", expr.Iteration: "go", expr.Fallback: "fall", expr.Choice: "choose",
	}
	switch o.Kind {
	case expr.Reference:
		return strings.Join(o.Path, ".")
	case expr.Literal:
		return fmt.Sprintf("%#v", o.Value)
	}
	args := make([]string, len(o.Args))
	for i, a := range o.Args {
		args[i] = written(a)
	}
	return names[o.Kind] + "(" + strings.Join(args, " ") + ")"
}

// Both dialects have the same outlines for the same expressions.
func TestOutlines(t *testing.T) {
	for _, tt := range []struct{ ours, jinja, want string }{
		{"{{ a.b }}", "{{ a.b }}", "a.b"},
		{`{{ a["b"].c }}`, "{{ a['b'].get('c') }}", "a.b.c"},
		{"{{ a.b[0].c }}", "{{ a.b[0].c }}", "a.b.[].c"},
		{"{{ a.n + 1 }}", "{{ a.n + 1 }}", "reckon(a.n 1)"},
		{`{{ a.n + "x" }}`, "{{ a.n ~ 'x' }}", `some(a.n "x")`},
		{"{{ !a.ok }}", "{{ not a.ok }}", "test(a.ok)"},
		{"{{ a.x ?? 3 }}", "{{ a.x | default(3) }}", "fall(a.x 3)"},
		{"{{ a.x ? 1 : b }}", "{{ 1 if a.x else b }}", "choose(a.x 1 b)"},
		{"{{ len(a.list) }}", "{{ a.list | length }}", "measure(a.list)"},
		{"{{ first(a.list) }}", "", "go(a.list some(a.list.[]))"},
		{"{{ sum(a.list) }}", "{{ a.list | sum }}", "go(a.list reckon(a.list.[]))"},
		{"{{ any(a.list, .ok) }}", "", "go(a.list test(a.list.[].ok))"},
		{"{{ map(a.list, #.x) }}", "", "go(a.list some(a.list.[].x))"},
		{"{{ let x = a.b; x.c }}", "", "a.b.c"},
		{`{{ a.s contains "x" }}`, "", `match(a.s "x")`},
		{`{{ a.s == "x" && b }}`, "", `test(equal(a.s "x") b)`},
		{`{{ a.s in ["x", null] }}`, "{{ a.s in ['x', none] }}", `find(a.s list("x" <nil>))`},
		{"{{ 1 < a.n }}", "", "order(1 a.n)"},
		{"", "{{ 1 < a.n <= 3 }}", "test(order(1 a.n) order(a.n 3))"},
		{"", "{{ a.s != 'x' }}", `equal(a.s "x")`},
		{"", "{{ a.list | first }}", "a.list.[]"},
	} {
		for _, d := range []struct {
			text     string
			outlines func(string) ([]*expr.Outline, bool, error)
		}{{tt.ours, expr.Outlines}, {tt.jinja, jinja.Outlines}} {
			if d.text == "" {
				continue
			}
			list, alone, err := d.outlines(d.text)
			require.NoError(t, err, d.text)
			require.True(t, alone)
			require.Equal(t, tt.want, written(list[0]), d.text)
		}
	}
	for _, outlines := range []func(string) ([]*expr.Outline, bool, error){expr.Outlines, jinja.Outlines} {
		list, alone, err := outlines("{{ a }} and {{ b.c }}")
		require.NoError(t, err)
		require.False(t, alone)
		require.Len(t, list, 2)
		_, _, err = outlines("{{ a +")
		require.Error(t, err)
		list, alone, err = outlines("plain")
		require.NoError(t, err)
		require.False(t, alone)
		require.Empty(t, list)
	}
}

package jinja_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/expr/jinja"
	"github.com/sluiceflow/sluice/template/value"
)

// twice evaluates a template twice in an environment, and requires the same result, a value of the model.
func twice(t *testing.T, c *jinja.Template, names env) (any, error) {
	v, err := c.Eval(names)
	again, err2 := c.Eval(names)
	require.Equal(t, fmt.Sprint(err), fmt.Sprint(err2))
	if err != nil {
		var e *expr.Error
		require.ErrorAs(t, err, &e)
		return nil, err
	}
	require.Equal(t, v, again)
	same, err := value.Of(v)
	require.NoError(t, err)
	require.Equal(t, same, v)
	return v, nil
}

// FuzzEval: for any text, compiling and evaluating end without a panic, in a value of the model or an error with a place,
// and twice in the same. As a guard an expression and its negation never agree.
func FuzzEval(f *testing.F) {
	for _, s := range []string{
		"{{ n + 1 }}", "a {{ s | upper }} b", "{{ rows | selectattr('qty', 'gt', 5) | list }}", "{{ 1 if n is defined else 2 }}", "{{ list[::-1] }}", "{{ {'a': [1, (2,)]} }}", "{% x %}", "{{- n -}}", "{# c #}", "{{ 2 ** 3 }}",
		"{{ ctx.get('n').x }}", "{{ 'a' ~ 1.5e3 }}", "{{ range(3) | sum }}", "{{ not s }}", "{{ 'no' and s or not 'none' }}", "{{ s if 'false' else no }}", "{{ rows | groupby('sku') | map(attribute='list') | list }}",
		"{{ rows | sort(attribute='qty,sku', reverse=true) }}", "{{ '%05.2f|%-*s' % (f, 5, s) }}", "{{ '{:>{}}|{!r}'.format(s, 9, s) }}", "{{ list | batch(2, 'x') | tojson(indent=2) }}", "{{ s.splitlines() + s.rsplit('d', 1) }}",
		"{{ dict(ctx, **{'a': 1}) }}", "{{ {1: 2, true: none}[1.0] }}", "{{ -1.5 ** 2 // 0.7 % true }}", "{{ [1, [2]] < [1, (2,)] }}", "{{ s | wordwrap(3) | indent(2) | pprint }}", "{{ '<a>' | e | urlize | striptags }}", "{{ 'é'.casefold().title() }}",
		"{{ rows[0] | xmlattr }}", "{{ list | slice(2, 0) | map('unique') | list }}", "{{ 'x' is filter and 'odd' is test }}", "{{ s is sameas(s) is escaped }}", "{{ range(*list[:2]) }}", "{{ huge.bit_length() + f.as_integer_ratio()[0] }}", "{{ 1, 2 }}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		c, err := jinja.Compile(source)
		if err != nil {
			return
		}
		v, err := twice(t, c, world)
		if err == nil && c.Text() {
			require.IsType(t, "", v)
		}
		begin, end := strings.HasPrefix(source, "{{"), strings.HasSuffix(source, "}}")
		if !begin || !end {
			return
		}
		inner := strings.TrimSuffix(source[2:len(source)-2], "-")
		if inner != "" && strings.Contains("+-", inner[:1]) {
			inner = inner[1:]
		}
		not, err := jinja.Compile("{{ not (" + inner + ") }}")
		if err != nil || c.Text() {
			return
		}
		yes, err := c.EvalBool(world)
		no, err2 := not.EvalBool(world)
		require.Equal(t, err == nil, err2 == nil, "%v, %v", err, err2)
		require.True(t, err != nil || yes != no, "%s is %v, and so is the opposite", source, yes)
	})
}

// FuzzFormat: any format is filled in, or refused, within the limits.
func FuzzFormat(f *testing.F) {
	for _, s := range []string{"%s-%5.2f", "%(a)s%%", "%*d", "%-+#08x", "{} {0!r:>{1}}", "{a[x].real:,}", "{:010,.3f}", "{{}}", "%c", "{:e}", "{:=+09_b}", "%.3g", "{:%}", "%1000000000d", "{:1000000000}"} {
		f.Add(s, int64(5), 2.5, "text")
	}
	sources := []string{"f % x", "f % (x, y)", "f % (y, x, s)", "f % (s,)", "f % {'a': y, 's': s}", "f.format(x, y, s, a=y)", "f.format(s)", "f | format(y)", "('{:' ~ f ~ '}').format(y)", "('{:' ~ f ~ '}').format(x)", "('{:' ~ f ~ '}').format(s)"}
	templates := make([]*jinja.Template, len(sources))
	for i, source := range sources {
		templates[i], _ = jinja.Compile("{{ " + source + " }}")
	}
	f.Fuzz(func(t *testing.T, format string, x int64, y float64, s string) {
		if _, err := value.Of(y); err != nil {
			y = 0.5
		}
		names := env{"f": string([]rune(format)), "x": x, "y": y, "s": string([]rune(s))}
		for _, c := range templates {
			_, _ = twice(t, c, names)
		}
	})
}

// FuzzTexts: every filter and method of texts takes any text, with any arguments; which selects the callable.
func FuzzTexts(f *testing.F) {
	for _, s := range []string{"Hello World", "a,b,,c", "naïve Straße ÉCOLE ﬁ ǆ İΣ", "one\ntwo\r\n\tthree", "<a href='x'><!-- c -->T&amp;C</a>", "see (http://x.org/a(b)), a@b.org", "it's \"q\"", "the quick-brown--fox", "-0x1f", "1_000.5e-3", "%s {}", "٣½三"} {
		for which := range uint16(64) {
			f.Add(s, "a", int64(3), which*16)
		}
	}
	var templates []*jinja.Template
	for _, name := range append(jinja.Names()["filter"], jinja.Names()["test"]...) {
		for _, form := range []string{"s | N", "s | N(i)", "s | N(a)", "s | N(i, a)", "s | N(a, i, a)", "s is N", "s is N(a)", "[s, a, i] | N", "[s, a] | map('N') | list", "{a: s, s: i} | N"} {
			if c, err := jinja.Compile("{{ " + strings.ReplaceAll(form, "N", name) + " }}"); err == nil {
				templates = append(templates, c)
			}
		}
	}
	for _, name := range jinja.Names()["method"] {
		for _, form := range []string{"s.N()", "s.N(a)", "s.N(i)", "s.N(a, i)", "s.N(i, a)", "s.N(a, a)", "s.N(a, i, -i)"} {
			if c, err := jinja.Compile("{{ " + strings.ReplaceAll(form, "N", name) + " }}"); err == nil {
				templates = append(templates, c)
			}
		}
	}
	f.Fuzz(func(t *testing.T, s, a string, i int64, which uint16) {
		names := env{"s": string([]rune(s)), "a": string([]rune(a)), "i": i}
		for k := range 4 {
			_, _ = twice(t, templates[(int(which)+k)%len(templates)], names)
		}
	})
}

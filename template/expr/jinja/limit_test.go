package jinja_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/expr/jinja"
)

// Evaluations that would take long, or much memory, end at once, and allocate nothing of that size.
func TestLimits(t *testing.T) {
	for _, source := range []string{
		"{{ range(10 ** 9) | length }}", "{{ range(0, huge) }}", "{{ 'a' * 10 ** 12 }}", "{{ ('x' * 10 ** 7).replace('x', 'y' * 10 ** 7) }}",
		"{{ range(10 ** 6) | list | sort | map('string') | join(range(10 ** 6) | join) }}",
		"{{ range(10 ** 5) | map('string') | map('replace', '1', 'x' * 10 ** 6) | join }}",
		"{{ ('ab' * 10 ** 6) | list | map('upper') | map('list') | map('join') | unique | length }}",

		// widths and sizes
		"{{ '%1000000000d' % 1 }}", "{{ '%.1000000000f' % 1.5 }}", "{{ '%*d' % (2000000000, 1) }}", "{{ '%01000000000d' % 1 }}", "{{ '%.1000000000d' % 1 }}", "{{ '%1000000000s' % 'a' }}", "{{ '%1000000000d' | format(1) }}",
		"{{ '{:1000000000}'.format(1) }}", "{{ '{:.1000000000f}'.format(1.5) }}", "{{ '{:01000000000,}'.format(1) }}", "{{ '{:#.1000000000}'.format(1.5) }}", "{{ '{:{}}'.format('a', 10 ** 9) }}", "{{ '{:.1000000000g}'.format(1.5) }}",
		"{{ 'a'.center(10 ** 12) }}", "{{ 'a'.ljust(10 ** 9, 'é') }}", "{{ 'a'.rjust(10 ** 18) }}", "{{ 'a'.zfill(10 ** 12) }}", "{{ '\t'.expandtabs(10 ** 12) }}", "{{ 'a' | center(10 ** 12) }}", "{{ 'a\nb' | indent(10 ** 12) }}",
		"{{ ('\n' * 10 ** 6) | indent(10 ** 4, blank=true) }}", "{{ [1] | tojson(10 ** 12) }}", "{{ " + strings.Repeat("[", 90) + strings.Repeat("]", 90) + " | tojson(indent=10 ** 6) }}",
		"{{ [1] | batch(10 ** 12, 0) }}", "{{ [1] | slice(10 ** 12) }}", "{{ [1] | slice(10 ** 7) }}", "{{ [1] * 10 ** 12 }}", "{{ 10 ** 12 * (1,) }}", "{{ [] * 10 ** 18 + [1] * 10 ** 8 }}", "{{ ('a' * 10 ** 6).replace('', 'x' * 10 ** 6) }}",

		// expressions that go through much
		"{{ ('a\n' * 10 ** 7).splitlines() }}", "{{ ('a ' * 10 ** 7).split() }}", "{{ ('a ' * 10 ** 7).rsplit(' ') }}", "{{ ('a ' * 10 ** 7) | wordwrap(1) }}", "{{ ('a' * 10 ** 7) | urlize }}", "{{ ('<' * 10 ** 7) | e }}", "{{ ('&' * 10 ** 7) | urlencode }}",
		"{{ {}.fromkeys(range(10 ** 6)) }}", "{{ dict(range(10 ** 6) | batch(2)) }}", "{{ range(10 ** 6) | groupby(0) }}", "{{ ('ab' * 10 ** 6) | list | unique | list | pprint ~ ('ab' * 10 ** 6) | list | pprint }}",
		"{{ ('a' * 10 ** 6).translate({97: 'x' * 1000}) }}", "{{ ('{0}' * 10 ** 6).format('x' * 1000) }}", "{{ ('%s' * 10 ** 5) % (('x' * 1000,) * 10 ** 5) }}", "{{ ('%(a)s' * 10 ** 6) % {'a': 'x' * 1000} }}",
	} {
		_, err := eval(t, source)
		require.ErrorIs(t, err, expr.ErrLimit, source)
	}
	grown := testing.AllocsPerRun(1, func() { _, _ = eval(t, "{{ range(10 ** 9) }}") })
	require.Less(t, grown, 200.0)
}

// These end in time, with any result: none visits a text again for each of its characters.
func TestNothingGoesRoundAndRound(t *testing.T) {
	for _, source := range []string{
		"{{ ('{' ~ '[' * 10 ** 6 ~ '}').format(1) }}", "{{ ('{' * 10 ** 6 ~ '}').format(1) }}", "{{ ('{' ~ 'a.' * 10 ** 5 ~ '}').format(a=1) }}", "{{ ('%(' * 10 ** 6) % {} }}", "{{ ('%' ~ '0' * 10 ** 6 ~ 'd') % 1 }}",
		"{{ ('(' * 10 ** 5 ~ 'x' ~ ')' * 10 ** 5) | urlize }}", "{{ ('(x' * 10 ** 5 ~ ')' * 10 ** 5) | urlize }}", "{{ ('http://' ~ 'a.' * 10 ** 5) | urlize }}", "{{ ('@' * 10 ** 5 ~ '.') | urlize }}",
		"{{ ('<!--' * 10 ** 5) | striptags }}", "{{ ('<!' * 10 ** 5 ~ '-->' * 10 ** 5) | striptags }}", "{{ ('<' * 10 ** 6) | striptags }}", "{{ ('-' * 10 ** 5) | wordwrap(2) }}", "{{ ('a-' * 10 ** 5) | wordwrap(3) }}", "{{ ('a--' * 10 ** 5) | wordwrap }}",
		"{{ ('a' * 10 ** 5) | pprint }}", "{{ ('a ' * 10 ** 5) | pprint }}", "{{ ('Σ' * 10 ** 5) | lower }}", "{{ ('a' * 10 ** 5).rsplit('a') | length }}", "{{ dict(**dict(range(10 ** 4) | map('string') | batch(2))) | length }}",
		"{{ '{x}'.format(**dict(range(10 ** 4) | map('string') | batch(2))) }}", "{{ 'x' | upper(**dict(range(10 ** 4) | map('string') | batch(2))) }}", "{{ 0.999999999999 ** 1e12 + 1.5 ** 1e-300 }}",
		"{{ " + strings.Repeat("(", 60) + "1" + strings.Repeat(",)", 60) + " in {} }}", "{{ " + strings.Repeat("not ", 90) + "1 }}", "{{ {" + strings.Repeat("(", 60) + "'\\\\'" + strings.Repeat(",)", 60) + ": 1} | length }}",
	} {
		c, err := jinja.Compile(source)
		require.NoError(t, err, source)
		_, err = c.Eval(world)
		if err != nil {
			require.Less(t, len(err.Error()), 1500, "%.80s", source)
		}
	}
}

// One value that occurs in a list many times costs as much to visit as many values.
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

// metered is the world with a meter.
type metered struct {
	expr.Env
	meter expr.Meter
}

func (m *metered) Meter() *expr.Meter { return &m.meter }

// An evaluation that would take more than is left of a capped meter fails, and the meter shows that it was too much.
func TestCappedEvaluationsTakeNoMoreThanIsLeft(t *testing.T) {
	for _, source := range []string{"{{ range(10 ** 5) | list | length }}", "{{ ('a' * 10 ** 6) | length }}"} {
		c, err := jinja.Compile(source)
		require.NoError(t, err)
		env := &metered{Env: world}
		_, err = c.Eval(env)
		require.NoError(t, err)
		const left = 10_000
		require.Greater(t, env.meter.Spent(), 2*left)
		before := env.meter.Spent()
		env.meter.Cap(left)
		_, err = c.Eval(env)
		require.ErrorIs(t, err, expr.ErrLimit)
		require.Greater(t, env.meter.Spent()-before, left)
		require.Less(t, env.meter.Spent()-before, 3*left)
		_, err = c.EvalBool(env)
		require.ErrorIs(t, err, expr.ErrLimit, "nothing is left")
	}
}

package signals_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/signals"
)

// computed shortens the construction that nearly every test needs.
func computed[T comparable](g *signals.Graph, fn func(r signals.Reader) (T, error)) *signals.Computed[T] {
	return signals.NewComputed(g, fn)
}

// effect creates an effect whose first run must succeed.
func effect(tb testing.TB, g *signals.Graph, fn func(r signals.Reader) error) *signals.Effect {
	tb.Helper()
	e, err := g.Effect(fn)
	require.NoError(tb, err)
	return e
}

// effectOn creates an effect that stores the last value of c in seen.
func effectOn(tb testing.TB, g *signals.Graph, c *signals.Computed[int], seen *int) *signals.Effect {
	tb.Helper()
	return effect(tb, g, func(r signals.Reader) (err error) {
		*seen, err = c.Get(r)
		return err
	})
}

func sumOf(g *signals.Graph, terms []*signals.Computed[int]) *signals.Computed[int] {
	return computed(g, func(r signals.Reader) (int, error) {
		sum := 0
		for _, term := range terms {
			v, err := term.Get(r)
			if err != nil {
				return 0, err
			}
			sum += v
		}
		return sum, nil
	})
}

// peek reads a computed that must not fail.
func peek[T comparable](tb testing.TB, c *signals.Computed[T]) T {
	tb.Helper()
	v, err := c.Peek()
	require.NoError(tb, err)
	return v
}

package signals_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/signals"
)

func TestOnlyTheBranchTakenIsTracked(t *testing.T) {
	g, tr := signals.New(), trace{}
	useX := signals.NewSignal(g, true)
	x, y := signals.NewSignal(g, 1), signals.NewSignal(g, 10)
	c := computed(g, func(r signals.Reader) (int, error) {
		if useX.Get(r) {
			return x.Get(r), nil
		}
		return y.Get(r), nil
	})
	seen := watch(t, g, &tr, "effect", c)
	tr.take()
	require.NoError(t, y.Set(20))
	require.Empty(t, tr.take())
	require.NoError(t, useX.Set(false))
	tr.take()
	require.NoError(t, x.Set(2))
	require.Empty(t, tr.take(), "the branch that was left does not trigger")
	require.NoError(t, useX.Set(true))
	require.Equal(t, []int{1, 20, 2}, *seen, "taken again, it shows what changed meanwhile")
	require.NoError(t, g.Check())
}

func TestComputedMadeUnreachableByABranchSwitchDoesNotRun(t *testing.T) {
	for _, direct := range []bool{true, false} {
		g, tr := signals.New(), trace{}
		s := signals.NewSignal(g, 1)
		positive := computed(g, func(r signals.Reader) (bool, error) { return s.Get(r) > 0, nil })
		inverse := computed(g, func(r signals.Reader) (int, error) {
			tr.add("inverse")
			return 10 / s.Get(r), nil
		})
		c := computed(g, func(r signals.Reader) (int, error) {
			ok := direct && s.Get(r) > 0
			if !direct {
				ok, _ = positive.Get(r)
			}
			if ok {
				return inverse.Get(r)
			}
			return 0, nil
		})
		seen := watch(t, g, &tr, "effect", c)
		tr.take()
		require.NoError(t, s.Set(0))
		require.Equal(t, []string{"effect"}, tr.take(), "10/0 is never computed")
		require.Equal(t, []int{10, 0}, *seen)
	}
}

func TestNewInputThatIsStaleIsRefreshedFirst(t *testing.T) {
	g, tr := signals.New(), trace{}
	on, s := signals.NewSignal(g, false), signals.NewSignal(g, 1)
	c := add(g, &tr, "c", s)
	require.Equal(t, 1, peek(t, c))
	d := computed(g, func(r signals.Reader) (int, error) {
		if on.Get(r) {
			return c.Get(r)
		}
		return -1, nil
	})
	seen := watch(t, g, &tr, "effect", d)
	require.NoError(t, g.Batch(func() error {
		require.NoError(t, on.Set(true))
		return s.Set(2)
	}))
	require.NoError(t, s.Set(3))
	require.Equal(t, []int{-1, 2, 3}, *seen)
}

func TestDroppingAnInputLeavesTheSiblingsEdge(t *testing.T) {
	g, tr := signals.New(), trace{}
	on, s := signals.NewSignal(g, true), signals.NewSignal(g, 1)
	effect(t, g, func(r signals.Reader) error {
		if on.Get(r) {
			s.Get(r)
		}
		return nil
	})
	watch(t, g, &tr, "sibling", s)
	require.NoError(t, on.Set(false))
	tr.take()
	require.NoError(t, s.Set(2))
	require.Equal(t, []string{"sibling"}, tr.take())
	require.Equal(t, 2, g.Stats().Edges)
}

func TestEffectsOnASharedConditionReshuffleIndependently(t *testing.T) {
	g, tr := signals.New(), trace{}
	first := signals.NewSignal(g, true)
	x, y := signals.NewSignal(g, 0), signals.NewSignal(g, 0)
	for _, name := range []string{"a", "b"} {
		effect(t, g, func(r signals.Reader) error {
			tr.add(name)
			if first.Get(r) == (name == "a") {
				x.Get(r)
			} else {
				y.Get(r)
			}
			return nil
		})
	}
	for round := range 4 {
		tr.take()
		require.NoError(t, x.Set(round+1))
		require.NoError(t, y.Set(round+1))
		want := []string{"a", "b"}
		if round%2 == 1 {
			want = []string{"b", "a"}
		}
		require.Equal(t, want, tr.take())
		require.NoError(t, first.Set(round%2 == 1))
	}
	require.NoError(t, g.Check())
}

func TestSteadyRunsAllocateNothing(t *testing.T) {
	g := signals.New()
	s, on := signals.NewSignal(g, 0), signals.NewSignal(g, false)
	x, y := signals.NewSignal(g, 0), signals.NewSignal(g, 0)
	last := plusOne(g, s)
	for range 10 {
		last = plusOne(g, last)
	}
	effect(t, g, func(r signals.Reader) error {
		_, err := last.Get(r)
		return err
	})
	effect(t, g, func(r signals.Reader) error { // switches branches, and writes
		if on.Get(r) {
			return y.Set(x.Get(r))
		}
		return x.Set(y.Get(r) + 1)
	})
	gate := signals.All(g, on, on)
	effect(t, g, func(r signals.Reader) error {
		_, err := gate.Get(r)
		return err
	})
	v := 0
	round := func() {
		v++
		_ = s.Set(v)
		_ = on.Set(v%2 == 0)
		_ = g.Batch(func() error {
			_ = s.Set(-v)
			return x.Set(v)
		})
	}
	for range 10 {
		round()
	}
	require.Zero(t, testing.AllocsPerRun(100, round))
}

func TestOrderOfReadsMayChangeAtEveryRun(t *testing.T) {
	g := signals.New()
	turn := signals.NewSignal(g, 0)
	cells := make([]*signals.Signal[int], 6)
	for i := range cells {
		cells[i] = signals.NewSignal(g, i)
	}
	runs, sum := 0, 0
	effect(t, g, func(r signals.Reader) error {
		runs++
		sum = 0
		for i := range 2 * len(cells) {
			sum += cells[(turn.Get(r)+i*(1+4*(turn.Get(r)%2)))%len(cells)].Get(r)
		}
		return nil
	})
	for i := range 50 {
		require.NoError(t, turn.Set(i))
		require.Equal(t, 30, sum)
		require.LessOrEqual(t, g.Stats().Edges, 2*len(cells)+1, "never more edges than reads")
		require.NoError(t, g.Check())
	}
	before := runs
	for _, c := range cells {
		require.NoError(t, c.Set(c.Peek()-1))
		require.NoError(t, c.Set(c.Peek()+1))
	}
	require.Equal(t, before+2*len(cells), runs)
}

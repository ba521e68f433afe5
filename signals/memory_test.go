package signals_test

import (
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/signals"
)

// collected reports whether the object of a weak pointer is collected, after enough collections.
func collected[T any](p weak.Pointer[T]) bool {
	for range 4 {
		runtime.GC()
	}
	return p.Value() == nil
}

func TestUnobservedComputedIsCollectableWhileItsSourceLives(t *testing.T) {
	g := signals.New()
	s := signals.NewSignal(g, 1)
	tests := map[string]func() weak.Pointer[[64]int]{
		"read once": func() weak.Pointer[[64]int] {
			held := new([64]int)
			peek(t, computed(g, func(r signals.Reader) (int, error) { return held[0] + s.Get(r), nil }))
			return weak.Make(held)
		},
		"a chain read again": func() weak.Pointer[[64]int] {
			held := new([64]int)
			c := computed(g, func(r signals.Reader) (int, error) { return held[0] + s.Get(r), nil })
			d := plusOne(g, c)
			peek(t, d)
			require.NoError(t, s.Set(2))
			peek(t, d)
			return weak.Make(held)
		},
		"observed before": func() weak.Pointer[[64]int] {
			held := new([64]int)
			c := computed(g, func(r signals.Reader) (int, error) { return held[0] + s.Get(r), nil })
			e := effectOn(t, g, c, new(int))
			require.NoError(t, s.Set(3))
			require.NoError(t, e.Dispose())
			peek(t, c)
			return weak.Make(held)
		},
		"a fold": func() weak.Pointer[[64]int] {
			held := new([64]int)
			f := signals.NewFold(g, 0, func(a, v int) int { return a + v + held[0] }, func(a, v int) int { return a - v }, s)
			_, err := f.Peek()
			require.NoError(t, err)
			return weak.Make(held)
		},
		"a disposed effect": func() weak.Pointer[[64]int] {
			held := new([64]int)
			e := effect(t, g, func(r signals.Reader) error {
				held[0] = s.Get(r)
				r.OnCleanup(func() { held[0]++ })
				return nil
			})
			require.NoError(t, g.Batch(func() error { return s.Update(func(v int) int { return v + 1 }) }))
			require.NoError(t, e.Dispose())
			return weak.Make(held)
		},
	}
	for name, make := range tests {
		require.True(t, collected(make()), name)
	}
	runtime.KeepAlive(s)
}

func TestDisposingTheLastObserverRemovesAllEdges(t *testing.T) {
	g := signals.New()
	s := signals.NewSignal(g, 1)
	last := plusOne(g, s)
	for range 9 {
		last = plusOne(g, last)
	}
	e1, e2 := effectOn(t, g, last, new(int)), effectOn(t, g, last, new(int))
	require.Equal(t, 12, g.Stats().Edges)
	require.NoError(t, e1.Dispose())
	require.Equal(t, 11, g.Stats().Edges)
	require.NoError(t, e2.Dispose())
	require.Zero(t, g.Stats().Edges)
	require.NoError(t, s.Set(5))
	require.Equal(t, 15, peek(t, last))
	require.Zero(t, g.Stats().Edges)
}

func TestManyScopesLeaveTheHeapConstant(t *testing.T) {
	g := signals.New()
	s := signals.NewSignal(g, 1)
	c := plusOne(g, s)
	round := func(n int) {
		for range n {
			scope, err := g.Scope(func(scope *signals.Scope) error {
				_, err := scope.Effect(func(r signals.Reader) error {
					_, err := c.Get(r)
					return err
				})
				return err
			})
			require.NoError(t, err)
			require.NoError(t, scope.Dispose())
		}
	}
	round(1000)
	before := heap()
	round(100_000)
	require.Less(t, heap(), before+64<<10)
	require.NoError(t, g.Check())
}

func TestDroppingTheGraphFreesEverything(t *testing.T) {
	held := func() weak.Pointer[[64]int] {
		held := new([64]int)
		g := signals.New()
		s := signals.NewSignal(g, 1)
		watch(t, g, &trace{}, "", computed(g, func(r signals.Reader) (int, error) { return held[0] + s.Get(r), nil }))
		require.NoError(t, s.Set(2))
		return weak.Make(held)
	}()
	require.True(t, collected(held))
}

func TestChainOfAMillion(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long, in one goroutine")
	}
	const n = 1_000_000
	build := func(g *signals.Graph, s *signals.Signal[int], read bool) *signals.Computed[int] {
		last := plusOne(g, s)
		for range n - 1 {
			if read {
				peek(t, last)
			}
			last = plusOne(g, last)
		}
		return last
	}
	t.Run("read from the source on, it updates without stack", func(t *testing.T) {
		g := signals.New()
		s := signals.NewSignal(g, 0)
		seen := 0
		e := effectOn(t, g, build(g, s, true), &seen)
		require.NoError(t, s.Set(1))
		require.Equal(t, n+1, seen)
		require.NoError(t, e.Dispose())
		require.Zero(t, g.Stats().Edges)
	})
	t.Run("read first at its end, it is an error and not a crash", func(t *testing.T) {
		g := signals.New()
		last := build(g, signals.NewSignal(g, 0), false)
		v, err := last.Peek()
		require.ErrorIs(t, err, signals.ErrDepth)
		for range n / signals.DepthMax {
			v, err = last.Peek()
		}
		require.NoError(t, err, "each read gets further")
		require.Equal(t, n, v)
	})
}

func TestCostPerFlushDoesNotDependOnTheSizeOfTheGraph(t *testing.T) {
	work := func(n int) (runs uint64) {
		run, g, _ := workflow(t, n, false)
		before := g.Stats().Runs
		run()
		require.LessOrEqual(t, g.Stats().QueuePeak, 3)
		return g.Stats().Runs - before
	}
	// Of three predecessors in turn, at most the three that become true run the computed, and the last one the effect.
	require.LessOrEqual(t, work(20_000), uint64(4*20_000))
	require.LessOrEqual(t, work(1_000), uint64(4*1_000))
}

package signals_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/signals"
)

var errBad = errors.New("bad")

// guarded is a computed that fails while s is negative and panics while it is below -9.
func guarded(g *signals.Graph, tr *trace, s *signals.Signal[int]) *signals.Computed[int] {
	return computed(g, func(r signals.Reader) (int, error) {
		tr.add("guarded")
		v := s.Get(r)
		if v < -9 {
			panic(v)
		}
		if v < 0 {
			return v, errBad
		}
		return v, nil
	})
}

func TestFailedComputedKeepsItsErrorUntilAnInputChanges(t *testing.T) {
	for _, bad := range []int{-1, -10} {
		g, tr := signals.New(), trace{}
		s, other := signals.NewSignal(g, 1), signals.NewSignal(g, 1)
		c := guarded(g, &tr, s)
		d := add(g, &tr, "d", c)
		for _, observed := range []bool{false, true} {
			if observed {
				_, err := g.Effect(func(r signals.Reader) error {
					_, err := d.Get(r)
					return err
				})
				require.NoError(t, err)
			}
			require.Equal(t, 1, peek(t, d))
			tr.take()
			err := s.Set(bad)
			require.Equal(t, observed, err != nil)
			_, first := c.Peek()
			_, second := c.Peek()
			require.Error(t, first)
			require.Same(t, first, second, "the identical error")
			v, through := d.Peek()
			require.Same(t, first, through, "dependants fail too")
			require.Zero(t, v)
			require.NoError(t, other.Set(other.Peek()+1))
			_, _ = c.Peek()
			require.Equal(t, []string{"guarded"}, tr.take(), "not run again until an input changes")
			require.NoError(t, s.Set(1))
			require.Equal(t, 1, peek(t, d), "recovered, also with the value from before")
		}
	}
}

func TestPanicErrorKeepsValueAndStack(t *testing.T) {
	g := signals.New()
	for _, value := range []any{"text", 42, errBad} {
		c := computed(g, func(signals.Reader) (int, error) { panic(value) })
		_, err := c.Peek()
		var p *signals.PanicError
		require.ErrorAs(t, err, &p)
		require.Equal(t, value, p.Value)
		require.Contains(t, string(p.Stack), "TestPanicErrorKeepsValueAndStack")
		require.Equal(t, value == errBad, errors.Is(err, errBad))
		require.Contains(t, err.Error(), "panic in callback")
	}
}

func TestFailingEffectsDoNotStopTheFlush(t *testing.T) {
	g, tr := signals.New(), trace{}
	s, other := signals.NewSignal(g, 0), signals.NewSignal(g, 0)
	boom := errors.New("boom")
	watch(t, g, &tr, "a", s)
	effect(t, g, func(r signals.Reader) error {
		tr.add("fails")
		if s.Get(r) == 1 {
			return errBad
		}
		return nil
	})
	effect(t, g, func(r signals.Reader) error {
		tr.add("panics")
		if s.Get(r) == 1 {
			panic(boom)
		}
		return nil
	})
	watch(t, g, &tr, "b", s)
	tr.take()
	err := s.Set(1)
	require.ErrorIs(t, err, errBad)
	require.ErrorIs(t, err, boom)
	require.Equal(t, []string{"a", "fails", "panics", "b"}, tr.take())
	require.NoError(t, g.Check())
	require.NoError(t, other.Set(1))
	require.Empty(t, tr.take(), "nothing is left over")
	require.NoError(t, s.Set(2))
	require.Equal(t, []string{"a", "fails", "panics", "b"}, tr.take(), "an effect that failed stays subscribed")
	require.ErrorIs(t, g.Batch(func() error { return s.Set(1) }), boom)
}

func TestEffectThatFailsAtFirstStaysSubscribed(t *testing.T) {
	g := signals.New()
	s := signals.NewSignal(g, -1)
	var seen []int
	e, err := g.Effect(func(r signals.Reader) error {
		v := s.Get(r)
		if v == -10 {
			panic("boom")
		}
		if v < 0 {
			return errBad
		}
		seen = append(seen, v)
		return nil
	})
	require.Same(t, errBad, err)
	require.Error(t, s.Set(-10))
	require.NoError(t, s.Set(1))
	require.Equal(t, []int{1}, seen)
	require.NoError(t, e.Dispose())
	require.NoError(t, s.Set(-1))
}

func TestFailingCleanupDoesNotStopTheOthers(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 1)
	scope, err := g.Scope(func(scope *signals.Scope) error {
		require.NoError(t, scope.OnCleanup(func() { tr.add("scope") }))
		_, err := scope.Effect(func(r signals.Reader) error {
			s.Get(r)
			tr.add("run")
			r.OnCleanup(func() { tr.add("first") })
			r.OnCleanup(func() { panic(errBad) })
			r.OnCleanup(func() { tr.add("last") })
			return nil
		})
		return err
	})
	require.NoError(t, err)
	require.ErrorIs(t, s.Set(2), errBad)
	require.Equal(t, []string{"run", "last", "first", "run"}, tr.take())
	require.ErrorIs(t, scope.Dispose(), errBad)
	require.Equal(t, []string{"last", "first", "scope"}, tr.take())
	require.Zero(t, g.Stats().Edges)
	require.NoError(t, g.Check())
}

func TestInputsReadBeforeAFailureAreKept(t *testing.T) {
	g := signals.New()
	s, never := signals.NewSignal(g, -10), signals.NewSignal(g, 1)
	c := computed(g, func(r signals.Reader) (int, error) {
		if v := s.Get(r); v < 0 {
			panic(v)
		}
		return never.Get(r), nil
	})
	var seen []error
	_, err := g.Effect(func(r signals.Reader) error {
		_, err := c.Get(r)
		seen = append(seen, err)
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, never.Set(2))
	require.Len(t, seen, 1)
	require.NoError(t, s.Set(1))
	require.Len(t, seen, 2)
	require.NoError(t, seen[1])
}

func TestGoexitInACallbackLeavesTheGraphUsable(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 0)
	exit := func(v int) {
		if v == 1 {
			runtime.Goexit()
		}
	}
	c := computed(g, func(r signals.Reader) (int, error) {
		v := s.Get(r)
		exit(v)
		return v, nil
	})
	lazy := computed(g, func(r signals.Reader) (int, error) { return c.Get(r) })
	watch(t, g, &tr, "before", s)
	seen := watch(t, g, &tr, "effect", c)
	effect(t, g, func(r signals.Reader) error {
		exit(s.Get(r))
		return nil
	})
	effect(t, g, func(r signals.Reader) error {
		v := s.Get(r)
		r.OnCleanup(func() { exit(v + 1) })
		return nil
	})
	watch(t, g, &tr, "after", s)
	inGoroutine := func(fn func()) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			fn()
		}()
		<-done
	}
	inGoroutine(func() { _ = s.Set(1) })
	inGoroutine(func() { _, _ = lazy.Peek() })
	inGoroutine(func() {
		_ = g.Batch(func() error {
			_ = s.Set(2)
			runtime.Goexit()
			return nil
		})
	})
	inGoroutine(func() {
		_, _ = g.Effect(func(r signals.Reader) error {
			s.Get(r)
			runtime.Goexit()
			return nil
		})
	})
	inGoroutine(func() {
		_, _ = g.Scope(func(*signals.Scope) error { runtime.Goexit(); return nil })
	})
	var err error
	for range 8 { // each of these goroutines is ended by the effect that always exits
		inGoroutine(func() { err = s.Set(s.Peek() + 10) })
	}
	require.NoError(t, err)
	require.NoError(t, g.Drain())
	require.Equal(t, s.Peek(), (*seen)[len(*seen)-1])
	require.Equal(t, s.Peek(), peek(t, lazy))
}

func TestComputedThatReadsItselfGetsAnError(t *testing.T) {
	g := signals.New()
	loop := signals.NewSignal(g, true)
	var direct, a, b, hidden *signals.Computed[int]
	direct = computed(g, func(r signals.Reader) (int, error) {
		if loop.Get(r) {
			return direct.Get(r)
		}
		return 1, nil
	})
	a = computed(g, func(r signals.Reader) (int, error) { return b.Get(r) })
	b = computed(g, func(r signals.Reader) (int, error) {
		if loop.Get(r) {
			return a.Get(r)
		}
		return 2, nil
	})
	hidden = computed(g, func(r signals.Reader) (int, error) {
		if loop.Get(r) {
			return hidden.Get(r.Untracked())
		}
		return 3, nil
	})
	all := []*signals.Computed[int]{direct, a, b, hidden}
	check := func() {
		t.Helper()
		for i, c := range all {
			_, err := c.Peek()
			var cycle *signals.CycleError
			require.ErrorAs(t, err, &cycle, "node %d", i)
			require.Contains(t, err.Error(), "errors_test.go")
		}
		_, err := a.Peek()
		var cycle *signals.CycleError
		require.ErrorAs(t, err, &cycle)
		require.Len(t, cycle.Nodes, 2)
	}
	check()
	require.NoError(t, loop.Set(false))
	require.Equal(t, []int{1, 2, 2, 3}, []int{peek(t, direct), peek(t, a), peek(t, b), peek(t, hidden)})

	for _, c := range all {
		_, err := g.Effect(func(r signals.Reader) error {
			_, err := c.Get(r)
			return err
		})
		require.NoError(t, err)
	}
	var cycle *signals.CycleError
	require.ErrorAs(t, loop.Set(true), &cycle, "a cycle that a branch switch closes is found at that moment")
	check()
	require.NoError(t, loop.Set(false), "and is over when the branch is left")
	require.Equal(t, []int{1, 2, 2, 3}, []int{peek(t, direct), peek(t, a), peek(t, b), peek(t, hidden)})
	require.NoError(t, g.Check())
}

func TestCycleRecoversThroughAnyOfItsNodes(t *testing.T) {
	g := signals.New()
	inA, inB, free := signals.NewSignal(g, true), signals.NewSignal(g, true), signals.NewSignal(g, 1)
	var a, b *signals.Computed[int]
	a = computed(g, func(r signals.Reader) (int, error) {
		if inA.Get(r) {
			return b.Get(r)
		}
		return 1, nil
	})
	b = computed(g, func(r signals.Reader) (int, error) {
		if inB.Get(r) {
			return a.Get(r)
		}
		return 2, nil
	})
	seen := map[*signals.Computed[int]]int{}
	for _, c := range []*signals.Computed[int]{b, a} {
		_, err := g.Effect(func(r signals.Reader) (err error) {
			seen[c], err = c.Get(r)
			return err
		})
		require.Error(t, err)
	}
	other := 0
	effect(t, g, func(r signals.Reader) error {
		other = free.Get(r)
		return nil
	})
	require.NoError(t, free.Set(2))
	require.Equal(t, 2, other, "nodes outside the cycle stay usable")

	require.NoError(t, inB.Set(false))
	require.Equal(t, []int{2, 2}, []int{seen[a], seen[b]})
	require.Error(t, inB.Set(true))
	require.NoError(t, inA.Set(false))
	require.Equal(t, []int{1, 1}, []int{seen[a], seen[b]})
	require.NoError(t, g.Check())
}

func TestReaderIsGoodForItsRunOnly(t *testing.T) {
	g, elsewhere := signals.New(), signals.New()
	s, foreign := signals.NewSignal(g, 1), signals.NewSignal(elsewhere, 1)
	var kept signals.Reader
	c := computed(g, func(r signals.Reader) (int, error) {
		kept = r
		return s.Get(r), nil
	})
	peek(t, c)
	require.Panics(t, func() { s.Get(kept) })
	require.Panics(t, func() { s.Get(kept.Untracked()) })
	require.Panics(t, func() { _, _ = c.Get(kept) })
	require.Panics(t, func() { kept.Scope() })
	require.Equal(t, 1, s.Get(signals.Reader{}), "the zero Reader is good anywhere")
	require.Equal(t, 1, s.Get(signals.Reader{}.Untracked()))

	_, err := g.Effect(func(r signals.Reader) error {
		_, err := r.Scope().Effect(func(signals.Reader) error {
			s.Get(r) // the outer run's
			return nil
		})
		return err
	})
	var p *signals.PanicError
	require.ErrorAs(t, err, &p, "inside another run the outer Reader is refused, and nothing is linked")
	_, err = g.Effect(func(r signals.Reader) error {
		foreign.Get(r)
		return nil
	})
	require.ErrorAs(t, err, &p)
	require.Zero(t, elsewhere.Stats().Edges)
	require.NoError(t, g.Check())
}

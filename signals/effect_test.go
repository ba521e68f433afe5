package signals_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/signals"
)

func TestEffectRunsAtOnceAndOnEveryChange(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 1)
	seen := watch(t, g, &tr, "effect", s)
	require.NoError(t, s.Set(2))
	require.NoError(t, g.Batch(func() error {
		watch(t, g, &tr, "inner", s)
		require.Equal(t, []string{"effect", "effect", "inner"}, tr.take(), "at once, also inside a batch")
		return s.Set(3)
	}))
	require.Equal(t, []string{"effect", "inner"}, tr.take())
	require.Equal(t, []int{1, 2, 3}, *seen)
}

func TestCleanupRunsBeforeEachRerunAndOnDisposal(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 1)
	double := computed(g, func(r signals.Reader) (int, error) { return 2 * s.Get(r), nil })
	other := signals.NewSignal(g, 1)
	e := effect(t, g, func(r signals.Reader) error {
		s.Get(r)
		tr.add("run")
		r.OnCleanup(func() { tr.add("first registered") })
		r.OnCleanup(func() {
			require.Equal(t, 2*s.Peek(), peek(t, double), "reads in it are fresh")
			other.Peek()
			tr.add("cleanup")
		})
		return nil
	})
	require.NoError(t, s.Set(2))
	require.Equal(t, []string{"run", "cleanup", "first registered", "run"}, tr.take())
	require.NoError(t, other.Set(2))
	require.Empty(t, tr.take(), "reads in it are not tracked")
	require.NoError(t, e.Dispose())
	require.NoError(t, e.Dispose())
	require.Equal(t, []string{"cleanup", "first registered"}, tr.take(), "exactly once per run")
	require.NoError(t, s.Set(3))
	require.Empty(t, tr.take())
}

func TestEffectDisposedWhileQueuedDoesNotRun(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 1)
	for _, again := range []bool{false, true} {
		e := effect(t, g, func(r signals.Reader) error {
			s.Get(r)
			tr.add("run")
			return nil
		})
		tr.take()
		require.NoError(t, g.Batch(func() error {
			require.NoError(t, s.Set(s.Peek()+1))
			_, err := computed(g, func(r signals.Reader) (int, error) { return s.Get(r), nil }).Peek() // commits the write
			require.NoError(t, err)
			require.NoError(t, e.Dispose())
			if again {
				return s.Set(s.Peek() + 1)
			}
			return nil
		}))
		require.Empty(t, tr.take())
	}
}

func TestEffectThatDisposesItself(t *testing.T) {
	t.Run("in its run", func(t *testing.T) {
		g, tr := signals.New(), trace{}
		s, late := signals.NewSignal(g, 1), signals.NewSignal(g, 1)
		var e *signals.Effect
		e = effect(t, g, func(r signals.Reader) error {
			tr.add("run")
			r.OnCleanup(func() { tr.add("early cleanup") })
			if s.Get(r) == 2 {
				require.NoError(t, e.Dispose())
				late.Get(r)
				r.OnCleanup(func() { tr.add("late cleanup") })
				_, err := r.Scope().Effect(func(r signals.Reader) error {
					late.Get(r)
					r.OnCleanup(func() { tr.add("inner cleanup") })
					return nil
				})
				require.NoError(t, err)
			}
			return nil
		})
		require.NoError(t, s.Set(2))
		require.Equal(t, []string{"run", "early cleanup", "run", "inner cleanup", "late cleanup", "early cleanup"}, tr.take())
		require.Zero(t, g.Stats().Edges)
		require.NoError(t, s.Set(3))
		require.NoError(t, late.Set(3))
		require.Empty(t, tr.take())
		require.NoError(t, g.Check())
	})
	t.Run("in its cleanup", func(t *testing.T) {
		g, tr := signals.New(), trace{}
		s := signals.NewSignal(g, 1)
		var e *signals.Effect
		e = effect(t, g, func(r signals.Reader) error {
			s.Get(r)
			tr.add("run")
			r.OnCleanup(func() {
				tr.add("cleanup")
				require.NoError(t, e.Dispose())
			})
			return nil
		})
		require.NoError(t, s.Set(2))
		require.NoError(t, s.Set(3))
		require.Equal(t, []string{"run", "cleanup"}, tr.take())
		require.Zero(t, g.Stats().Edges)
	})
}

func TestComputedThatDisposesAnEffectDuringPropagation(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 1)
	var victims []*signals.Effect
	unchanged := computed(g, func(r signals.Reader) (int, error) { return 0 * s.Get(r), nil })
	killer := computed(g, func(r signals.Reader) (int, error) {
		v := s.Get(r)
		for _, e := range victims {
			_ = e.Dispose()
		}
		return v, nil
	})
	reads := func(names string, inputs ...*signals.Computed[int]) *signals.Effect {
		return effect(t, g, func(r signals.Reader) error {
			for _, in := range inputs {
				if _, err := in.Get(r); err != nil {
					return err
				}
			}
			tr.add(names)
			return nil
		})
	}
	a := reads("a", unchanged, killer)
	b := reads("b", killer, unchanged)
	reads("sibling", unchanged, killer)
	victims = []*signals.Effect{a, b}
	tr.take()
	require.NoError(t, s.Set(2))
	require.Equal(t, []string{"sibling"}, tr.take())
	require.NoError(t, g.Check())
	require.NoError(t, s.Set(3))
	require.Equal(t, []string{"sibling"}, tr.take())
}

func TestEffectCreatedInACleanup(t *testing.T) {
	g, tr := signals.New(), trace{}
	s, own := signals.NewSignal(g, 1), signals.NewSignal(g, 1)
	e := effect(t, g, func(r signals.Reader) error {
		s.Get(r)
		r.OnCleanup(func() { watch(t, g, &tr, "made", own) })
		return nil
	})
	require.NoError(t, e.Dispose())
	require.NoError(t, s.Set(2))
	require.NoError(t, own.Set(2))
	require.Equal(t, []string{"made", "made"}, tr.take())
	watch(t, g, &tr, "new", s)
	require.NoError(t, s.Set(3))
	require.Equal(t, []string{"new", "new"}, tr.take())
}

func TestCleanupThatWritesTheEffectsOwnInput(t *testing.T) {
	g := signals.New()
	s := signals.NewSignal(g, 1)
	var seen []int
	effect(t, g, func(r signals.Reader) error {
		seen = append(seen, s.Get(r))
		r.OnCleanup(func() { _ = s.Update(func(v int) int { return v + 10 }) })
		return nil
	})
	require.NoError(t, s.Set(2))
	require.Equal(t, []int{1, 12}, seen, "the run sees the writes of its cleanup")
	require.NoError(t, s.Set(3))
	require.Equal(t, []int{1, 12, 13}, seen)
}

// nest creates an outer effect that creates an inner one, both reading s; the outer one reads first if outerFirst is true.
func nest(t *testing.T, g *signals.Graph, tr *trace, s *signals.Signal[int], outerFirst bool) *signals.Effect {
	return effect(t, g, func(r signals.Reader) error {
		if outerFirst {
			s.Get(r)
		}
		tr.add("outer")
		r.OnCleanup(func() { tr.add("outer cleanup") })
		_, err := r.Scope().Effect(func(r signals.Reader) error {
			s.Get(r)
			tr.add("inner")
			r.OnCleanup(func() { tr.add("inner cleanup") })
			return nil
		})
		s.Get(r)
		return err
	})
}

func TestOuterEffectRunsFirstAndOldInnersDoNotRun(t *testing.T) {
	for _, outerFirst := range []bool{true, false} {
		g, tr := signals.New(), trace{}
		s := signals.NewSignal(g, 1)
		nest(t, g, &tr, s, outerFirst)
		tr.take()
		for v := range 3 {
			require.NoError(t, s.Set(v+2))
			require.Equal(t, []string{"inner cleanup", "outer cleanup", "outer", "inner"}, tr.take())
			require.NoError(t, g.Check())
		}
	}
}

func TestDisposalIsDeepestFirstAndYoungestFirst(t *testing.T) {
	g, tr := signals.New(), trace{}
	note := func(s *signals.Scope, name string) {
		require.NoError(t, s.OnCleanup(func() { tr.add(name) }))
	}
	top, err := g.Scope(func(s *signals.Scope) error {
		note(s, "top")
		for _, name := range []string{"a", "b"} {
			_, err := s.Scope(func(s *signals.Scope) error {
				note(s, name)
				_, err := s.Effect(func(r signals.Reader) error {
					note(r.Scope(), name+"1")
					_, err := r.Scope().Effect(func(r signals.Reader) error {
						note(r.Scope(), name+"1x")
						return nil
					})
					return err
				})
				require.NoError(t, err)
				_, err = s.Scope(func(s *signals.Scope) error {
					note(s, name+"2")
					return nil
				})
				return err
			})
			require.NoError(t, err)
		}
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, top.Dispose())
	require.Equal(t, []string{"b2", "b1x", "b1", "b", "a2", "a1x", "a1", "a", "top"}, tr.take())
	require.NoError(t, top.Dispose())
	require.Empty(t, tr.take())
}

func TestDisposalOfAMillionNestedScopesNeedsNoStack(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long, in one goroutine")
	}
	g := signals.New()
	count := 0
	top, err := g.Scope(nil)
	require.NoError(t, err)
	s := top
	for range 1_000_000 {
		s, err = s.Scope(nil)
		require.NoError(t, err)
	}
	require.NoError(t, s.OnCleanup(func() { count++ }))
	require.NoError(t, top.Dispose())
	require.Equal(t, 1, count)
}

func TestInnerRunKeepsTheOutersInputsAndChildren(t *testing.T) {
	g, tr := signals.New(), trace{}
	outer, inner := signals.NewSignal(g, 1), signals.NewSignal(g, 1)
	effect(t, g, func(r signals.Reader) error {
		tr.add("outer")
		for _, name := range []string{"x", "y"} {
			_, err := r.Scope().Effect(func(r signals.Reader) error {
				inner.Get(r)
				tr.add(name)
				return nil
			})
			require.NoError(t, err)
		}
		outer.Get(r)
		return nil
	})
	tr.take()
	require.NoError(t, inner.Set(2))
	require.Equal(t, []string{"x", "y"}, tr.take(), "the outer one does not depend on reads of the inner ones")
	require.NoError(t, outer.Set(2))
	require.Equal(t, []string{"outer", "x", "y"}, tr.take())
	require.NoError(t, inner.Set(3))
	require.Equal(t, []string{"x", "y"}, tr.take(), "old inner effects are gone")
}

func TestSignalCreatedAndWrittenInTheParentDoesNotTriggerIt(t *testing.T) {
	g, tr := signals.New(), trace{}
	var child *signals.Signal[int]
	effect(t, g, func(r signals.Reader) error {
		tr.add("parent")
		child = signals.NewSignal(g, 1)
		_, err := r.Scope().Effect(func(r signals.Reader) error {
			child.Get(r)
			tr.add("child")
			return nil
		})
		require.NoError(t, child.Set(2))
		return err
	})
	require.Equal(t, []string{"parent", "child", "child"}, tr.take())
	require.NoError(t, child.Set(3))
	require.Equal(t, []string{"child"}, tr.take())
}

func TestEffectsInsideAComputedBelongToIt(t *testing.T) {
	g, tr := signals.New(), trace{}
	s, in := signals.NewSignal(g, 1), signals.NewSignal(g, 1)
	c := computed(g, func(r signals.Reader) (int, error) {
		tr.add("computed")
		_, err := r.Scope().Effect(func(r signals.Reader) error {
			in.Get(r)
			tr.add("inner")
			r.OnCleanup(func() { tr.add("cleanup") })
			return nil
		})
		return s.Get(r), err
	})
	require.Equal(t, 1, peek(t, c))
	require.Equal(t, []string{"computed", "inner", "cleanup"}, tr.take(), "it is not observed: its effects end with its run")
	require.NoError(t, in.Set(2))
	require.Empty(t, tr.take())

	outer := computed(g, func(r signals.Reader) (int, error) { return c.Get(r) })
	require.Equal(t, 1, peek(t, outer))
	e := effectOn(t, g, outer, new(int))
	require.Equal(t, []string{"computed", "inner"}, tr.take(), "observed: it runs again to have them")
	require.NoError(t, in.Set(3))
	require.Equal(t, []string{"cleanup", "inner"}, tr.take())
	require.NoError(t, g.Batch(func() error {
		require.NoError(t, in.Set(4))
		return s.Set(2)
	}))
	require.Equal(t, []string{"cleanup", "computed", "inner"}, tr.take(), "disposed before the computed runs again")
	require.NoError(t, g.Check())
	require.NoError(t, e.Dispose())
	require.Equal(t, []string{"cleanup"}, tr.take(), "disposed when the computed is no longer observed")
	require.NoError(t, in.Set(5))
	require.Empty(t, tr.take())
}

func TestScope(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 1)
	scope, err := g.Scope(func(scope *signals.Scope) error {
		for range 3 {
			_, err := scope.Effect(func(r signals.Reader) error {
				s.Get(r)
				tr.add("effect")
				return nil
			})
			require.NoError(t, err)
		}
		return nil
	})
	require.NoError(t, err)
	tr.take()
	require.NoError(t, s.Set(2))
	require.Len(t, tr.take(), 3)
	require.NoError(t, scope.Dispose())
	require.NoError(t, s.Set(3))
	require.Empty(t, tr.take())
	require.Zero(t, g.Stats().Edges)

	_, err = scope.Effect(func(signals.Reader) error { t.Error("must not run"); return nil })
	require.ErrorIs(t, err, signals.ErrDisposed)
	_, err = scope.Scope(nil)
	require.ErrorIs(t, err, signals.ErrDisposed)
	require.ErrorIs(t, scope.OnCleanup(func() {}), signals.ErrDisposed)

	failure := errors.New("failure")
	for _, body := range []func() error{func() error { return failure }, func() error { panic(failure) }} {
		_, err = g.Scope(func(scope *signals.Scope) error {
			require.NoError(t, scope.OnCleanup(func() { tr.add("undone") }))
			_, err := scope.Effect(func(r signals.Reader) error {
				s.Get(r)
				tr.add("effect")
				return nil
			})
			require.NoError(t, err)
			return body()
		})
		require.ErrorIs(t, err, failure)
		require.Equal(t, []string{"effect", "undone"}, tr.take())
		require.NoError(t, s.Set(s.Peek()+1))
		require.Empty(t, tr.take())
	}
	require.NoError(t, g.Check())
}

func TestDisposingTheRootEndsEveryEffect(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 1)
	watch(t, g, &tr, "effect", s)
	require.NoError(t, g.Root().OnCleanup(func() { tr.add("cleanup") }))
	require.NoError(t, g.Root().Dispose())
	require.NoError(t, s.Set(2))
	require.Equal(t, []string{"effect", "cleanup"}, tr.take())
	_, err := g.Effect(func(signals.Reader) error { return nil })
	require.ErrorIs(t, err, signals.ErrDisposed)
}

func TestUntrackedKeepsOwnershipAndStopsTracking(t *testing.T) {
	g, tr := signals.New(), trace{}
	s, u, in := signals.NewSignal(g, 1), signals.NewSignal(g, 1), signals.NewSignal(g, 1)
	through := computed(g, func(r signals.Reader) (int, error) { return u.Get(r), nil })
	var seen []int
	effect(t, g, func(r signals.Reader) error {
		s.Get(r)
		free := r.Untracked()
		v, err := through.Get(free)
		seen = append(seen, v+u.Get(free))
		require.NoError(t, err)
		_, err = free.Scope().Effect(func(r signals.Reader) error {
			in.Get(r)
			tr.add("inner")
			return nil
		})
		return err
	})
	require.NoError(t, u.Set(5))
	require.Equal(t, []int{2}, seen)
	require.NoError(t, s.Set(2))
	require.Equal(t, []int{2, 10}, seen)
	tr.take()
	require.NoError(t, in.Set(2))
	require.Equal(t, []string{"inner"}, tr.take(), "the inner effect of the first run was owned and is gone")
	require.Equal(t, 2, g.Stats().Edges)
}

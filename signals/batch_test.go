package signals_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/signals"
)

func TestEffectsRunOnceAfterTheOutermostBatch(t *testing.T) {
	g, tr := signals.New(), trace{}
	x, y := signals.NewSignal(g, 1), signals.NewSignal(g, 2)
	sum := add(g, &tr, "sum", x, y)
	seen := watch(t, g, &tr, "effect", sum)
	tr.take()
	require.NoError(t, g.Batch(func() error {
		require.NoError(t, g.Batch(func() error { return x.Set(10) }))
		require.Empty(t, tr.take(), "nested batches only count")
		require.NoError(t, y.Set(20))
		require.Equal(t, []int{10, 20}, []int{x.Peek(), y.Peek()}, "reads see the batch's own writes")
		require.Equal(t, 30, peek(t, sum))
		require.NoError(t, y.Set(30))
		return nil
	}))
	require.Equal(t, []int{3, 40}, *seen, "intermediate values are never seen by effects")
	tr.take()
	require.NoError(t, x.Set(11))
	require.Equal(t, []string{"sum", "effect"}, tr.take(), "afterwards every write flushes again")
}

func TestBatchThatFailsTakesItsWritesBack(t *testing.T) {
	failure := errors.New("failure")
	for name, look := range map[string]bool{"unseen": false, "seen": true} {
		t.Run(name, func(t *testing.T) {
			g, tr := signals.New(), trace{}
			x, y := signals.NewSignal(g, 1), signals.NewSignal(g, 2)
			sum := add(g, &tr, "sum", x, y)
			seen := watch(t, g, &tr, "effect", sum)
			write := func() {
				require.NoError(t, x.Set(10))
				if look {
					require.Equal(t, 12, peek(t, sum))
				}
				require.NoError(t, x.Set(11))
				require.NoError(t, y.Set(20))
			}
			err := g.Batch(func() error { write(); return failure })
			require.Same(t, failure, err)
			require.Equal(t, []int{1, 2, 3}, []int{x.Peek(), y.Peek(), peek(t, sum)})
			require.PanicsWithValue(t, "boom", func() {
				_ = g.Batch(func() error { write(); panic("boom") })
			})
			require.Equal(t, []int{1, 2, 3}, []int{x.Peek(), y.Peek(), peek(t, sum)})
			require.Equal(t, 3, (*seen)[len(*seen)-1])
			require.NoError(t, g.Check())
			tr.take()
			require.NoError(t, x.Set(2))
			require.Equal(t, []string{"sum", "effect"}, tr.take(), "the depth is restored")
		})
	}
}

func TestFailedInnerBatchLeavesTheDecisionToTheOuter(t *testing.T) {
	g := signals.New()
	s := signals.NewSignal(g, 1)
	failure := errors.New("failure")
	require.NoError(t, g.Batch(func() error {
		require.ErrorIs(t, g.Batch(func() error {
			require.NoError(t, s.Set(2))
			return failure
		}), failure)
		return nil
	}))
	require.Equal(t, 2, s.Peek())
}

func TestWritesInAnEffectAreOneBatch(t *testing.T) {
	g := signals.New()
	s, x, y := signals.NewSignal(g, 1), signals.NewSignal(g, 1), signals.NewSignal(g, 1)
	effect(t, g, func(r signals.Reader) error {
		v := s.Get(r)
		r.OnCleanup(func() { _ = x.Set(-1) })
		require.NoError(t, x.Set(v))
		return y.Set(v)
	})
	var seen [][2]int
	effect(t, g, func(r signals.Reader) error {
		seen = append(seen, [2]int{x.Get(r), y.Get(r)})
		return nil
	})
	require.NoError(t, s.Set(2))
	require.NoError(t, s.Set(3))
	require.Equal(t, [][2]int{{1, 1}, {2, 2}, {3, 3}}, seen)
}

func TestUntrackedReadsMakeNoEdge(t *testing.T) {
	g, tr := signals.New(), trace{}
	s, u := signals.NewSignal(g, 1), signals.NewSignal(g, 1)
	b := add(g, &tr, "b", u)
	c := computed(g, func(r signals.Reader) (int, error) {
		tr.add("c")
		v, err := b.Get(r.Untracked())
		return s.Get(r) + v + u.Peek(), err
	})
	seen := watch(t, g, &tr, "effect", c)
	tr.take()
	require.NoError(t, u.Set(10))
	require.Empty(t, tr.take())
	require.NoError(t, s.Set(2))
	require.Equal(t, []int{3, 22}, *seen, "and return fresh values")
}

func TestUntrackedWriteInAnEffectTriggersOthers(t *testing.T) {
	g, tr := signals.New(), trace{}
	s, u := signals.NewSignal(g, 1), signals.NewSignal(g, 1)
	effect(t, g, func(r signals.Reader) error {
		return u.Set(u.Get(r.Untracked()) + s.Get(r))
	})
	seen := watch(t, g, &tr, "other", u)
	require.NoError(t, s.Set(5))
	require.Equal(t, []int{2, 7}, *seen)
}

func TestTrackingIsRestoredAfterAnUntrackedBlockThatPanics(t *testing.T) {
	g := signals.New()
	s, u := signals.NewSignal(g, 1), signals.NewSignal(g, 1)
	failing := computed(g, func(r signals.Reader) (int, error) { panic(u.Get(r)) })
	runs := 0
	effect(t, g, func(r signals.Reader) error {
		runs++
		func() {
			defer func() { _ = recover() }()
			_, err := failing.Get(r.Untracked())
			panic(err)
		}()
		s.Get(r)
		return nil
	})
	require.NoError(t, u.Set(2))
	require.Equal(t, 1, runs)
	require.NoError(t, s.Set(2))
	require.Equal(t, 2, runs)
}

func TestEffectThatWritesIsSettledBeforeTheWriteReturns(t *testing.T) {
	g, tr := signals.New(), trace{}
	s, out := signals.NewSignal(g, 1), signals.NewSignal(g, 0)
	effect(t, g, func(r signals.Reader) error { return out.Set(s.Get(r) * 10) })
	var later []int
	effect(t, g, func(r signals.Reader) error {
		s.Get(r)
		later = append(later, out.Peek())
		return nil
	})
	seen := watch(t, g, &tr, "out", out)
	require.NoError(t, s.Set(2))
	require.Equal(t, []int{10, 20}, *seen)
	require.Equal(t, []int{10, 20}, later, "later effects see the writes of earlier ones")
}

func TestEffectThatWritesItsOwnInputRunsToAFixpoint(t *testing.T) {
	g := signals.New()
	s := signals.NewSignal(g, 0)
	runs := 0
	effect(t, g, func(r signals.Reader) error {
		runs++
		return s.Set(min(10, s.Get(r)+1))
	})
	require.Equal(t, []int{10, 11}, []int{s.Peek(), runs})
	require.NoError(t, s.Set(7))
	require.Equal(t, 10, s.Peek())
}

func TestRingOfEffectsIsBoundedAndNamed(t *testing.T) {
	g := signals.New()
	on := signals.NewSignal(g, false)
	x, y := signals.NewSignal(g, 0), signals.NewSignal(g, 0)
	relay := computed(g, func(r signals.Reader) (int, error) { return relayed(x.Get(r)) })
	runs := 0
	effect(t, g, func(r signals.Reader) error {
		runs++
		v, err := relay.Get(r)
		if err == nil && on.Get(r) {
			err = y.Set(v + 1)
		}
		return err
	})
	effect(t, g, func(r signals.Reader) error {
		runs++
		return x.Set(y.Get(r))
	})
	bystander := 0
	effect(t, g, func(r signals.Reader) error {
		bystander++
		on.Get(r)
		return nil
	})
	err := on.Set(true)
	var cycle *signals.CycleError
	require.ErrorAs(t, err, &cycle)
	require.Len(t, cycle.Nodes, 3, "two effects and the computed between them: %v", cycle.Nodes)
	require.Contains(t, err.Error(), "TestRingOfEffectsIsBoundedAndNamed")
	require.Contains(t, err.Error(), "batch_test.go")
	require.LessOrEqual(t, runs, 2*signals.RerunsMax+6)
	require.Equal(t, 2, bystander)
	require.NoError(t, g.Check())

	require.NoError(t, on.Set(false), "the ring is open again")
	runs = 0
	require.NoError(t, x.Set(-1))
	require.Equal(t, 1, runs, "the effects are still subscribed")
}

func relayed(v int) (int, error) { return v, nil }

func TestLongCascadeIsNoCycle(t *testing.T) {
	const n = 100_000
	g := signals.New()
	chain := make([]*signals.Signal[int], n+1)
	for i := range chain {
		chain[i] = signals.NewSignal(g, 0)
	}
	for i := range n {
		effect(t, g, func(r signals.Reader) error { return chain[i+1].Set(chain[i].Get(r)) })
	}
	before := g.Stats().Runs
	require.NoError(t, chain[0].Set(1))
	require.Equal(t, 1, chain[n].Peek())
	require.EqualValues(t, n, g.Stats().Runs-before)
}

func TestComputedMustNotWrite(t *testing.T) {
	g := signals.New()
	s, out := signals.NewSignal(g, 1), signals.NewSignal(g, 1)
	c := computed(g, func(r signals.Reader) (int, error) { return s.Get(r), out.Set(2) })
	_, err := c.Peek()
	require.ErrorIs(t, err, signals.ErrPure)
	inEffect := computed(g, func(r signals.Reader) (int, error) {
		_, err := r.Scope().Effect(func(r signals.Reader) error { return out.Set(s.Get(r)) })
		return 0, err
	})
	_, err = inEffect.Peek()
	require.ErrorIs(t, err, signals.ErrPure)
	fold := signals.Count(g)
	inFold := computed(g, func(r signals.Reader) (int, error) { return 0, errors.Join(fold.Add(), fold.Remove(nil)) })
	_, err = inFold.Peek()
	require.ErrorIs(t, err, signals.ErrPure)
	require.Equal(t, 1, out.Peek())
	require.NoError(t, out.Set(3), "writes work again afterwards")
}

func TestPostedWritesAreOneBatchInOrder(t *testing.T) {
	g, tr := signals.New(), trace{}
	const producers, each = 4, 100
	last := make([]*signals.Signal[int], producers)
	var inputs []signals.Readable[int]
	for i := range last {
		last[i] = signals.NewSignal(g, 0)
		inputs = append(inputs, last[i])
	}
	seen := watch(t, g, &tr, "effect", add(g, &tr, "sum", inputs...))
	var all sync.WaitGroup
	ordered := true
	for _, s := range last {
		all.Go(func() {
			for v := range each {
				g.Post(func() {
					ordered = ordered && s.Peek() == v
					_ = s.Set(v + 1)
				})
			}
		})
	}
	all.Wait()
	<-g.Wake()
	require.NoError(t, g.Drain())
	require.True(t, ordered, "the order of each producer is kept")
	require.Equal(t, []int{0, producers * each}, *seen)
	require.NoError(t, g.Drain())
	select {
	case <-g.Wake():
		t.Error("woken without a post")
	default:
	}

	g.Post(func() { _ = last[0].Set(0) })
	g.Post(func() { panic("boom") })
	var failure *signals.PanicError
	require.ErrorAs(t, g.Drain(), &failure)
	require.Equal(t, each, last[0].Peek(), "taken back like any batch")
}

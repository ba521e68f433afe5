package signals_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/signals"
)

// trace collects the names of callbacks in the order in which they end.
type trace []string

func (tr *trace) add(name string) { *tr = append(*tr, name) }

// take returns the collected names and clears them.
func (tr *trace) take() []string {
	names := append([]string{}, *tr...)
	*tr = nil
	return names
}

// add is a computed that records its name and sums its inputs.
func add(g *signals.Graph, tr *trace, name string, inputs ...signals.Readable[int]) *signals.Computed[int] {
	return computed(g, func(r signals.Reader) (int, error) {
		sum := 0
		for _, in := range inputs {
			v, err := get(r, in)
			if err != nil {
				return 0, err
			}
			sum += v
		}
		tr.add(name)
		return sum, nil
	})
}

func get(r signals.Reader, in signals.Readable[int]) (int, error) {
	switch in := in.(type) {
	case *signals.Signal[int]:
		return in.Get(r), nil
	case *signals.Computed[int]:
		return in.Get(r)
	}
	panic("unknown input")
}

// watch is an effect that records its name and the values it saw.
func watch(t testing.TB, g *signals.Graph, tr *trace, name string, in signals.Readable[int]) *[]int {
	seen := new([]int)
	effect(t, g, func(r signals.Reader) error {
		v, err := get(r, in)
		tr.add(name)
		*seen = append(*seen, v)
		return err
	})
	return seen
}

func TestDiamondRunsTheJoinOnce(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 1)
	left, right := add(g, &tr, "left", s), add(g, &tr, "right", s)
	seen := watch(t, g, &tr, "effect", add(g, &tr, "join", left, right))
	tr.take()
	require.NoError(t, s.Set(5))
	require.Equal(t, []string{"left", "right", "join", "effect"}, tr.take())
	require.Equal(t, []int{2, 10}, *seen)
}

func TestDiamondsWithTailsRunEachNodeOnce(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 1)
	a, b := add(g, &tr, "a", s), add(g, &tr, "b", s)
	join := add(g, &tr, "join", a, b)
	tail := add(g, &tr, "tail", join)
	c, d := add(g, &tr, "c", tail), add(g, &tr, "d", join) // jagged: d skips the tail
	second := add(g, &tr, "second", c, d)
	watch(t, g, &tr, "e1", second)
	watch(t, g, &tr, "e2", tail)
	watch(t, g, &tr, "e3", add(g, &tr, "tail2", second))
	tr.take()
	require.NoError(t, s.Set(2))
	require.ElementsMatch(t, []string{"a", "b", "join", "tail", "c", "d", "second", "e1", "e2", "tail2", "e3"}, tr.take())
}

func TestJoinWaitsForTheLongerBranch(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 1)
	long := add(g, &tr, "3", add(g, &tr, "2", add(g, &tr, "1", s)))
	seen := watch(t, g, &tr, "effect", add(g, &tr, "join", s, long))
	tr.take()
	require.NoError(t, s.Set(2))
	require.Equal(t, []string{"1", "2", "3", "join", "effect"}, tr.take())
	require.Equal(t, []int{2, 4}, *seen)
}

func TestCrossedDiamondOfTwoSourcesInOneBatch(t *testing.T) {
	g, tr := signals.New(), trace{}
	s1, s2 := signals.NewSignal(g, 1), signals.NewSignal(g, 10)
	x, y := add(g, &tr, "x", s1, s2), add(g, &tr, "y", s2, s1)
	seen := watch(t, g, &tr, "effect", add(g, &tr, "join", x, y))
	tr.take()
	require.NoError(t, g.Batch(func() error {
		require.NoError(t, s1.Set(2))
		return s2.Set(20)
	}))
	require.Equal(t, []string{"x", "y", "join", "effect"}, tr.take())
	require.Equal(t, []int{22, 44}, *seen)
}

func TestWideFanOutRunsAllEffectsOnceInOrderOfCreation(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 0)
	var want []string
	for i := range 100 {
		want = append(want, fmt.Sprint(i))
		watch(t, g, &tr, fmt.Sprint(i), s)
	}
	tr.take()
	require.NoError(t, s.Set(1))
	require.Equal(t, want, tr.take())
}

func TestChainIsEvaluatedSourceFirst(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 1)
	a := add(g, &tr, "a", s)
	b := add(g, &tr, "b", a)
	c := add(g, &tr, "c", b)
	watch(t, g, &tr, "effect", c)
	require.Equal(t, []string{"a", "b", "c", "effect"}, tr.take())
	require.NoError(t, s.Set(2))
	require.Equal(t, []string{"a", "b", "c", "effect"}, tr.take())
}

func TestConvergingLayersTakeALinearNumberOfRuns(t *testing.T) {
	const layers, width = 30, 4
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 1)
	layer := []signals.Readable[int]{s}
	for range layers {
		var next []signals.Readable[int]
		for range width {
			next = append(next, add(g, &tr, "", layer...))
		}
		layer = next
	}
	watch(t, g, &tr, "", layer[0])
	tr.take()
	require.NoError(t, s.Set(2))
	require.Len(t, tr.take(), (layers-1)*width+1+1)
}

func TestReadingASignalTwiceIsOneEdgeAndOneRun(t *testing.T) {
	g := signals.New()
	s, other := signals.NewSignal(g, 1), signals.NewSignal(g, 1)
	runs := 0
	effect(t, g, func(r signals.Reader) error {
		runs++
		_ = s.Get(r) + s.Get(r) + other.Get(r) + s.Get(r) + other.Get(r)
		return nil
	})
	require.Equal(t, 2, g.Stats().Edges)
	require.NoError(t, s.Set(2))
	require.NoError(t, other.Set(2))
	require.Equal(t, 3, runs)
	require.Equal(t, 2, g.Stats().Edges)
	require.NoError(t, g.Check())
}

func TestWriteThatNobodyReadsRunsNothing(t *testing.T) {
	g := signals.New()
	s := signals.NewSignal(g, 1)
	require.NoError(t, s.Set(2))
	require.Equal(t, 2, s.Peek())
	require.Zero(t, g.Stats().Runs)
}

func TestEffectSubscribedLateSeesTheLatest(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 1)
	c := add(g, &tr, "c", s)
	require.Equal(t, 1, peek(t, c))
	require.NoError(t, s.Set(2))
	seen := watch(t, g, &tr, "effect", c)
	require.NoError(t, s.Set(3))
	require.Equal(t, []int{2, 3}, *seen)

	require.Equal(t, 3, peek(t, c))
	runs := g.Stats().Runs
	again := watch(t, g, &tr, "again", c) // current already
	require.Equal(t, runs+1, g.Stats().Runs)
	require.NoError(t, s.Set(4))
	require.Equal(t, []int{3, 4}, *again)
}

func TestReadingByHandInABatchDoesNotRunEffectsEarly(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 1)
	c := add(g, &tr, "c", s)
	watch(t, g, &tr, "e1", c)
	watch(t, g, &tr, "e2", c)
	tr.take()
	require.NoError(t, g.Batch(func() error {
		require.NoError(t, s.Set(2))
		require.Equal(t, 2, peek(t, c))
		require.Equal(t, []string{"c"}, tr.take())
		return nil
	}))
	require.Equal(t, []string{"e1", "e2"}, tr.take())
}

func TestEqualWriteRunsNothing(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 1)
	watch(t, g, &tr, "effect", add(g, &tr, "c", s))
	tr.take()
	require.NoError(t, s.Set(1))
	require.NoError(t, g.Batch(func() error { return s.Set(1) }))
	require.Empty(t, tr.take())
}

func TestEqualResultStopsPropagation(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 1)
	sign := computed(g, func(r signals.Reader) (bool, error) { tr.add("sign"); return s.Get(r) > 0, nil })
	after := computed(g, func(r signals.Reader) (bool, error) { tr.add("after"); return sign.Get(r) })
	effect(t, g, func(r signals.Reader) error {
		_, err := after.Get(r)
		tr.add("effect")
		return err
	})
	tr.take()
	for v := range 5 {
		require.NoError(t, s.Set(v+2))
		require.Equal(t, []string{"sign"}, tr.take())
	}
	require.NoError(t, s.Set(-1))
	require.Equal(t, []string{"sign", "after", "effect"}, tr.take())
}

func TestAnUnchangedInputDoesNotHideAChangedOne(t *testing.T) {
	for changed := range 3 {
		t.Run(fmt.Sprintf("changed=%d", changed), func(t *testing.T) {
			g, tr := signals.New(), trace{}
			s := signals.NewSignal(g, 1)
			var inputs []signals.Readable[int]
			for i := range 3 {
				inputs = append(inputs, computed(g, func(r signals.Reader) (int, error) {
					if v := s.Get(r); i == changed {
						return v, nil
					}
					return 0, nil
				}))
			}
			seen := watch(t, g, &tr, "effect", add(g, &tr, "join", inputs...))
			tr.take()
			require.NoError(t, s.Set(2))
			require.Equal(t, []string{"join", "effect"}, tr.take())
			require.Equal(t, []int{1, 2}, *seen)
		})
	}
}

func TestAllInputsUnchangedRunsNothingAndTheNextWriteWorks(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 4)
	half := func() *signals.Computed[int] {
		return computed(g, func(r signals.Reader) (int, error) { return s.Get(r) / 2, nil })
	}
	seen := watch(t, g, &tr, "effect", add(g, &tr, "join", half(), half()))
	tr.take()
	require.NoError(t, s.Set(5))
	require.Empty(t, tr.take())
	require.NoError(t, s.Set(6))
	require.Equal(t, []string{"join", "effect"}, tr.take())
	require.Equal(t, []int{4, 6}, *seen)
}

func TestValueTakenBackInABatchIsNoChange(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 1)
	c := add(g, &tr, "c", s)
	watch(t, g, &tr, "effect", add(g, &tr, "d", c))
	lazy := add(g, &tr, "lazy", s)
	require.Equal(t, 1, peek(t, lazy))
	tr.take()
	for range 3 {
		require.NoError(t, g.Batch(func() error {
			for _, v := range []int{2, 3, 1, 7, 1} {
				require.NoError(t, s.Set(v))
			}
			return nil
		}))
		require.Equal(t, 1, peek(t, lazy))
		require.Empty(t, tr.take())
	}

	// A reverted write after a read: versions only grow, so a later write is never mistaken for the earlier one.
	require.NoError(t, g.Batch(func() error {
		require.NoError(t, s.Set(2))
		require.Equal(t, 2, peek(t, lazy))
		return s.Set(1)
	}))
	require.Equal(t, 1, peek(t, lazy))
	require.NoError(t, s.Set(2))
	require.Equal(t, 2, peek(t, lazy))
}

func TestBatchWithAnUnchangedSumRunsTheSumAndNoEffect(t *testing.T) {
	g, tr := signals.New(), trace{}
	x, y := signals.NewSignal(g, 1), signals.NewSignal(g, 2)
	watch(t, g, &tr, "effect", add(g, &tr, "sum", x, y))
	tr.take()
	require.NoError(t, g.Batch(func() error {
		require.NoError(t, x.Set(2))
		return y.Set(1)
	}))
	require.Equal(t, []string{"sum"}, tr.take())
}

func TestEqualityPerNode(t *testing.T) {
	g := signals.New()
	runs := 0
	count := func(read func(r signals.Reader)) *int {
		runs := new(int)
		effect(t, g, func(r signals.Reader) error {
			*runs++
			read(r)
			return nil
		})
		return runs
	}
	tens := signals.NewSignalFunc(g, 10, func(a, b int) bool { return a/10 == b/10 })
	never := signals.NewSignalFunc[int](g, 1, nil)
	nan := signals.NewSignal(g, math.NaN())
	type box struct{ n int }
	p := &box{1}
	pointer := signals.NewSignal(g, p)
	slices := signals.NewComputedFunc(g, func(a, b []int) bool { return len(a) == len(b) }, func(r signals.Reader) ([]int, error) {
		runs++
		return make([]int, tens.Get(r)/100), nil
	})
	always := signals.NewComputedFunc(g, nil, func(r signals.Reader) (int, error) { return 0 * tens.Get(r), nil })

	onTens := count(func(r signals.Reader) { tens.Get(r) })
	onNever := count(func(r signals.Reader) { never.Get(r) })
	onNaN := count(func(r signals.Reader) { nan.Get(r) })
	onPointer := count(func(r signals.Reader) { pointer.Get(r) })
	onSlices := count(func(r signals.Reader) { _, _ = slices.Get(r) })
	onAlways := count(func(r signals.Reader) { _, _ = always.Get(r) })

	require.NoError(t, tens.Set(15))
	require.Equal(t, []int{1, 10}, []int{*onTens, tens.Peek()}, "equal values are not stored")
	require.NoError(t, tens.Set(20))
	require.Equal(t, 2, *onTens)
	require.Equal(t, []int{2, 1}, []int{runs, *onSlices}, "an equal slice is no change")
	require.Equal(t, 2, *onAlways, "never equal: every run is a change")
	require.NoError(t, tens.Set(100))
	require.Equal(t, 2, *onSlices)
	require.NoError(t, never.Set(1))
	require.Equal(t, 2, *onNever)
	require.NoError(t, nan.Set(math.NaN()))
	require.Equal(t, 2, *onNaN, "NaN is always a change")
	p.n = 2
	require.NoError(t, pointer.Set(p))
	require.Equal(t, 1, *onPointer, "the same pointer is equal")
}

func TestZeroIsAValueLikeAnyOther(t *testing.T) {
	g := signals.New()
	runs := 0
	s := signals.NewSignal[*int](g, nil)
	c := computed(g, func(r signals.Reader) (*int, error) {
		runs++
		return s.Get(r), nil
	})
	require.Nil(t, peek(t, c))
	require.Nil(t, peek(t, c))
	require.Equal(t, 1, runs)
	seen := 0
	effect(t, g, func(r signals.Reader) error {
		seen++
		_, err := c.Get(r)
		return err
	})
	require.NoError(t, s.Set(nil))
	require.Equal(t, []int{1, 1}, []int{runs, seen})
	require.NoError(t, s.Set(new(int)))
	require.Equal(t, []int{2, 2}, []int{runs, seen})
}

func TestComputedIsLazyAndCached(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 1)
	c := add(g, &tr, "c", s)
	add(g, &tr, "unread", s)
	require.Empty(t, tr.take())
	require.NoError(t, s.Set(2))
	require.Empty(t, tr.take())
	require.Equal(t, 2, peek(t, c))
	require.Equal(t, 2, peek(t, c))
	require.Equal(t, []string{"c"}, tr.take())
}

func TestComputedWithoutInputsRunsOnce(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 1)
	c := add(g, &tr, "c")
	for v := range 3 {
		require.NoError(t, s.Set(v))
		require.Zero(t, peek(t, c))
	}
	watch(t, g, &tr, "effect", c)
	require.Equal(t, []string{"c", "effect"}, tr.take())
}

func TestManyWritesBetweenReadsCostOneRun(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 0)
	c := add(g, &tr, "c", s)
	require.Equal(t, 0, peek(t, c))
	for v := range 100 {
		require.NoError(t, s.Set(v))
	}
	require.Equal(t, 99, peek(t, c))
	require.Len(t, tr.take(), 2)
}

func TestComputedWithoutSubscribersStaysFresh(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 1)
	c := add(g, &tr, "c", add(g, &tr, "b", s))
	e := effectOn(t, g, c, new(int))
	require.NoError(t, e.Dispose())
	require.Equal(t, 1, peek(t, c))
	require.NoError(t, s.Set(2))
	require.Equal(t, 2, peek(t, c))
	tr.take()
	require.Equal(t, 2, peek(t, c))
	require.Empty(t, tr.take())
}

func TestComputedCreatedAfterAWriteSeesIt(t *testing.T) {
	g, tr := signals.New(), trace{}
	s := signals.NewSignal(g, 1)
	require.NoError(t, s.Set(2))
	require.Equal(t, 2, peek(t, add(g, &tr, "c", s)))
	require.NoError(t, g.Batch(func() error {
		require.NoError(t, s.Set(3))
		require.Equal(t, 3, peek(t, add(g, &tr, "d", s)))
		return nil
	}))
}

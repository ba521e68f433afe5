package signals_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/signals"
)

func TestGatesWakeOnlyWhenTheResultFlips(t *testing.T) {
	const n = 1000
	g := signals.New()
	in := make([]*signals.Signal[bool], n)
	inputs := make([]signals.Readable[bool], n)
	for i := range in {
		in[i] = signals.NewSignal(g, false)
		inputs[i] = in[i]
	}
	all, some, count := signals.All(g, inputs...), signals.Any(g, inputs...), signals.Count(g, inputs...)
	wakes := map[string]int{}
	var state [2]bool
	number := 0
	effect(t, g, func(r signals.Reader) (err error) {
		wakes["all"]++
		state[0], err = all.Get(r)
		return err
	})
	effect(t, g, func(r signals.Reader) (err error) {
		wakes["any"]++
		state[1], err = some.Get(r)
		return err
	})
	effect(t, g, func(r signals.Reader) (err error) {
		wakes["count"]++
		number, err = count.Get(r)
		return err
	})
	before := g.Stats().Runs
	for i := range in {
		require.NoError(t, in[i].Set(true))
		require.Equal(t, [2]bool{i == n-1, true}, state)
		require.Equal(t, i+1, number)
	}
	require.Equal(t, map[string]int{"all": 2, "any": 2, "count": n + 1}, wakes)
	require.EqualValues(t, n+2, g.Stats().Runs-before, "no gate reads its inputs again")
	require.NoError(t, g.Batch(func() error {
		require.NoError(t, in[3].Set(false))
		return in[3].Set(true)
	}))
	require.NoError(t, in[3].Set(false))
	require.Equal(t, map[string]int{"all": 3, "any": 2, "count": n + 2}, wakes)
}

func TestGatesOverNothing(t *testing.T) {
	g := signals.New()
	all, err := signals.All(g).Peek()
	require.NoError(t, err)
	some, err := signals.Any(g).Peek()
	require.NoError(t, err)
	count, err := signals.Count(g).Peek()
	require.NoError(t, err)
	require.Equal(t, []any{true, false, 0}, []any{all, some, count})
}

func TestFoldReportsTheFirstFailingInput(t *testing.T) {
	g, tr := signals.New(), trace{}
	x, y := signals.NewSignal(g, 1), signals.NewSignal(g, 2)
	sum := signals.NewFold(g, 0, func(a, v int) int { return a + v }, func(a, v int) int { return a - v }, guarded(g, &tr, x), guarded(g, &tr, y), y)
	var seen []any
	_, err := g.Effect(func(r signals.Reader) error {
		v, err := sum.Get(r)
		if err != nil {
			seen = append(seen, err)
		} else {
			seen = append(seen, v)
		}
		return nil
	})
	require.NoError(t, err)
	for _, write := range []func() error{
		func() error { return x.Set(-1) }, func() error { return y.Set(5) }, func() error { return x.Set(3) },
	} {
		require.NoError(t, write())
	}
	require.Equal(t, []any{5, errBad, errBad, 13}, seen)
}

func TestFoldWhoseFunctionPanics(t *testing.T) {
	g := signals.New()
	x, y := signals.NewSignal(g, 1), signals.NewSignal(g, 2)
	plus := func(a, v int) int {
		if v < 0 {
			panic(errBad)
		}
		return a + v
	}
	sum := signals.NewFold(g, 0, plus, func(a, v int) int { return a - v }, x, y)
	last := 0
	effect(t, g, func(r signals.Reader) (err error) {
		last, err = sum.Get(r)
		return err
	})
	require.ErrorIs(t, x.Set(-1), errBad)
	_, err := sum.Peek()
	require.ErrorIs(t, err, errBad)
	require.NoError(t, y.Set(3), "behind the input that it fails on")
	require.NoError(t, x.Set(4))
	require.Equal(t, 7, last)
	require.NoError(t, y.Set(4))
	require.Equal(t, 8, last)
}

func TestGateOfGates(t *testing.T) {
	const depth = 100_000
	g := signals.New()
	s := signals.NewSignal(g, false)
	gate := signals.All(g, s)
	for range depth {
		_, err := gate.Peek()
		require.NoError(t, err)
		gate = signals.All(g, gate, gate)
	}
	open := false
	effect(t, g, func(r signals.Reader) (err error) {
		open, err = gate.Get(r)
		return err
	})
	for _, v := range []bool{true, false, true} {
		require.NoError(t, s.Set(v))
		require.Equal(t, v, open)
	}
	require.NoError(t, g.Check())
}

func TestCountingNodesEqualNaiveOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := signals.New()
		var in []*signals.Signal[bool]
		var readable []signals.Readable[bool]
		for i := range 6 {
			s := signals.NewSignal(g, rapid.Bool().Draw(t, "start"))
			in = append(in, s)
			readable = append(readable, s)
			if i%2 == 1 { // computeds among the inputs, and gates
				readable = append(readable, signals.NewComputed(g, func(r signals.Reader) (bool, error) { return in[i-1].Get(r) != s.Get(r), nil }))
				readable = append(readable, signals.Any(g, s, in[i-1]))
			}
		}
		pick := func() signals.Readable[bool] { return rapid.SampledFrom(readable).Draw(t, "input") }
		var inputs []signals.Readable[bool]
		for range rapid.IntRange(0, 5).Draw(t, "inputs") {
			inputs = append(inputs, pick()) // duplicates too
		}
		all := signals.All(g, append([]signals.Readable[bool](nil), inputs...)...)
		some := signals.Any(g, append([]signals.Readable[bool](nil), inputs...)...)
		count := signals.Count(g, append([]signals.Readable[bool](nil), inputs...)...)
		naive := func() string {
			n := 0
			for _, input := range inputs {
				v := false
				switch input := input.(type) {
				case *signals.Signal[bool]:
					v = input.Peek()
				case *signals.Computed[bool]:
					v, _ = input.Peek()
				case *signals.Gate:
					v, _ = input.Peek()
				}
				if v {
					n++
				}
			}
			return fmt.Sprint(n == len(inputs), n > 0, n)
		}
		now := func(r signals.Reader) string {
			a, _ := all.Get(r)
			s, _ := some.Get(r)
			n, _ := count.Get(r)
			return fmt.Sprint(a, s, n)
		}
		var e *signals.Effect
		seen := ""
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				_ = rapid.SampledFrom(in).Draw(t, "signal").Set(rapid.Bool().Draw(t, "value"))
			},
			"batch": func(t *rapid.T) {
				_ = g.Batch(func() error {
					for range 4 {
						_ = rapid.SampledFrom(in).Draw(t, "signal").Set(rapid.Bool().Draw(t, "value"))
					}
					return nil
				})
			},
			"add": func(t *rapid.T) {
				input := pick()
				inputs = append(inputs, input)
				_ = g.Batch(func() error {
					_, _, _ = all.Add(input), some.Add(input), count.Add(input)
					return nil
				})
			},
			"remove": func(t *rapid.T) {
				if len(inputs) > 0 {
					k := rapid.IntRange(0, len(inputs)-1).Draw(t, "index")
					input := inputs[k]
					inputs = append(inputs[:k:k], inputs[k+1:]...)
					_, _, _ = all.Remove(input), some.Remove(input), count.Remove(input)
				}
			},
			"observe": func(t *rapid.T) {
				if e != nil {
					_ = e.Dispose()
					e = nil
					return
				}
				e, _ = g.Effect(func(r signals.Reader) error {
					seen = now(r)
					return nil
				})
			},
			"": func(t *rapid.T) {
				if err := g.Check(); err != nil {
					t.Fatal(err)
				}
				want := naive()
				if got := now(signals.Reader{}); got != want {
					t.Fatalf("read %s, want %s", got, want)
				}
				if e != nil && seen != want {
					t.Fatalf("the effect saw %s, want %s", seen, want)
				}
			},
		})
	})
}

func TestCallbacksMayChangeTheGraphDuringAFlush(t *testing.T) {
	g, tr := signals.New(), trace{}
	s, extra := signals.NewSignal(g, true), signals.NewSignal(g, true)
	gate := signals.All(g, s)
	var made []*signals.Effect
	effect(t, g, func(r signals.Reader) error {
		if s.Get(r) {
			return nil
		}
		require.NoError(t, gate.Add(extra, extra)) // the same input twice
		for range 3 {
			e, err := g.Effect(func(r signals.Reader) error {
				_, err := gate.Get(r)
				tr.add("made")
				return err
			})
			require.NoError(t, err)
			made = append(made, e)
		}
		return made[0].Dispose()
	})
	var open []bool
	effect(t, g, func(r signals.Reader) error {
		v, err := gate.Get(r)
		open = append(open, v)
		return err
	})
	require.NoError(t, s.Set(false))
	require.NoError(t, s.Set(true))
	require.NoError(t, extra.Set(false))
	require.Equal(t, []bool{true, false, true, false}, open)
	require.NoError(t, gate.Remove(extra))
	require.NoError(t, gate.Remove(extra))
	require.Equal(t, []bool{true, false, true, false, true}, open)
	require.NoError(t, made[1].Dispose())
	require.NoError(t, made[2].Dispose())
	require.NoError(t, g.Check())
}

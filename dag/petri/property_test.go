package petri_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/dag/petri"
)

// wiring is the specification of a random net, from which the oracles work.
type wiring struct {
	net     *petri.Net
	gate    []bool
	outside []bool
	openers [][]int32
}

func draw(t *rapid.T, singleInput, gatesAndJoins bool) wiring {
	b := petri.NewBuilder()
	places := rapid.IntRange(1, 5).Draw(t, "places")
	for p := range places {
		b.Place(fmt.Sprint("p", p), rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "tokens"))
	}
	subset := func(label string, least, most int) []int32 {
		list := rapid.SliceOfNDistinct(rapid.Int32Range(0, int32(places-1)), least, min(most, places), rapid.ID[int32]).Draw(t, label)
		return list
	}
	count := rapid.IntRange(1, 6).Draw(t, "transitions")
	w := wiring{gate: make([]bool, count), outside: make([]bool, count), openers: make([][]int32, count)}
	for i := range count {
		most := 2
		if singleInput {
			most = 1
		}
		b.Transition(fmt.Sprint("t", i), subset("in", 1, most), subset("out", 0, 2))
	}
	for i := range int32(count) {
		if !gatesAndJoins {
			break
		}
		b.Join(i, rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "takes"))
		if w.gate[i] = rapid.IntRange(0, 3).Draw(t, "gate") == 0; w.gate[i] {
			w.outside[i] = rapid.Bool().Draw(t, "outside")
			w.openers[i] = rapid.SliceOfN(rapid.Int32Range(0, int32(count-1)), 0, 2).Draw(t, "openers")
			b.Gate(i, w.outside[i], w.openers[i]...)
		}
	}
	n, err := b.Build()
	require.NoError(t, err)
	require.NoError(t, petri.Invariants(n))
	w.net = n
	return w
}

// played explores the markings of a net from the first on, up to a number of states. A gate fires only after one of its
// openers. It returns the transitions that fired in any play, and whether all markings were explored.
func (w wiring) played(statesMax int) (fired []bool, most []int32, whole bool) {
	type state struct {
		m     petri.Marking
		fired []bool
		got   []int32 // tokens that each place has had
	}
	n := w.net
	fired, most = make([]bool, n.Transitions()), make([]int32, n.Places())
	seen := map[string]bool{}
	queue := []state{{n.Initial(), make([]bool, n.Transitions()), slices.Clone([]int32(n.Initial()))}}
	for i := 0; i < len(queue) && i < statesMax; i++ {
		s := queue[i]
		for p, got := range s.got {
			most[p] = max(most[p], got)
		}
		for id := range n.AllEnabled(s.m) {
			open := func(o int32) bool { return s.fired[o] }
			if w.gate[id] && !w.outside[id] && !slices.ContainsFunc(w.openers[id], open) {
				continue
			}
			next := state{slices.Clone(s.m), slices.Clone(s.fired), slices.Clone(s.got)}
			if n.Fire(next.m, id) != nil {
				panic("enabled, and not to be fired")
			}
			next.fired[id], fired[id] = true, true
			for _, p := range n.Out(id) {
				next.got[p]++
			}
			if key := fmt.Sprint(next.m, next.fired, next.got); !seen[key] {
				seen[key] = true
				queue = append(queue, next)
			}
		}
	}
	return fired, most, len(queue) <= statesMax
}

// Firing moves as many tokens as there are arcs, and changes nothing else.
func TestFiringConservesTokens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t, false, true)
		m := w.net.Initial()
		for range rapid.IntRange(0, 20).Draw(t, "firings") {
			enabled := slices.Collect(w.net.AllEnabled(m))
			if len(enabled) == 0 {
				return
			}
			id := rapid.SampledFrom(enabled).Draw(t, "fire")
			before := slices.Clone(m)
			require.NoError(t, w.net.Fire(m, id))
			require.Equal(t, before.Total()-w.net.Takes(id)*len(w.net.In(id))+len(w.net.Out(id)), m.Total())
			for p := range m {
				want := before[p]
				if slices.Contains(w.net.In(id), int32(p)) {
					want -= int32(w.net.Takes(id))
				}
				if slices.Contains(w.net.Out(id), int32(p)) {
					want++
				}
				require.Equal(t, want, m[p])
				require.GreaterOrEqual(t, m[p], int32(0))
			}
		}
	})
}

// A transition that Check reports as unable to fire never fires in any play.
func TestWhatCannotFireNeverDoes(t *testing.T) {
	reported := 0
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t, false, true)
		fired, most, _ := w.played(300)
		for _, p := range w.net.Check() {
			switch p.Kind {
			case petri.Unreachable, petri.Shut, petri.Unsatisfiable:
				reported++
				require.False(t, fired[p.Transition], w.net.Describe(p))
			}
			if p.Kind == petri.Unreachable {
				require.Zero(t, most[p.Place], w.net.Describe(p))
			}
			if p.Kind == petri.Unsatisfiable {
				require.LessOrEqual(t, int(most[p.Place]), p.Most, w.net.Describe(p))
				require.Less(t, p.Most, w.net.Takes(p.Transition))
			}
		}
	})
	require.Positive(t, reported)
}

// If tokens need not meet, the structure decides: each transition that is not reported fires in some play.
func TestWhereTokensDoNotMeetTheStructureSaysAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t, true, false)
		silent := make([]bool, w.net.Transitions())
		for _, p := range w.net.Check() {
			if p.Kind == petri.Unreachable {
				silent[p.Transition] = true
			}
		}
		fired, _, whole := w.played(2000)
		for id := range fired {
			if !fired[id] && whole {
				require.True(t, silent[id], "transition %d", id)
			}
		}
	})
}

// ends reports whether a single token from a transition can reach an end: an oracle that follows it for as many steps as
// there are transitions.
func (w wiring) ends(id int32, depth int) bool {
	out := w.net.Out(id)
	if len(out) == 0 {
		return true
	}
	if depth == 0 {
		return false
	}
	return slices.ContainsFunc(out, func(p int32) bool {
		next := w.net.Consumers(p)
		return len(next) == 0 || slices.ContainsFunc(next, func(t int32) bool { return w.ends(t, depth-1) })
	})
}

func TestEndlessIsWhatNoWayLeadsOutOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t, true, false)
		lost := make([]bool, w.net.Transitions())
		unreachable := make([]bool, w.net.Transitions())
		cycles := 0
		for _, p := range w.net.Check() {
			switch p.Kind {
			case petri.Unreachable:
				unreachable[p.Transition] = true
			case petri.Endless:
				lost[p.Transition] = true
				require.Equal(t, p.Transition, p.Path[0])
				follows(t, w.net, p.Path)
			case petri.Cycle:
				cycles++
				follows(t, w.net, append(slices.Clone(p.Path), p.Path[0]))
				for _, id := range p.Path {
					lost[id] = true
				}
			}
		}
		for id := range lost {
			if !unreachable[id] {
				require.Equal(t, !w.ends(int32(id), w.net.Transitions()), lost[id], "transition %d", id)
			}
		}
		require.Equal(t, slices.Contains(lost, true), cycles > 0, "a cycle keeps the tokens of a transition without an end")
	})
}

// follows checks that each transition of a path can take a token of the one before it.
func follows(t *rapid.T, n *petri.Net, path []int32) {
	for i := 1; i < len(path); i++ {
		feeds := func(p int32) bool { return slices.Contains(n.In(path[i]), p) }
		require.True(t, slices.ContainsFunc(n.Out(path[i-1]), feeds), "%v", path)
	}
}

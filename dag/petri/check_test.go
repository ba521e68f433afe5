package petri_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/dag/petri"
)

// described describes the problems of a net.
func described(t *testing.T, build func(b *petri.Builder)) []string {
	b := petri.NewBuilder()
	build(b)
	n, err := b.Build()
	require.NoError(t, err)
	require.NoError(t, petri.Invariants(n))
	var all []string
	for _, p := range n.Check() {
		all = append(all, n.Describe(p))
	}
	return all
}

func TestCheckFinds(t *testing.T) {
	places := func(ids ...int32) []int32 { return ids }
	for _, c := range []struct {
		name  string
		build func(b *petri.Builder)
		want  []string
	}{
		{"nothing in a net that ends", func(b *petri.Builder) {
			in := b.Place("in", 1)
			b.Transition("out", places(in), nil)
		}, nil},
		{"nothing in a cycle with an exit", func(b *petri.Builder) {
			a, c := b.Place("a", 1), b.Place("c", 0)
			b.Transition("go", places(a), places(c))
			b.Transition("back", places(c), places(a))
			b.Transition("leave", places(c), nil)
		}, nil},
		{"nothing in a place where tokens rest", func(b *petri.Builder) {
			b.Transition("go", places(b.Place("a", 1)), places(b.Place("done", 0)))
		}, nil},
		{"transitions fed only by unreachable ones", func(b *petri.Builder) {
			a, c, d := b.Place("a", 0), b.Place("c", 0), b.Place("d", 1)
			b.Transition("first", places(a), places(c))
			b.Transition("second", places(c, d), nil)
			b.Transition("third", places(d), nil)
		}, []string{
			`"first" can never fire: nothing puts a token into "a"`,
			`"second" can never fire: nothing puts a token into "c"`,
		}},
		{"a cycle and the path into it", func(b *petri.Builder) {
			a, c, d := b.Place("a", 1), b.Place("c", 0), b.Place("d", 0)
			b.Transition("enter", places(a), places(c))
			b.Transition("there", places(c), places(d))
			b.Transition("back", places(d), places(c))
		}, []string{
			`after "enter" no end can be reached: enter -> there`,
			`nothing leads out of the cycle there -> back -> there`,
		}},
		{"a transition that feeds itself", func(b *petri.Builder) {
			a := b.Place("a", 1)
			b.Transition("spin", places(a), places(a))
		}, []string{`nothing leads out of the cycle spin -> spin`}},
		{"an exit that can never be taken", func(b *petri.Builder) {
			a, never := b.Place("a", 1), b.Place("never", 0)
			b.Transition("spin", places(a), places(a))
			b.Transition("exit", places(a, never), nil)
		}, []string{
			`nothing leads out of the cycle spin -> spin`,
			`"exit" can never fire: nothing puts a token into "never"`,
		}},
		{"a gate without anybody to open it", func(b *petri.Builder) {
			b.Gate(b.Transition("gate", places(b.Place("a", 1)), nil), false)
		}, []string{`nothing can open the gate "gate"`}},
		{"a gate that opens itself", func(b *petri.Builder) {
			gate := b.Transition("gate", places(b.Place("a", 1)), nil)
			b.Gate(gate, false, gate)
		}, []string{`nothing can open the gate "gate": gate can never fire`}},
		{"nothing in a gate that is opened from outside", func(b *petri.Builder) {
			b.Gate(b.Transition("gate", places(b.Place("a", 1)), nil), true)
		}, nil},
		{"nothing in a gate with one opener that can fire", func(b *petri.Builder) {
			gate := b.Transition("gate", places(b.Place("a", 1)), nil)
			can := b.Transition("can", places(b.Place("c", 1)), nil)
			cannot := b.Transition("cannot", places(b.Place("d", 0)), nil)
			b.Gate(gate, false, cannot, can)
		}, []string{`"cannot" can never fire: nothing puts a token into "d"`}},
		{"a join of more than can arrive", func(b *petri.Builder) {
			a, c := b.Place("a", 1), b.Place("c", 1)
			met, after := b.Place("met", 0), b.Place("after", 0)
			b.Transition("left", places(a), places(met))
			b.Transition("right", places(c), places(met))
			b.Join(b.Transition("join", places(met), places(after)), 3)
			b.Transition("end", places(after), nil)
		}, []string{
			`"join" takes 3 tokens, and at most 2 can arrive`,
			`"end" can never fire: nothing puts a token into "after"`,
		}},
		{"a join behind a join that cannot be satisfied", func(b *petri.Builder) {
			a, c, d := b.Place("a", 2), b.Place("c", 0), b.Place("d", 1)
			b.Join(b.Transition("first", places(a), places(c, d)), 3)
			b.Join(b.Transition("second", places(d), nil), 2)
		}, []string{
			`"first" takes 3 tokens, and at most 2 can arrive`,
			`"second" takes 2 tokens, and at most 1 can arrive`,
		}},
		{"nothing in a join that a cycle feeds", func(b *petri.Builder) {
			a, met := b.Place("a", 1), b.Place("met", 0)
			b.Transition("again", places(a), places(a, met))
			b.Transition("stop", places(a), nil)
			b.Join(b.Transition("join", places(met), nil), 100)
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, described(t, c.build))
		})
	}
}

func TestBuildRefuses(t *testing.T) {
	b := petri.NewBuilder()
	a := b.Place("a", 1)
	b.Place("a", -1)
	b.Transition("t", []int32{a, a}, []int32{7})
	b.Transition("t", nil, nil)
	b.Join(0, 0)
	b.Join(9, 1)
	b.Gate(0, false, 9)
	b.Gate(-1, true)
	n, err := b.Build()
	require.Nil(t, n)
	require.ErrorIs(t, err, petri.ErrNet)
	require.EqualError(t, err, `petri: bad net: two places "a"
petri: bad net: place "a" cannot begin with -1 tokens
petri: bad net: transition "t" leads from place "a" twice
petri: bad net: transition "t" leads to place 7, which is none
petri: bad net: two transitions "t"
petri: bad net: transition "t" takes nothing
petri: bad net: transition "t" cannot take 0 tokens
petri: bad net: there is no transition 9
petri: bad net: there is no transition 9
petri: bad net: there is no transition -1`)
	n, err = b.Build()
	require.NoError(t, err, "the builder is empty again")
	require.Zero(t, n.Places()+n.Transitions())
	require.Nil(t, n.Check())
}

func TestFiringWhatIsNotEnabledChangesNothing(t *testing.T) {
	b := petri.NewBuilder()
	a, c := b.Place("a", 1), b.Place("c", 0)
	both := b.Transition("both", []int32{a, c}, nil)
	n, err := b.Build()
	require.NoError(t, err)
	m := n.Initial()
	require.True(t, errors.Is(n.Fire(m, both), petri.ErrDisabled))
	require.Equal(t, petri.Marking{1, 0}, m)
	require.Equal(t, 1, m.Total())
}

// A long way into a cycle is reported from a hundred of its transitions at most: each path may be as long as the net.
func TestTheWaysIntoACycleAreBounded(t *testing.T) {
	const n = 3000
	b := petri.NewBuilder()
	var places []int32
	for i := range n {
		tokens := 0
		if i == 0 {
			tokens = 1
		}
		places = append(places, b.Place(fmt.Sprintf("p%d", i), tokens))
	}
	for i := range n - 1 {
		b.Transition(fmt.Sprintf("t%d", i), []int32{places[i]}, []int32{places[i+1]})
	}
	b.Transition("back", []int32{places[n-1]}, []int32{places[n-1]})
	net, err := b.Build()
	require.NoError(t, err)
	endless := 0
	for _, p := range net.Check() {
		if p.Kind == petri.Endless {
			endless++
			require.Len(t, p.Path, n-int(p.Transition))
		}
	}
	require.Equal(t, 100, endless)
}

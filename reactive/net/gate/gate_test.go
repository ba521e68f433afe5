package gate_test

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/net/gate"
	"github.com/sluiceflow/sluice/signals"
)

// guard admits open numbers, and counts its calls.
type guard struct {
	open    map[int]bool
	asked   map[int]int
	changed []int
}

func (g *guard) Judge(n int) gate.Verdict {
	g.asked[n]++
	return gate.Verdict{Allow: g.open[n], Rule: -1}
}

func (g *guard) Changed(n int, _ gate.Verdict) { g.changed = append(g.changed, n) }
func (g *guard) Compare(a, b int) int          { return cmp.Compare(a, b) }

func newGates(t *testing.T) (*guard, *gate.Gates[int]) {
	g := &guard{open: map[int]bool{}, asked: map[int]int{}}
	gates := gate.New(signals.New(), g)
	denied := gate.Verdict{Rule: -1}
	require.NoError(t, gates.Add(3, denied, []string{"a"}, false))
	require.NoError(t, gates.Add(1, denied, []string{"a", "b"}, false))
	require.NoError(t, gates.Add(2, denied, nil, true))
	clear(g.asked)
	return g, gates
}

func TestOnlyWhatReadsAWrittenKeyIsJudgedAgain(t *testing.T) {
	g, gates := newGates(t)
	moved := func(n int) { t.Errorf("%d has moved", n) }
	require.NoError(t, gates.Look(moved))
	require.Empty(t, g.asked, "nothing was written")
	gates.Touch("b")
	gates.Touch("b")
	require.NoError(t, gates.Look(moved))
	require.Equal(t, map[int]int{1: 1, 2: 1}, g.asked, "3 reads another key; each is judged once")
	gates.Touch("other")
	require.NoError(t, gates.Look(moved))
	require.Equal(t, map[int]int{1: 1, 2: 2}, g.asked, "only 2 reads all keys")
}

func TestWhatHasMovedComesInOrder(t *testing.T) {
	g, gates := newGates(t)
	g.open = map[int]bool{1: true, 2: true, 3: true}
	gates.Touch("a")
	var moved []int
	require.NoError(t, gates.Look(func(n int) {
		moved = append(moved, n)
		require.NoError(t, gates.Remove(n))
		if n == 1 {
			require.NoError(t, gates.Remove(2)) // a consequence of the move of 1
		}
	}))
	require.Equal(t, []int{1, 3}, moved)
	require.ElementsMatch(t, []int{1, 2, 3}, g.changed)
	require.Zero(t, gates.Len())
}

func TestClearedGatesForgetWhatWasWritten(t *testing.T) {
	g, gates := newGates(t)
	require.Equal(t, []int{1, 2, 3}, gates.All())
	gates.Touch("a")
	require.NoError(t, gates.Clear())
	require.Empty(t, gates.All())
	require.NoError(t, gates.Add(4, gate.Verdict{Rule: -1}, []string{"a"}, false))
	clear(g.asked)
	require.NoError(t, gates.Look(func(n int) { t.Errorf("%d has moved", n) }))
	require.Empty(t, g.asked)
}

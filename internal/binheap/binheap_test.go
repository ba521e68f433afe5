package binheap_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/internal/binheap"
)

// ticket is an element: many have the same rank, and each has another number.
type ticket struct{ rank, number int }

func less(a, b ticket) bool { return a.rank < b.rank }

// After any pushes and pops, each popped element has the lowest rank in the heap, and no element is lost or added.
func TestTheFirstIsTheLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h, model []ticket
		for number := range rapid.IntRange(1, 200).Draw(t, "moves") {
			if len(h) == 0 || rapid.IntRange(0, 2).Draw(t, "move") > 0 {
				x := ticket{rapid.IntRange(0, 20).Draw(t, "rank"), number}
				h, model = binheap.Push(h, x, less), append(model, x)
			} else {
				at := slices.Index(model, h[0])
				require.GreaterOrEqual(t, at, 0, "an element that is not in it")
				model = slices.Delete(model, at, at+1)
				h = binheap.Pop(h, less)
			}
			require.Len(t, h, len(model))
			if len(model) > 0 {
				least := slices.MinFunc(model, func(a, b ticket) int { return cmp.Compare(a.rank, b.rank) })
				require.Equal(t, least.rank, h[0].rank)
			}
		}
		var out []int
		for ; len(h) > 0; h = binheap.Pop(h, less) {
			out = append(out, h[0].rank)
		}
		require.True(t, slices.IsSorted(out))
	})
}

func TestAPoppedPlaceIsZero(t *testing.T) {
	a, b := new(1), new(2)
	byValue := func(x, y *int) bool { return *x < *y }
	h := binheap.Push(binheap.Push(nil, b, byValue), a, byValue)
	h = binheap.Pop(h, byValue)
	require.Equal(t, []*int{b, nil}, h[:2])
	h = binheap.Pop(h, byValue)
	require.Empty(t, h)
	require.Nil(t, h[:1][0])
}

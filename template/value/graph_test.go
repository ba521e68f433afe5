package value_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template/value"
)

// graph draws a value whose lists and objects may occur in several places, and inside themselves. It returns the depth; -1:
// unbounded.
func graph(t *rapid.T) (v any, depth int) {
	n := rapid.IntRange(1, 6).Draw(t, "nodes")
	nodes, edges, sizes := make([]any, n), make([][]int, n), make([]int, n)
	for i := range nodes {
		if sizes[i] = rapid.IntRange(0, 3).Draw(t, "members"); rapid.Bool().Draw(t, "list") {
			nodes[i] = make([]any, sizes[i])
		} else {
			nodes[i] = map[string]any{}
		}
	}
	for i := range nodes {
		for k := range sizes[i] {
			item := any(int64(k))
			if to := rapid.IntRange(-1, n-1).Draw(t, "to"); to >= 0 {
				item = nodes[to]
				edges[i] = append(edges[i], to)
			} else if rapid.IntRange(0, 9).Draw(t, "foreign") == 0 {
				item = 2.0
			}
			switch v := nodes[i].(type) {
			case []any:
				v[k] = item
			case map[string]any:
				v[fmt.Sprint("k", k)] = item
			}
		}
	}
	v, depth = nodes[0], below(edges, 0, make([]bool, n))
	chain := rapid.SampledFrom([]int{0, 0, 0, value.MaxDepth - 2, value.MaxDepth - 1, value.MaxDepth, 200_000}).Draw(t, "chain")
	for range chain {
		v = []any{v}
	}
	if depth >= 0 {
		depth += chain
	}
	return v, depth
}

// below returns the depth of a node; -1: unbounded.
func below(edges [][]int, i int, above []bool) int {
	if above[i] {
		return -1
	}
	above[i] = true
	defer func() { above[i] = false }()
	most := 0
	for _, to := range edges[i] {
		d := below(edges, to, above)
		if d < 0 {
			return -1
		}
		most = max(most, d)
	}
	return most + 1
}

// TestWhateverHoldsItselfIsRefused: no function ends the process because of a value that nests too deep, or without end.
func TestWhateverHoldsItselfIsRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, depth := graph(t)
		_, err := value.Of(v)
		_, encodeErr := value.Encode(v)
		_, jsonErr := value.JSON(v)
		_, hashErr := value.Hash(v)
		var out any
		errs := []error{err, encodeErr, jsonErr, hashErr, value.Convert(v, &out), value.Fits(v, 0)}
		if err == nil {
			require.NoError(t, errors.Join(errs...))
			require.True(t, value.Equal(v, out))
			require.True(t, depth >= 0 && depth <= value.MaxDepth, "%d levels were taken", depth)
			return
		}
		require.True(t, depth < 0 || depth > value.MaxDepth, "%d levels were refused: %v", depth, err)
		for _, err := range errs {
			require.ErrorIs(t, err, value.ErrTooLarge)
		}
		require.False(t, value.Equal(v, v), "what is refused equals nothing")
		require.Contains(t, value.Text(v), "too large")
		_, err = value.Pointer{"0", "k0"}.Lookup(v)
		_ = fmt.Sprint(err) // it describes the value that it has found there
		require.NotEmpty(t, value.Kind(v))
	})
}

func TestFitsCountsWhatIsAround(t *testing.T) {
	deep := func(n int) (v any) {
		for range n {
			v = []any{v}
		}
		return v
	}
	require.NoError(t, value.Fits("text", value.MaxDepth))
	require.ErrorIs(t, value.Fits("text", value.MaxDepth+1), value.ErrTooLarge)
	require.NoError(t, value.Fits(deep(3), value.MaxDepth-3))
	require.ErrorIs(t, value.Fits(deep(3), value.MaxDepth-2), value.ErrTooLarge)
	require.NoError(t, value.Fits(deep(value.MaxDepth), 0))
	require.Error(t, value.Fits(make(chan int), 0))
}

// TestASharedGraphIsComparedInBoundedTime: it represents 2⁶⁰ elements, more than a value can have.
func TestASharedGraphIsComparedInBoundedTime(t *testing.T) {
	double := func() (v any) {
		for range 60 {
			v = []any{v, v}
		}
		return v
	}
	require.False(t, value.Equal(double(), double()))
}

package value_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/sluiceflow/sluice/template/value"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// little are values that differ in few places, if at all.
func little(depth int) *rapid.Generator[value.Value] {
	scalar := rapid.SampledFrom([]value.Value{nil, nil, nil, true, int64(1), "~/"})
	if depth == 0 {
		return scalar
	}
	inner := little(depth - 1)
	return rapid.OneOf(scalar,
		rapid.Map(rapid.SliceOfN(inner, 0, 3), func(list []value.Value) value.Value { return append([]any{}, list...) }),
		rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "~/"}), inner, 0, 3), func(m map[string]value.Value) value.Value { return m }),
	)
}

// edited is a value that differs in some place, or is equal.
func edited(t *rapid.T, v value.Value) value.Value {
	if rapid.IntRange(0, 3).Draw(t, "here") == 0 {
		return little(1).Draw(t, "edit")
	}
	switch v := v.(type) {
	case []any:
		if len(v) > 0 {
			list := slices.Clone(v)
			i := rapid.IntRange(0, len(v)-1).Draw(t, "index")
			list[i] = edited(t, v[i])
			return list
		}
	case map[string]any:
		if len(v) > 0 {
			object := maps.Clone(v)
			key := rapid.SampledFrom(slices.Sorted(maps.Keys(v))).Draw(t, "key")
			if object[key] = edited(t, v[key]); rapid.IntRange(0, 3).Draw(t, "gone") == 0 {
				delete(object, key)
			}
			return object
		}
	}
	return v
}

// There is a first difference if the values differ, and it is at that place.
func TestTheFirstDifferenceIsOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := little(3).Draw(t, "a")
		b := edited(t, a)
		at, differ := value.FirstDifference(a, b)
		require.Equal(t, !value.Equal(a, b), differ)
		if !differ {
			return
		}
		x, notInA := at.Lookup(a)
		y, notInB := at.Lookup(b)
		require.False(t, notInA != nil && notInB != nil, "%v is in one of them", at)
		require.True(t, (notInA == nil) != (notInB == nil) || !value.Equal(x, y), "they are equal at %v", at)
		if notInA == nil && notInB == nil {
			require.False(t, value.Kind(x) == value.Kind(y) && (value.Kind(x) == "object" || value.Kind(x) == "list"), "the difference is inside %v", at)
		}
	})
}

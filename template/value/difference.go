package value

import (
	"fmt"
	"maps"
	"slices"
)

// FirstDifference returns the place of the first difference between two values, keys in order. It reports false if they are
// equal.
func FirstDifference(a, b Value) (Pointer, bool) {
	if Equal(a, b) {
		return nil, false
	}
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return nil, true
		}
		keys := slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b)))
		slices.Sort(keys)
		for _, key := range keys {
			x, inA := a[key]
			y, inB := b[key]
			if inA != inB {
				return Pointer{key}, true
			}
			if at, differ := FirstDifference(x, y); differ {
				return append(Pointer{key}, at...), true
			}
		}
	case []any:
		b, ok := b.([]any)
		if !ok {
			return nil, true
		}
		for i := range min(len(a), len(b)) {
			if at, differ := FirstDifference(a[i], b[i]); differ {
				return append(Pointer{fmt.Sprint(i)}, at...), true
			}
		}
		return Pointer{fmt.Sprint(min(len(a), len(b)))}, true
	}
	return nil, true
}

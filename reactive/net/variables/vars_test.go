package variables_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/net/variables"
	"github.com/sluiceflow/sluice/template/value"
)

// drawPath draws a path of few keys, so that many are prefixes of others.
func drawPath(t *rapid.T) []string {
	return rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b"}), 1, 3).Draw(t, "path")
}

// drawValue draws a value that may contain values at drawn paths.
func drawValue(t *rapid.T, depth int) any {
	if depth == 0 || rapid.IntRange(0, 1).Draw(t, "scalar") == 0 {
		return rapid.SampledFrom([]any{int64(1), int64(1), int64(2), nil}).Draw(t, "value")
	}
	object := map[string]any{}
	for _, k := range []string{"a", "b"} {
		if rapid.Bool().Draw(t, k) {
			object[k] = drawValue(t, depth-1)
		}
	}
	return object
}

// written is an effective write of an iteration.
type written struct {
	by   int32
	path []string
	v    any
}

func begins(path, with []string) bool {
	return len(with) <= len(path) && slices.Equal(path[:len(with)], with)
}

// inside returns the value at a path. It reports false if there is none.
func inside(v any, path []string) (any, bool) {
	for _, k := range path {
		object, _ := v.(map[string]any)
		next, ok := object[k]
		if !ok {
			return nil, false
		}
		v = next
	}
	return v, true
}

// differ reports whether two writes, the first around the second or at the same place, write different values.
func differ(outer, inner written) bool {
	v, ok := inside(outer.v, inner.path[len(outer.path):])
	return !ok || !value.Equal(v, inner.v)
}

// replaced returns a value with another at a path.
func replaced(v any, path []string, x any) any {
	if len(path) == 0 {
		return x
	}
	out := map[string]any{}
	if object, ok := v.(map[string]any); ok {
		for k, y := range object {
			out[k] = y
		}
	}
	out[path[0]] = replaced(out[path[0]], path[1:], x)
	return out
}

// flat is a second implementation of conflicts: a list of effective writes, which it always searches completely.
type flat []written

func (f *flat) write(w written) (known, conflict bool) {
	for _, o := range *f {
		if o.by == w.by {
			continue
		}
		if begins(w.path, o.path) && differ(o, w) || begins(o.path, w.path) && differ(w, o) {
			return false, true
		}
		known = known || begins(w.path, o.path)
	}
	for i, o := range *f {
		if o.by == w.by && begins(w.path, o.path) && len(o.path) < len(w.path) { // a part of its own write
			(*f)[i].v = replaced(o.v, w.path[len(o.path):], w.v)
			return known, false
		}
	}
	*f = append(slices.DeleteFunc(*f, func(o written) bool { return o.by == w.by && begins(o.path, w.path) }), w)
	return known, false
}

// TestWritesOfIterationsConflictByPath: two writes conflict if one path is a prefix of the other and the values differ
// there.
func TestWritesOfIterationsConflictByPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tree variables.Writes
		var list flat
		views := map[int32]*variables.Vars{} // an iteration writes if the values in its view allow it
		for range rapid.IntRange(1, 40).Draw(t, "writes") {
			w := written{rapid.Int32Range(0, 2).Draw(t, "by"), drawPath(t), drawValue(t, 2)}
			if views[w.by] == nil {
				views[w.by] = &variables.Vars{}
			}
			trial := views[w.by].Copied()
			if trial.Write(w.path, w.v) != nil {
				continue
			}
			wantKnown, want := list.write(w)
			known, err := tree.Conflict(w.by, w.path, w.v)
			require.Equal(t, []bool{wantKnown, want}, []bool{known, err != nil}, "%d writes %v to %v", w.by, w.v, w.path)
			if !want {
				tree.Note(w.by, w.path, w.v)
				require.NoError(t, views[w.by].Write(w.path, w.v))
			}
		}
	})
}

// copied returns a deep copy. A value that contains itself was changed after it was returned.
func copied(t *rapid.T, v any, depth int) any {
	require.LessOrEqual(t, depth, 2*value.MaxDepth, "a value holds itself")
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(object))
	for k, x := range object {
		out[k] = copied(t, x, depth+1)
	}
	return out
}

// appended appends to the value at one key.
func appended(w *variables.Writes, by int32, key string, v, there any) ([]any, error) {
	vars := variables.Of(map[string]any{key: there})
	return w.Appended(by, []string{key}, v, &vars)
}

// TestVariablesAreThoseThatWereHandedOut: a write changes only the value at its path, and no value returned before.
func TestVariablesAreThoseThatWereHandedOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var handed, copies []any
		hold := func(v any) { handed, copies = append(handed, v), append(copies, copied(t, v, 0)) }
		vars, model := &variables.Vars{}, any(map[string]any{})
		for range rapid.IntRange(1, 20).Draw(t, "moves") {
			switch rapid.IntRange(0, 4).Draw(t, "move") {
			case 0:
				hold(vars.All())
			case 1:
				other := vars.Copied()
				hold(vars.All())
				if rapid.Bool().Draw(t, "other") {
					_ = other.Write(drawPath(t), drawValue(t, 2)) // changes only the copy
				}
			default:
				path, v := drawPath(t), drawValue(t, 2)
				if rapid.IntRange(0, 3).Draw(t, "itself") == 0 {
					v = vars.All()
				}
				if err := vars.Write(path, v); err == nil {
					model = replaced(model, path, copied(t, v, 0))
				}
			}
			got := vars.Peek() // All would make the next write copy
			if got == nil {
				got = map[string]any{}
			}
			require.Equal(t, model, any(got))
		}
		require.Equal(t, copies, handed, "a value that was returned has changed")
	})
}

// Loops append to existing lists of any writer: the loop itself, another loop beside it, or a person. A returned list does not
// change.
func TestLoopsAppendToWhatIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lists, copies [][]any // returned lists and copies
		loops := []*variables.Writes{{}, {}}
		var there any
		var model []any
		for i := range rapid.IntRange(1, 40).Draw(t, "moves") {
			switch k := rapid.IntRange(0, 7).Draw(t, "move"); k {
			case 0:
				model = nil
				if there = any(nil); rapid.Bool().Draw(t, "list") {
					model = rapid.SliceOfN(rapid.Just[any](int64(-1)), 0, 4).Draw(t, "patch")
					there = append(make([]any, 0, 8), model...)
				}
			default:
				v := int64(i)
				if rapid.Bool().Draw(t, "elsewhere") { // the same list is also at another path, and appended to there
					other, err := appended(&variables.Writes{}, 0, "m", -v, there)
					require.NoError(t, err)
					lists, copies = append(lists, other), append(copies, slices.Clone(other))
				}
				list, err := appended(loops[k%2], rapid.Int32Range(0, 2).Draw(t, "by"), "l", v, there)
				require.NoError(t, err)
				there, model = list, append(model, v)
			}
			if model != nil {
				require.Equal(t, model, there)
			}
			if list, ok := there.([]any); ok {
				lists, copies = append(lists, list), append(copies, slices.Clone(list))
			}
		}
		require.Equal(t, copies, lists, "a list that was returned has changed")
	})
}

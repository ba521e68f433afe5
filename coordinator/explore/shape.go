package explore

import (
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// variantsMax bounds the number of variants of a shape, and valuesMax the number of its values at one path.
const (
	variantsMax = 24
	valuesMax   = 64
)

// subject is a value that expressions read in parts.
type subject struct {
	what subjectKind
	name string // of the step, or the key of the context
}

// subjectKind is the kind of a subject.
type subjectKind uint8

const (
	output  subjectKind = iota // of a step
	failure                    // of a step
	context                    // a key that gates read
	input                      // of the run
)

// shape has the values that make a difference, by their paths in a subject.
type shape struct {
	paths  [][]string
	values [][]value.Value // by path
}

// note adds a path that is read, and the values that make a difference there.
func (s *shape) note(path []string, values []value.Value) {
	i := slices.IndexFunc(s.paths, func(p []string) bool { return slices.Equal(p, path) })
	if i < 0 {
		i = len(s.paths)
		s.paths, s.values = append(s.paths, slices.Clone(path)), append(s.values, nil)
	}
	for _, v := range values {
		if !slices.ContainsFunc(s.values[i], func(w value.Value) bool { return value.Equal(v, w) }) {
			s.values[i] = append(s.values[i], v)
		}
	}
}

// variants returns values that have the shape's values at its paths: every combination of these if there are few, else combinations in
// which each value occurs at least once.
func (s *shape) variants() []value.Value {
	order := make([]int, len(s.paths)) // a path comes before those below it
	most, all := 1, 1
	for i := range order {
		order[i] = i
		if n := len(s.values[i]); n > 0 {
			most, all = max(most, n), min(all*n, valuesMax+1)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return slices.Compare(s.paths[a], s.paths[b]) })
	count := min(all, max(variantsMax, min(most, valuesMax)))
	var list []value.Value
	for n := range count {
		var out value.Value
		rest := n
		for k, i := range order {
			var v value.Value = something
			if size := len(s.values[i]); size > 0 {
				at := rest
				if rest /= size; all > count {
					at = n + n/size*k
				}
				v = s.values[i][at%size]
			}
			out = put(out, s.paths[i], v)
		}
		if !slices.ContainsFunc(list, func(w value.Value) bool { return value.Equal(out, w) }) {
			list = append(list, out)
		}
	}
	return list
}

// put returns the value in with v written at a path. An empty list stays empty: it has no elements to write to.
func put(in value.Value, path []string, v value.Value) value.Value {
	if len(path) == 0 {
		return v
	}
	if path[0] == expr.Element {
		old, ok := in.([]any)
		if !ok {
			old = []any{nil}
		}
		list := make([]any, len(old))
		for i := range list {
			list[i] = put(old[i], path[1:], v)
		}
		return list
	}
	object := map[string]any{}
	if old, ok := in.(map[string]any); ok {
		object = maps.Clone(old)
	}
	object[path[0]] = put(object[path[0]], path[1:], v)
	return object
}

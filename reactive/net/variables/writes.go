package variables

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/template/value"
)

// Writes records the writes of a parallel loop's iterations to the context, as a tree along the paths.
//
//	ctx ─┬─ stats ─┬─ one   by iteration 0
//	     │         └─ two   by iterations 1 and 2, the same
//	     └─ state           by iteration 1
//
// A write of an iteration inside its own earlier write is part of the earlier one, and a write around earlier ones replaces
// them. All iterations that have written to a place have written the same value.
type Writes struct {
	by    []int32     // the iterations that have written here, sorted; in an appending loop, some of them
	v     value.Value // the value that they wrote; in an appending loop, the list
	below map[string]*Writes
}

// ConflictError means that a write conflicts with a write of another iteration.
type ConflictError struct{ text string }

func (e ConflictError) Error() string { return e.text }

func conflictAt(path []string) error {
	return ConflictError{fmt.Sprintf("another iteration has written another value to ctx.%s", clipped(path))}
}

// has reports whether an iteration has written here.
func (w *Writes) has(by int32) bool {
	_, ok := slices.BinarySearch(w.by, by)
	return ok
}

func (w *Writes) others(by int32) bool { return len(w.by) > 1 || len(w.by) == 1 && w.by[0] != by }

// at returns the node of a path, creating it if necessary.
func (w *Writes) at(path []string) *Writes {
	for _, key := range path {
		if w.below == nil {
			w.below = map[string]*Writes{}
		}
		if w.below[key] == nil {
			w.below[key] = &Writes{}
		}
		w = w.below[key]
	}
	return w
}

// Note records a write without a conflict, even if another iteration has written the same value.
func (w *Writes) Note(by int32, path []string, v value.Value) {
	for i := range path {
		if w.has(by) {
			if !w.others(by) {
				w.v = within(w.v, path[i:], v)
			}
			return
		}
		w = w.at(path[i : i+1])
	}
	w.v = v
	w.add(by)
	w.forget(by)
}

func (w *Writes) add(by int32) {
	if i, ok := slices.BinarySearch(w.by, by); !ok {
		w.by = slices.Insert(w.by, i, by)
	}
}

// forget removes the writes of an iteration inside its current write.
func (w *Writes) forget(by int32) {
	for _, x := range w.below {
		if i, ok := slices.BinarySearch(x.by, by); ok {
			x.by = slices.Delete(x.by, i, i+1)
		}
		x.forget(by)
	}
}

// Conflict returns an error if an iteration cannot write because another has written a different value at the path, around
// it or inside it. A write is known if another iteration has written the same value at the path or around it.
func (w *Writes) Conflict(by int32, path []string, v value.Value) (known bool, err error) {
	for i := 0; w != nil; i++ {
		if w.others(by) {
			if known = true; !same(w.v, path[i:], v) {
				return false, conflictAt(path)
			}
		}
		if i == len(path) {
			if w.differs(by, nil, v) {
				return false, conflictAt(path)
			}
			return known, nil
		}
		w = w.below[path[i]]
	}
	return known, nil
}

// differs reports whether another iteration has written a different value inside the place of v.
func (w *Writes) differs(by int32, path []string, v value.Value) bool {
	for key, x := range w.below { // any order: the result is a boolean
		inside := append(slices.Clip(path), key)
		if x.others(by) && !same(v, inside, x.v) || x.differs(by, inside, v) {
			return true
		}
	}
	return false
}

// same reports whether outer contains a value at a path that equals inner.
func same(outer value.Value, path []string, inner value.Value) bool {
	for _, key := range path {
		object, _ := outer.(map[string]any)
		next, ok := object[key]
		if !ok {
			return false
		}
		outer = next
	}
	return value.Equal(outer, inner)
}

// Appended returns the list at a path of the context with one more value. It uses spare capacity only of a list that the loop
// made and that no other list shares, so lists returned before do not change. A loop cannot append both to a list and inside
// it.
func (w *Writes) Appended(by int32, path []string, v value.Value, ctx *Vars) ([]any, error) {
	for i := range path {
		if len(w.by) > 0 {
			return nil, mixed(path[:i], path)
		}
		w = w.at(path[i : i+1])
	}
	if inside := w.inside(nil); inside != nil {
		return nil, mixed(append(slices.Clip(path), inside...), path)
	}
	if err := ctx.Takes(path); err != nil {
		return nil, err
	}
	there := ctx.At(path)
	list, ok := there.([]any)
	if !ok && there != nil {
		return nil, fmt.Errorf("%s is no list, so nothing can be appended to it", clipped(path))
	}
	if own, _ := w.v.([]any); len(own) == len(list) && len(own) > 0 && &own[0] == &list[0] {
		list = own
	} else {
		list = slices.Clone(list)
	}
	list = append(list, v)
	w.v = list
	w.add(by)
	return slices.Clip(list), nil
}

func mixed(first, path []string) error {
	return ConflictError{fmt.Sprintf("the loop appends to ctx.%s, so it cannot append to ctx.%s: give them paths apart", clipped(first), clipped(path))}
}

// inside returns the first path, in order, that was written inside a place, or nil.
func (w *Writes) inside(path []string) []string {
	for _, key := range slices.Sorted(maps.Keys(w.below)) {
		next := append(slices.Clip(path), key)
		if len(w.below[key].by) > 0 {
			return next
		}
		if found := w.below[key].inside(next); found != nil {
			return found
		}
	}
	return nil
}

// Walk calls f for every written place, in the order of the paths, with the iterations that wrote there and the value.
func (w *Writes) Walk(f func(path string, by []int32, v value.Value)) { w.walk("", f) }

func (w *Writes) walk(path string, f func(path string, by []int32, v value.Value)) {
	if len(w.by) > 0 {
		f(path, w.by, w.v)
	}
	for _, k := range slices.Sorted(maps.Keys(w.below)) {
		w.below[k].walk(path+"."+k, f)
	}
}

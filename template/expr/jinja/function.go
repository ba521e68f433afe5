package jinja

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// functions by name.
var (
	functions     = map[string]callable{"range": placed(1, numbers, "start", "stop", "step"), "dict": free(newDict)}
	functionNames = slices.Sorted(maps.Keys(functions))
)

func isFunction(name string) bool {
	_, ok := functions[name]
	return ok
}

// numbers implements range(stop), range(start, stop) and range(start, stop, step).
func numbers(r *run, _ any, a args) (any, error) {
	bounds := [3]int64{0, 0, 1}
	for i, v := range a.list {
		n, ok := integerOf(v)
		if !ok {
			return nil, fmt.Errorf("it goes by whole numbers, not %s", describe(v))
		}
		bounds[i] = n
	}
	if len(a.list) == 1 {
		bounds[0], bounds[1] = 0, bounds[0]
	}
	from, to, step := bounds[0], bounds[1], bounds[2]
	if step == 0 {
		return nil, errors.New("its step must not be 0")
	}
	size := steps(from, to, step)
	if size > uint64(r.bytes) {
		return nil, r.grow(-1)
	}
	if err := r.room(int(size)); err != nil {
		return nil, err
	}
	list := make([]any, size)
	for i := range list {
		list[i] = from + int64(i)*step
	}
	return list, nil
}

// steps returns the number of steps from a number up to another, unsigned, so that it cannot overflow.
func steps(from, to, step int64) uint64 {
	way, each := uint64(to)-uint64(from), uint64(step)
	if step < 0 {
		from, to = to, from
		way, each = -way, -each
	}
	if from >= to {
		return 0
	}
	return (way-1)/each + 1
}

// newDict implements dict(a=1), dict(x), dict(x, a=1), where x is an object or a list of pairs.
func newDict(r *run, _ any, a args) (any, error) {
	var entries []entry
	switch len(a.list) {
	case 0:
	case 1:
		var err error
		if entries, err = r.entriesOf(a.list[0]); err != nil {
			return nil, err
		}
	default:
		return nil, errors.New("it takes one object or list of pairs, and named values")
	}
	for i, k := range a.names {
		entries = append(entries, entry{k, a.named[i]})
	}
	return r.object(entries)
}

// entriesOf returns the entries of an object or of a list of pairs.
func (r *run) entriesOf(v any) ([]entry, error) {
	if m, ok := mappingOf(v); ok {
		return r.pairs(m)
	}
	if err := defined(v); err != nil {
		return nil, err
	}
	list, err := r.elements(v)
	if err != nil {
		return nil, err
	}
	if err := r.room(2 * len(list)); err != nil {
		return nil, err
	}
	entries := make([]entry, len(list))
	for i, x := range list {
		pair, err := r.elements(x)
		if err != nil {
			return nil, err
		}
		if len(pair) != 2 {
			return nil, fmt.Errorf("it needs pairs, not %s", describe(x))
		}
		entries[i] = entry{pair[0], pair[1]}
	}
	return entries, nil
}

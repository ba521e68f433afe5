package jinja

import (
	"errors"
	"fmt"
	"math"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// Fallback is an optional interface of an Env: it supplies members that a variable does not have.
type Fallback interface {
	// Under returns the value of a key that a variable does not contain. It reports false if there is none.
	Under(name, key string) (value.Value, bool)
}

type (
	attribute struct {
		of  node
		key string
	}
	item  struct{ of, index node }
	slice struct {
		of    node
		parts [3]node // from, to, step; nil: omitted
	}
)

func (n attribute) eval(r *run) (any, error) {
	of, err := n.of.eval(r)
	if err != nil {
		return nil, err
	}
	if u, ok := of.(undefined); ok {
		return nil, fmt.Errorf("%s is undefined: it has no %q", u.what, n.key)
	}
	if v, ok := r.member(n.of, of, n.key); ok {
		return v, nil
	}
	if v, ok := fieldOf(of, n.key); ok {
		return v, nil
	}
	return undefined{n.key}, nil
}

// member returns the value of a key, or the one that the environment's Fallback has; n is the node that returned the value.
func (r *run) member(n node, of any, key string) (any, bool) {
	if m, ok := mappingOf(of); ok {
		if v, ok := m.at(key); ok {
			return v, true
		}
	}
	v, isName := n.(variable)
	f, has := r.env.(Fallback)
	if !isName || !has {
		return nil, false
	}
	return f.Under(v.name, key)
}

// fieldOf returns a field of values of a kind: the names of groupby's results, and the parts of a number.
func fieldOf(v any, key string) (any, bool) {
	if g, ok := v.(group); ok {
		switch key {
		case "grouper":
			return g.grouper, true
		case "list":
			return g.list, true
		}
	}
	n, ok := numberOf(v)
	if !ok {
		return nil, false
	}
	switch {
	case key == "real" && n.isFloat:
		return n.f, true
	case key == "imag" && n.isFloat:
		return 0.0, true
	case n.isFloat:
		return nil, false
	case key == "real" || key == "numerator":
		return n.i, true
	case key == "imag":
		return int64(0), true
	case key == "denominator":
		return int64(1), true
	}
	return nil, false
}

func (n item) eval(r *run) (any, error) {
	of, err := n.of.eval(r)
	if err != nil {
		return nil, err
	}
	index, err := n.index.eval(r)
	if err != nil {
		return nil, err
	}
	if key, ok := index.(string); ok {
		if _, missing := of.(undefined); !missing {
			if v, ok := r.member(n.of, of, key); ok {
				return v, nil
			}
		}
	}
	return r.lookup(of, index)
}

// lookup returns the value of a key or an index.
func (r *run) lookup(of, index any) (any, error) {
	none := undefined{"[" + brief(index) + "]"}
	if u, ok := of.(undefined); ok {
		return nil, fmt.Errorf("%s is undefined: it has no [%s]", u.what, brief(index))
	}
	if m, ok := mappingOf(of); ok {
		h, err := r.hash(index)
		if errors.Is(err, expr.ErrLimit) {
			return nil, err
		}
		if v, ok := m.at(h); ok && err == nil {
			return v, nil
		}
		return none, nil
	}
	if key, ok := index.(string); ok {
		if v, ok := fieldOf(of, key); ok {
			return v, nil
		}
	}
	i, ok := integerOf(index)
	if !ok {
		return none, nil
	}
	if list, ok := sequence(of); ok {
		if i = fromEnd(i, len(list)); i >= 0 {
			return list[i], nil
		}
	}
	if s, ok := of.(string); ok {
		if err := r.scan(len(s)); err != nil {
			return nil, err
		}
		if runes := []rune(s); fromEnd(i, len(runes)) >= 0 {
			return string(runes[fromEnd(i, len(runes))]), nil
		}
	}
	return none, nil
}

// fromEnd converts an index that may count from the end; a negative result is out of range.
func fromEnd(i int64, size int) int64 {
	if i < 0 {
		i += int64(size)
	}
	if i >= int64(size) {
		return -1
	}
	return i
}

func (n slice) eval(r *run) (any, error) {
	of, err := n.of.eval(r)
	if err != nil {
		return nil, err
	}
	var bounds [3]*int64
	for i, part := range n.parts {
		if part == nil {
			continue
		}
		v, err := part.eval(r)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		b, ok := integerOf(v)
		if !ok {
			return nil, fmt.Errorf("a slice goes by whole numbers, not %s", describe(v))
		}
		bounds[i] = &b
	}
	if s, ok := of.(string); ok {
		if err := r.scan(len(s)); err != nil {
			return nil, err
		}
		runes, err := cut(r, []rune(s), bounds)
		return string(runes), err
	}
	list, ok := sequence(of)
	if !ok {
		return nil, fmt.Errorf("only lists and strings have slices, not %s", describe(of))
	}
	list, err = cut(r, list, bounds)
	return like(of, list), err
}

// cut returns the elements of a slice, as in Python.
func cut[T any](r *run, list []T, bounds [3]*int64) ([]T, error) {
	size, step := int64(len(list)), int64(1)
	if bounds[2] != nil {
		step = max(*bounds[2], -math.MaxInt64)
	}
	if step == 0 {
		return nil, errors.New("the step of a slice must not be 0")
	}
	low, high := int64(0), size
	if step < 0 {
		low, high = -1, size-1
	}
	bound := func(b *int64, none int64) int64 {
		if b == nil {
			return none
		}
		i := *b
		if i < 0 {
			i = max(i+size, low)
		}
		return min(max(i, low), high)
	}
	from, to := bound(bounds[0], low), bound(bounds[1], high)
	if step < 0 {
		from, to = bound(bounds[0], high), bound(bounds[1], low)
	}
	out := make([]T, 0)
	for i := from; i >= 0 && (step > 0 && i < to || step < 0 && i > to); i += step { // negative on overflow
		if err := r.room(1); err != nil {
			return nil, err
		}
		out = append(out, list[i])
	}
	return out, nil
}

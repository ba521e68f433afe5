package jinja

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

func (n comparison) eval(r *run) (any, error) {
	left, err := n.first.eval(r)
	if err != nil {
		return nil, err
	}
	for _, l := range n.links {
		right, err := l.right.eval(r)
		if err != nil {
			return nil, err
		}
		if err := r.spend(1); err != nil {
			return nil, err
		}
		yes, err := r.compare(l.op, left, right)
		if err != nil || !yes {
			return false, err
		}
		left = right
	}
	return true, nil
}

// holding are the results of order for which a comparison holds.
var holding = map[string][]int{"<": {-1}, "<=": {-1, 0}, ">": {1}, ">=": {0, 1}}

func (r *run) compare(op string, a, b any) (bool, error) {
	switch op {
	case "==":
		return r.equal(a, b)
	case "!=":
		yes, err := r.equal(a, b)
		return !yes, err
	case "in":
		return r.contains(b, a)
	case "not in":
		yes, err := r.contains(b, a)
		return !yes, err
	}
	c, err := r.order(a, b)
	return err == nil && slices.Contains(holding[op], c), err
}

// order returns -1, 0, 1 or unordered for two numbers, strings, lists or tuples. Lists are compared by the first elements
// that differ, or else by length, as in Python.
func (r *run) order(a, b any) (int, error) {
	x, okX := numberOf(a)
	y, okY := numberOf(b)
	if okX && okY {
		return x.compare(y), nil
	}
	s, okS := a.(string)
	t, okT := b.(string)
	if okS && okT {
		return strings.Compare(s, t), r.scan(min(len(s), len(t)))
	}
	l, okL := sequence(a)
	m, okM := sequence(b)
	_, isList := a.([]any)
	_, alsoList := b.([]any)
	if !okL || !okM || isList != alsoList {
		return 0, fmt.Errorf("%s and %s have no order", describe(a), describe(b))
	}
	if _, err := r.weigh(a); err != nil {
		return 0, err
	}
	for i := range min(len(l), len(m)) {
		if !same(l[i], m[i]) {
			return r.order(l[i], m[i])
		}
	}
	return cmp.Compare(len(l), len(m)), nil
}

// contains is v in in.
func (r *run) contains(in, v any) (bool, error) {
	if _, missing := in.(undefined); missing {
		return false, nil
	}
	if s, ok := in.(string); ok {
		if part, ok := v.(string); ok {
			return strings.Contains(s, part), r.spend(len(s))
		}
	}
	if m, ok := mappingOf(in); ok {
		h, err := r.hash(v)
		if err != nil {
			return false, err
		}
		_, has := m.at(h)
		return has, nil
	}
	list, ok := sequence(in)
	if !ok {
		return false, fmt.Errorf("%s cannot be looked for in %s", describe(v), describe(in))
	}
	if err := r.spend(len(list)); err != nil {
		return false, err
	}
	for _, x := range list {
		yes, err := r.equal(v, x)
		if yes || err != nil {
			return yes, err
		}
	}
	return false, nil
}

// equal compares two values; undefined equals only undefined. The walk visits both at once, so only one of them is paid for.
func (r *run) equal(a, b any) (bool, error) {
	switch a.(type) {
	case string, []any, tuple, group, map[string]any, dict:
		if _, err := r.weigh(a); err != nil {
			return false, err
		}
	}
	return same(a, b), nil
}

// same implements Python's == for these kinds: numbers by value, everything else by kind and content.
func same(a, b any) bool {
	if x, ok := numberOf(a); ok {
		y, ok := numberOf(b)
		return ok && x.compare(y) == 0
	}
	if l, ok := sequence(a); ok {
		m, ok := sequence(b)
		_, isList := a.([]any)
		_, alsoList := b.([]any)
		return ok && isList == alsoList && slices.EqualFunc(l, m, same)
	}
	if x, ok := mappingOf(a); ok {
		y, ok := mappingOf(b)
		return ok && x.same(y)
	}
	switch a := a.(type) {
	case undefined:
		_, ok := b.(undefined)
		return ok
	case string:
		t, ok := b.(string)
		return ok && a == t
	}
	return a == nil && b == nil
}

func (m mapping) same(o mapping) bool {
	if m.size() != o.size() {
		return false
	}
	for k, v := range m.texts {
		if other, ok := o.at(k); !ok || !same(v, other) {
			return false
		}
	}
	for h, e := range m.other {
		if other, ok := o.at(h); !ok || !same(e.value, other) {
			return false
		}
	}
	return true
}

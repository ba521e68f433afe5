package jinja

import (
	"fmt"
	"math"
	"strings"
)

func (n sign) eval(r *run) (any, error) {
	v, err := n.of.eval(r)
	if err != nil {
		return nil, err
	}
	x, ok := numberOf(v)
	switch {
	case !ok:
		return nil, fmt.Errorf("a sign stands before a number, not before %s", describe(v))
	case x.isFloat && n.minus:
		return -x.f, nil
	case x.isFloat:
		return x.f, nil
	case !n.minus:
		return x.i, nil
	case x.i == math.MinInt64:
		return nil, errOverflow
	}
	return -x.i, nil
}

func (n arithmetic) eval(r *run) (any, error) {
	a, err := n.left.eval(r)
	if err != nil {
		return nil, err
	}
	b, err := n.right.eval(r)
	if err != nil {
		return nil, err
	}
	return r.operate(n.op, a, b)
}

// powerSteps is the cost of a power of floats, which is computed with extra precision.
const powerSteps = 256

// operate returns a op b.
func (r *run) operate(op string, a, b any) (any, error) {
	if err := r.spend(1); err != nil {
		return nil, err
	}
	if op == "~" {
		return r.join(a, b)
	}
	x, okX := numberOf(a)
	y, okY := numberOf(b)
	if okX && okY {
		if op == "**" && (x.isFloat || y.isFloat || y.i < 0) {
			if err := r.spend(powerSteps); err != nil {
				return nil, err
			}
		}
		return compute(op, x, y)
	}
	switch op {
	case "+":
		if v, ok, err := r.together(a, b); ok {
			return v, err
		}
	case "*":
		if n, ok := integerOf(b); ok && isSequence(a) {
			return r.repeat(a, n)
		}
		if n, ok := integerOf(a); ok && isSequence(b) {
			return r.repeat(b, n)
		}
	case "%":
		if text, ok := a.(string); ok {
			return r.percent(text, b)
		}
	}
	return nil, fmt.Errorf("%s and %s have no %s", describe(a), describe(b), op)
}

// isSequence reports whether a value can be repeated: a string, a list or a tuple.
func isSequence(v any) bool {
	_, isText := v.(string)
	_, isList := sequence(v)
	return isText || isList
}

// together returns a + b for two strings, lists or tuples. It reports false for other operands.
func (r *run) together(a, b any) (v any, ok bool, err error) {
	if s, isText := a.(string); isText {
		t, ok := b.(string)
		if !ok {
			return nil, false, nil
		}
		v, err = r.concat(s, t)
		return v, true, err
	}
	x, okX := sequence(a)
	y, okY := sequence(b)
	_, isList := a.([]any)
	_, alsoList := b.([]any)
	if !okX || !okY || isList != alsoList {
		return nil, false, nil
	}
	if err := r.room(len(x) + len(y)); err != nil {
		return nil, true, err
	}
	return like(a, append(append(make([]any, 0, len(x)+len(y)), x...), y...)), true, nil
}

// like converts a list to a tuple if v is one.
func like(v any, list []any) any {
	if _, ok := v.([]any); ok {
		return list
	}
	return tuple(list)
}

// repeat returns a string, a list or a tuple n times.
func (r *run) repeat(v any, n int64) (any, error) {
	n = max(0, n)
	if s, ok := v.(string); ok {
		if err := r.times(n, len(s)); err != nil {
			return nil, err
		}
		return strings.Repeat(s, int(n)), nil
	}
	list, _ := sequence(v)
	if err := r.times(n, len(list)*slotBytes); err != nil {
		return nil, err
	}
	if err := r.spend(len(list) * int(n)); err != nil {
		return nil, err
	}
	out := make([]any, 0, len(list)*int(n))
	for range cap(out) / max(1, len(list)) {
		out = append(out, list...)
	}
	return like(v, out), nil
}

// times pays for n pieces of a size.
func (r *run) times(n int64, size int) error {
	if size > 0 && n > int64(r.bytes/size) {
		return r.grow(-1)
	}
	return r.grow(int(n) * size)
}

// join concatenates two values as a text.
func (r *run) join(a, b any) (any, error) {
	x, err := r.text(a)
	if err != nil {
		return nil, err
	}
	y, err := r.text(b)
	if err != nil {
		return nil, err
	}
	return r.concat(x, y)
}

func (r *run) concat(a, b string) (any, error) {
	if err := r.grow(len(a) + len(b)); err != nil {
		return nil, err
	}
	return a + b, nil
}

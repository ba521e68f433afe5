package jinja

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/template/value"
)

var (
	errOverflow = errors.New("the result is too large a number")
	errZero     = errors.New("division by zero")
)

// whole is a float as the value model has it: one without a fraction is an integer.
func whole(f float64) any {
	if f == math.Trunc(f) && f >= -1<<63 && f < 1<<63 {
		return int64(f)
	}
	return f
}

// finite checks what a float operation has given.
func finite(f float64) (any, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, errOverflow
	}
	return whole(f), nil
}

func (n sign) eval(r *run) (any, error) {
	v, err := n.of.eval(r)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case int64:
		if !n.minus {
			return v, nil
		}
		if v == math.MinInt64 {
			return nil, errOverflow
		}
		return -v, nil
	case float64:
		if !n.minus {
			return v, nil
		}
		return -v, nil
	}
	return nil, fmt.Errorf("a sign stands before a number, not before %s", describe(v))
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
	if err := r.spend(1); err != nil {
		return nil, err
	}
	if n.op == "~" {
		return r.join(a, b)
	}
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			return integers(n.op, x, y)
		}
	}
	x, okX := float(a)
	y, okY := float(b)
	if okX && okY {
		return floats(n.op, x, y)
	}
	return r.others(n.op, a, b)
}

func float(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func integers(op string, x, y int64) (any, error) {
	switch op {
	case "+":
		if s := x + y; (s > x) == (y > 0) {
			return s, nil
		}
		return nil, errOverflow
	case "-":
		if d := x - y; (d < x) == (y > 0) {
			return d, nil
		}
		return nil, errOverflow
	case "*":
		return product(x, y)
	case "**":
		return power(x, y)
	}
	if y == 0 {
		return nil, errZero
	}
	if x == math.MinInt64 && y == -1 {
		return nil, errOverflow
	}
	switch op {
	case "/":
		if x%y == 0 {
			return x / y, nil
		}
		return finite(float64(x) / float64(y))
	case "//":
		q := x / y
		if x%y != 0 && (x < 0) != (y < 0) {
			q--
		}
		return q, nil
	}
	m := x % y // %
	if m != 0 && (m < 0) != (y < 0) {
		m += y
	}
	return m, nil
}

func product(x, y int64) (any, error) {
	if x == math.MinInt64 || y == math.MinInt64 {
		if x == 0 || y == 0 {
			return int64(0), nil
		}
		if x == 1 || y == 1 {
			return x * y, nil
		}
		return nil, errOverflow
	}
	hi, lo := bits.Mul64(uint64(max(x, -x)), uint64(max(y, -y)))
	if hi != 0 || lo > math.MaxInt64 {
		return nil, errOverflow
	}
	return x * y, nil
}

func power(x, y int64) (any, error) {
	if y < 0 {
		return floats("**", float64(x), float64(y))
	}
	out := int64(1)
	for ; y > 0; y-- {
		if x == 0 || x == 1 {
			return x, nil
		}
		if x == -1 {
			return out * (1 - 2*(y%2)), nil
		}
		v, err := product(out, x)
		if err != nil {
			return nil, err
		}
		out = v.(int64)
	}
	return out, nil
}

func floats(op string, x, y float64) (any, error) {
	switch op {
	case "+":
		return finite(x + y)
	case "-":
		return finite(x - y)
	case "*":
		return finite(x * y)
	case "**":
		if x == 0 && y < 0 {
			return nil, errZero
		}
		return finite(math.Pow(x, y))
	}
	if y == 0 {
		return nil, errZero
	}
	if op == "/" {
		return finite(x / y)
	}
	quotient, rest := divided(x, y)
	if op == "//" {
		return finite(quotient)
	}
	return finite(rest)
}

// divided is x // y and x % y: the rest is exact and has the sign of y, and the quotient goes with it, which x / y rounded
// down does not: 1 // 0.1 is 9.
func divided(x, y float64) (quotient, rest float64) {
	rest = math.Mod(x, y)
	quotient = (x - rest) / y
	if rest != 0 && (rest < 0) != (y < 0) {
		rest += y
		quotient--
	}
	whole := math.Floor(quotient)
	if quotient-whole > 0.5 {
		whole++
	}
	return whole, rest
}

// others adds and repeats what are no numbers.
func (r *run) others(op string, a, b any) (any, error) {
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok && op == "+" {
			return r.concat(x, y)
		}
		if n, ok := b.(int64); ok && op == "*" {
			n = max(0, n)
			if len(x) > 0 && n > int64(r.bytes/len(x)) {
				return nil, r.grow(-1)
			}
			if err := r.grow(len(x) * int(n)); err != nil {
				return nil, err
			}
			return strings.Repeat(x, int(n)), nil
		}
	case []any:
		if y, ok := b.([]any); ok && op == "+" {
			if err := r.room(len(x) + len(y)); err != nil {
				return nil, err
			}
			return append(append(make([]any, 0, len(x)+len(y)), x...), y...), nil
		}
	}
	return nil, fmt.Errorf("%s and %s have no %s", describe(a), describe(b), op)
}

// join puts two values into one text.
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

// show is a value as text. Lists and objects are weighed before: text does that.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case undefined:
		return ""
	case bool:
		if v {
			return "True"
		}
		return "False"
	case int64:
		return strconv.FormatInt(v, 10)
	case string:
		return v
	}
	return value.Text(v)
}

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
	if err != nil {
		return false, err
	}
	switch op {
	case "<":
		return c < 0, nil
	case "<=":
		return c <= 0, nil
	case ">":
		return c > 0, nil
	}
	return c >= 0, nil
}

// order compares numbers with numbers and strings with strings.
func (r *run) order(a, b any) (int, error) {
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			switch {
			case x < y:
				return -1, nil
			case x > y:
				return 1, nil
			}
			return 0, nil
		}
	}
	x, okX := float(a)
	y, okY := float(b)
	if okX && okY {
		switch {
		case x < y:
			return -1, nil
		case x > y:
			return 1, nil
		}
		return 0, nil
	}
	s, okS := a.(string)
	t, okT := b.(string)
	if okS && okT {
		return strings.Compare(s, t), r.scan(min(len(s), len(t)))
	}
	return 0, fmt.Errorf("%s and %s have no order", describe(a), describe(b))
}

func (r *run) contains(in, v any) (bool, error) {
	switch in := in.(type) {
	case undefined:
		return false, nil
	case []any:
		if err := r.spend(len(in)); err != nil {
			return false, err
		}
		for _, x := range in {
			yes, err := r.equal(v, x)
			if yes || err != nil {
				return yes, err
			}
		}
		return false, nil
	case map[string]any:
		k, ok := v.(string)
		if !ok {
			return false, nil
		}
		_, has := in[k]
		return has, nil
	case string:
		if s, ok := v.(string); ok {
			return strings.Contains(in, s), r.spend(len(in))
		}
	}
	return false, fmt.Errorf("%s cannot be looked for in %s", describe(v), describe(in))
}

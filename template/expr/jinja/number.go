package jinja

import (
	"cmp"
	"errors"
	"math"
	"math/big"
	"math/bits"
)

var (
	errOverflow = errors.New("the result is too large a number")
	errZero     = errors.New("division by zero")
	errComplex  = errors.New("the result is no real number")
)

// num is an operand: an integer, or true or false, or a float.
type num struct {
	i       int64
	f       float64
	isFloat bool
}

func numberOf(v any) (num, bool) {
	switch v := v.(type) {
	case int64:
		return num{i: v}, true
	case float64:
		return num{f: v, isFloat: true}, true
	case bool:
		if v {
			return num{i: 1}, true
		}
		return num{}, true
	}
	return num{}, false
}

// integerOf returns an integer, as which true and false count. A whole float does not.
func integerOf(v any) (int64, bool) {
	n, ok := numberOf(v)
	return n.i, ok && !n.isFloat
}

func (n num) float() float64 {
	if n.isFloat {
		return n.f
	}
	return float64(n.i)
}

// unordered is the result of compare if one of the numbers is NaN: not less, not greater and not equal.
const unordered = 2

// compare returns -1, 0, 1 or unordered. It compares an integer with a float exactly.
func (n num) compare(m num) int {
	switch {
	case !n.isFloat && !m.isFloat:
		return cmp.Compare(n.i, m.i)
	case n.isFloat && m.isFloat:
		return compareFloats(n.f, m.f)
	case n.isFloat:
		if c := m.compare(n); c != unordered {
			return -c
		}
		return unordered
	}
	whole := math.Trunc(m.f)
	switch {
	case math.IsNaN(m.f):
		return unordered
	case whole >= 1<<63:
		return -1
	case whole < -1<<63:
		return 1
	}
	if c := cmp.Compare(n.i, int64(whole)); c != 0 {
		return c
	}
	return compareFloats(whole, m.f)
}

func compareFloats(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	case x == y:
		return 0
	}
	return unordered
}

// whole returns a float as a value of the model: one without a fraction is an integer.
func whole(f float64) any {
	if f == math.Trunc(f) && f >= -1<<63 && f < 1<<63 {
		return int64(f)
	}
	return f
}

// truncated returns a float without its fraction.
func truncated(f float64) (any, error) {
	if i, ok := whole(math.Trunc(f)).(int64); ok {
		return i, nil
	}
	return nil, errOverflow
}

// compute returns x op y.
func compute(op string, x, y num) (any, error) {
	if x.isFloat || y.isFloat {
		return floats(op, x.float(), y.float())
	}
	return integers(op, x.i, y.i)
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
	switch {
	case y == 0:
		return nil, errZero
	case op == "/":
		return quotient(x, y), nil
	case x == math.MinInt64 && y == -1:
		if op == "%" {
			return int64(0), nil
		}
		return nil, errOverflow
	}
	q, m := x/y, x%y
	if m != 0 && (m < 0) != (y < 0) {
		q, m = q-1, m+y
	}
	if op == "//" {
		return q, nil
	}
	return m, nil
}

// quotient returns x / y correctly rounded, even if x or y is not exactly a float.
func quotient(x, y int64) float64 {
	const exact = 1 << 53
	if max(x, y) <= exact && min(x, y) >= -exact {
		return float64(x) / float64(y)
	}
	f, _ := new(big.Rat).SetFrac(big.NewInt(x), big.NewInt(y)).Float64()
	return f
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
	switch {
	case x == 0 && y > 0 || x == 1:
		return x, nil
	case x == -1:
		return 1 - 2*(y%2), nil
	}
	out := int64(1)
	for ; y > 0; y-- { // 63 times at most
		v, err := product(out, x)
		if err != nil {
			return nil, err
		}
		out = v.(int64)
	}
	return out, nil
}

// floats returns x op y. As in Python, a result beyond all floats is infinite, except for **, where it is an error.
func floats(op string, x, y float64) (any, error) {
	switch op {
	case "+":
		return x + y, nil
	case "-":
		return x - y, nil
	case "*":
		return x * y, nil
	case "**":
		return powerOfFloat(x, y)
	}
	if y == 0 {
		return nil, errZero
	}
	if op == "/" {
		return x / y, nil
	}
	quotient, rest := divided(x, y)
	if op == "//" {
		return quotient, nil
	}
	return rest, nil
}

// divided returns x // y and x % y: the remainder is exact and has the sign of y, and the quotient corresponds to it, unlike
// x / y rounded down: 1 // 0.1 is 9.
func divided(x, y float64) (quotient, rest float64) {
	rest = math.Mod(x, y)
	quotient = (x - rest) / y
	switch {
	case rest == 0:
		rest = math.Copysign(0, y)
	case (rest < 0) != (y < 0):
		rest += y
		quotient--
	}
	if quotient == 0 {
		return math.Copysign(0, x/y), rest
	}
	whole := math.Floor(quotient)
	if quotient-whole > 0.5 {
		whole++
	}
	return whole, rest
}

package expr

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/sluiceflow/sluice/template/value"
)

// errOverflow is an error rather than an inexact float, because the model has exact integers.
var errOverflow = errors.New("the result is beyond the range of integers, which ends at ±9.2e18")

var errZero = errors.New("division by zero")

// isNumber reports whether v is an integer or a float. Booleans are not numbers, nor are texts that look like one.
func isNumber(v value.Value) bool {
	switch v.(type) {
	case int64, float64:
		return true
	}
	return false
}

// float returns a number as a float64.
func float(v value.Value) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// arithmetic applies an operation to two integers or, if one of them is not, to two floats.
func arithmetic(verb string, a, b value.Value, ints func(a, b int64) (value.Value, error), floats func(a, b float64) (float64, error)) (value.Value, error) {
	if i, ok := a.(int64); ok {
		if j, ok := b.(int64); ok {
			return ints(i, j)
		}
	}
	x, okA := float(a)
	y, okB := float(b)
	if !okA || !okB {
		return nil, fmt.Errorf("cannot %s %s and %s", verb, value.Describe(a), value.Describe(b))
	}
	f, err := floats(x, y)
	if err != nil {
		return nil, err
	}
	return finite(f)
}

// add implements +, of two numbers or of two strings. It does not join a number to a text, because `"1" + 1` is ambiguous;
// write the text around the braces, or string().
func add(r *run, a, b value.Value) (value.Value, error) {
	if s, ok := a.(string); ok {
		if t, ok := b.(string); ok {
			if err := r.grow(len(s) + len(t)); err != nil {
				return nil, err
			}
			return s + t, nil
		}
	}
	if _, ok := a.([]any); ok {
		if _, ok := b.([]any); ok {
			return nil, errors.New("cannot add a list and a list: concat(a, b) joins them")
		}
	}
	return arithmetic("add", a, b, addInt, addFloat)
}

// addInt relies on wrapping: the sum is greater than a exactly if b is positive, unless it has wrapped.
func addInt(a, b int64) (value.Value, error) {
	if sum := a + b; (sum > a) == (b > 0) {
		return sum, nil
	}
	return nil, errOverflow
}

// addFloat, like the functions below, leaves it to arithmetic to refuse a result that is not finite.
func addFloat(a, b float64) (float64, error) { return a + b, nil }

// subInt is addInt with the comparison reversed.
func subInt(a, b int64) (value.Value, error) {
	if diff := a - b; (diff < a) == (b > 0) {
		return diff, nil
	}
	return nil, errOverflow
}

// subFloat returns the difference by IEEE 754, which is the same on all hardware.
func subFloat(a, b float64) (float64, error) { return a - b, nil }

// mulInt returns the exact product or an error.
func mulInt(a, b int64) (value.Value, error) {
	product, ok := multiply(a, b)
	if !ok {
		return nil, errOverflow
	}
	return product, nil
}

// multiply reports whether the product fits: divided by one factor, it must be the other.
func multiply(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	product := a * b
	// The second condition excludes the one product whose quotient overflows too.
	return product, product/b == a && !(a == -1 && b == math.MinInt64) && !(b == -1 && a == math.MinInt64)
}

// mulFloat is a function of its own, so that no compiler may fuse it with an addition and round once instead of twice.
func mulFloat(a, b float64) (float64, error) { return a * b, nil }

// divInt returns an integer if the quotient is exact.
func divInt(a, b int64) (value.Value, error) {
	switch {
	case b == 0:
		return nil, errZero
	case b == -1:
		return subInt(0, a)
	case a%b == 0:
		return a / b, nil
	}
	return finite(float64(a) / float64(b))
}

// divFloat refuses division by zero, because the model has no infinities.
func divFloat(a, b float64) (float64, error) {
	if b == 0 {
		return 0, errZero
	}
	return a / b, nil
}

// modulo implements %: the remainder has the sign of the left side, as in Go. It is not defined for fractions, whose
// rounding would make it useless.
func modulo(_ *run, a, b value.Value) (value.Value, error) {
	i, okA := a.(int64)
	j, okB := b.(int64)
	switch {
	case !okA || !okB:
		return nil, fmt.Errorf("%% needs two integers, not %s and %s", value.Describe(a), value.Describe(b))
	case j == 0:
		return nil, errZero
	}
	return i % j, nil
}

// powInt squares and multiplies: at most 64 rounds, because greater powers of anything but 0, 1 and -1 do not fit.
func powInt(base, exponent int64) (value.Value, error) {
	if exponent < 0 {
		if base == 0 {
			return nil, errZero
		}
		return finite(math.Pow(float64(base), float64(exponent)))
	}
	result, ok := int64(1), true
	for {
		if exponent&1 == 1 {
			if result, ok = multiply(result, base); !ok {
				return nil, errOverflow
			}
		}
		if exponent >>= 1; exponent == 0 {
			return result, nil
		}
		if base, ok = multiply(base, base); !ok {
			return nil, errOverflow
		}
	}
}

// powFloat may return NaN (a root of a negative number), which is refused like the infinities.
func powFloat(a, b float64) (float64, error) { return math.Pow(a, b), nil }

// compare pays for comparing long strings, then compares.
func (r *run) compare(a, b value.Value) (int, error) {
	if s, ok := a.(string); ok {
		if err := r.scan(len(s)); err != nil {
			return 0, err
		}
	}
	return compare(a, b)
}

// compare orders two numbers or two strings: below, equal or above as -1, 0 or 1.
func compare(a, b value.Value) (int, error) {
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			return strings.Compare(a, b), nil
		}
	case int64:
		switch b := b.(type) {
		case int64:
			return order(a, b), nil
		case float64:
			return compareMixed(a, b), nil
		}
	case float64:
		switch b := b.(type) {
		case int64:
			return -compareMixed(b, a), nil
		case float64:
			return order(a, b), nil
		}
	}
	return 0, fmt.Errorf("cannot compare %s with %s", value.Describe(a), value.Describe(b))
}

// order is cmp.Compare without NaN, which the model does not have.
func order[N int64 | float64](a, b N) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// compareMixed compares exactly, even where a float64 cannot distinguish neighbouring integers. A float of the model is
// never equal to an integer: it has a fraction or exceeds them.
func compareMixed(i int64, f float64) int {
	switch floor := math.Floor(f); {
	case floor >= 1<<63:
		return -1
	case floor < -1<<63:
		return 1
	case i <= int64(floor):
		return -1
	}
	return 1
}

// finite converts a float to the model: whole ones become integers.
func finite(f float64) (value.Value, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("the result is not a finite number")
	}
	return value.Of(f)
}

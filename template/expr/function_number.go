package expr

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/sluiceflow/sluice/template/value"
)

var numberFunctions = map[string]function{
	"abs":     {1, 1, abs},
	"ceil":    {1, 1, func(a *arguments) (value.Value, error) { return a.round(math.Ceil) }},
	"floor":   {1, 1, func(a *arguments) (value.Value, error) { return a.round(math.Floor) }},
	"round":   {1, 1, func(a *arguments) (value.Value, error) { return a.round(math.Round) }}, // halves away from zero
	"int":     {1, 1, toInt},
	"float":   {1, 1, toFloat},
	"max":     {1, -1, func(a *arguments) (value.Value, error) { return a.extreme(1) }},
	"min":     {1, -1, func(a *arguments) (value.Value, error) { return a.extreme(-1) }},
	"mean":    {1, -1, mean},
	"median":  {1, -1, median},
	"bitand":  {2, 2, func(a *arguments) (value.Value, error) { return a.bits(func(x, y int64) int64 { return x & y }) }},
	"bitor":   {2, 2, func(a *arguments) (value.Value, error) { return a.bits(func(x, y int64) int64 { return x | y }) }},
	"bitxor":  {2, 2, func(a *arguments) (value.Value, error) { return a.bits(func(x, y int64) int64 { return x ^ y }) }},
	"bitnand": {2, 2, func(a *arguments) (value.Value, error) { return a.bits(func(x, y int64) int64 { return x &^ y }) }},
	"bitnot":  {1, 1, bitnot},
	"bitshl":  {2, 2, func(a *arguments) (value.Value, error) { return a.shift(func(x int64, n uint) int64 { return x << n }) }},
	"bitshr":  {2, 2, func(a *arguments) (value.Value, error) { return a.shift(func(x int64, n uint) int64 { return x >> n }) }},
	"bitushr": {2, 2, func(a *arguments) (value.Value, error) {
		return a.shift(func(x int64, n uint) int64 { return int64(uint64(x) >> n) })
	}},
}

// abs fails for the least integer, whose absolute value does not fit.
func abs(a *arguments) (value.Value, error) {
	switch n := a.values[0].(type) {
	case int64:
		if n < 0 {
			return subInt(0, n)
		}
		return n, nil
	case float64:
		return math.Abs(n), nil
	}
	return nil, a.wrong(0, "a number")
}

// round applies a rounding to a number that is not whole.
func (a *arguments) round(how func(float64) float64) (value.Value, error) {
	switch n := a.values[0].(type) {
	case int64:
		return n, nil
	case float64:
		return finite(how(n))
	}
	return nil, a.wrong(0, "a number")
}

// toInt drops the fraction of a number, and reads an integer from a string.
func toInt(a *arguments) (value.Value, error) {
	switch v := a.values[0].(type) {
	case int64:
		return v, nil
	case float64:
		n, err := finite(math.Trunc(v))
		if _, whole := n.(int64); err == nil && !whole {
			return nil, errOverflow
		}
		return n, err
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("int cannot read %s as an integer", Quote(v))
		}
		return n, nil
	}
	return nil, a.wrong(0, "a number or a string")
}

// toFloat reads a number from a string. A whole number stays an integer in arithmetic; results are inexact only with a
// fraction or beyond the range of integers.
func toFloat(a *arguments) (value.Value, error) {
	switch v := a.values[0].(type) {
	case int64, float64:
		return v, nil
	case string:
		f, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return nil, fmt.Errorf("float cannot read %s as a number", Quote(v))
		}
		return finite(f)
	}
	return nil, a.wrong(0, "a number or a string")
}

// numbers returns all arguments, with lists of numbers flattened.
func (a *arguments) numbers() ([]any, error) {
	var out []any
	for i, v := range a.values {
		list, isList := v.([]any)
		if !isList {
			list = a.values[i : i+1]
		}
		if err := a.spend(1 + len(list)); err != nil {
			return nil, err
		}
		for _, n := range list {
			if !isNumber(n) {
				return nil, a.wrong(i, "a number or a list of numbers")
			}
		}
		if err := a.grow(len(list) * slotBytes); err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// extreme returns the greatest number if sign is 1, the least if it is -1.
func (a *arguments) extreme(sign int) (value.Value, error) {
	numbers, err := a.numbers()
	if err != nil {
		return nil, err
	}
	if len(numbers) == 0 {
		return nil, fmt.Errorf("%s needs at least one number", a.name)
	}
	best := numbers[0]
	for _, n := range numbers[1:] {
		if c, err := compare(n, best); err != nil {
			return nil, err
		} else if c*sign > 0 {
			best = n
		}
	}
	return best, nil
}

// mean of nothing is 0, as is the median.
func mean(a *arguments) (value.Value, error) {
	numbers, err := a.numbers()
	if err != nil || len(numbers) == 0 {
		return int64(0), err
	}
	total := 0.0
	for _, n := range numbers {
		f, _ := float(n)
		total += f
	}
	return finite(total / float64(len(numbers)))
}

// median of an even number of values is the mean of the two in the middle; each is halved first, so that the sum cannot
// overflow.
func median(a *arguments) (value.Value, error) {
	numbers, err := a.numbers()
	if err != nil || len(numbers) == 0 {
		return int64(0), err
	}
	if err := a.spend(len(numbers) * bitLen(len(numbers))); err != nil {
		return nil, err
	}
	floats := make([]float64, len(numbers))
	for i, n := range numbers {
		floats[i], _ = float(n)
	}
	slices.Sort(floats)
	middle := len(floats) / 2
	if len(floats)%2 == 1 {
		return finite(floats[middle])
	}
	return finite(floats[middle-1]/2 + floats[middle]/2)
}

// bits combines two integers bit by bit, in two's complement.
func (a *arguments) bits(op func(x, y int64) int64) (value.Value, error) {
	x, err := a.integer(0)
	if err != nil {
		return nil, err
	}
	y, err := a.integer(1)
	return op(x, y), err
}

// bitnot inverts all 64 bits.
func bitnot(a *arguments) (value.Value, error) {
	x, err := a.integer(0)
	return ^x, err
}

// shift by 64 or more leaves zeros (or ones, for bitshr of a negative number), as in Go. Bits shifted out are lost.
func (a *arguments) shift(op func(x int64, n uint) int64) (value.Value, error) {
	x, err := a.integer(0)
	if err != nil {
		return nil, err
	}
	n, err := a.count(1)
	if err != nil {
		return nil, err
	}
	return op(x, uint(n)), nil
}

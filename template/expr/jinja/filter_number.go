package jinja

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// toInt converts a number or a text to an integer; a text may have a base, or else a fraction or an exponent.
func toInt(_ *run, v any, a args) (any, error) {
	if err := defined(v); err != nil {
		return nil, err
	}
	if n, ok := numberOf(v); ok {
		if !n.isFloat {
			return n.i, nil
		}
		if math.IsNaN(n.f) {
			return a.otherwise(int64(0)), nil
		}
		return truncated(n.f)
	}
	s, ok := v.(string)
	if !ok {
		return a.otherwise(int64(0)), nil
	}
	if base, ok := a.base(); ok {
		i, err := strconv.ParseInt(unprefixed(ascii(trimSpace(s)), base), base, 64)
		if err == nil {
			return i, nil
		}
		if errors.Is(err, strconv.ErrRange) {
			return nil, errOverflow
		}
	}
	f, ok := decimal(s)
	if !ok || math.IsNaN(f) || math.IsInf(f, 0) {
		return a.otherwise(int64(0)), nil
	}
	return truncated(f)
}

// otherwise returns the default of int and float for a value that is not a number.
func (a args) otherwise(other any) any {
	if v, ok := a.at(0, "default"); ok {
		return v
	}
	return other
}

// base returns the argument of int, if it is one.
func (a args) base() (int, bool) {
	n, err := a.integer(1, "base", 10)
	return int(n), err == nil && (n == 0 || n >= 2 && n <= 36)
}

// unprefixed removes Python's notations from an integer of a base: 0x, 0o or 0b, and _ between digits. With base 0, which
// the prefix determines, ParseInt accepts both; but 017, which it would take as octal, is invalid, hence "".
func unprefixed(s string, base int) string {
	digits := strings.TrimLeft(s, "+-")
	if base == 0 {
		if len(digits) > 1 && digits[0] == '0' && strings.IndexByte("_0123456789", digits[1]) >= 0 && strings.Trim(digits, "0_") != "" {
			return ""
		}
		return s
	}
	if prefix := map[int]string{16: "0x", 8: "0o", 2: "0b"}[base]; prefix != "" && len(digits) > 2 && strings.EqualFold(digits[:2], prefix) {
		s = s[:len(s)-len(digits)] + strings.TrimPrefix(digits[2:], "_")
	}
	return ungrouped(s, base)
}

// ungrouped removes the _ between digits of a base, and keeps others, which make the number invalid.
func ungrouped(s string, base int) string {
	if !strings.Contains(s, "_") {
		return s
	}
	digit := func(i int) bool {
		return i >= 0 && i < len(s) && (s[i] >= '0' && s[i] <= '9' || base > 10 && unicode.IsLetter(rune(s[i])))
	}
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		if s[i] != '_' || !digit(i-1) || !digit(i+1) {
			out = append(out, s[i])
		}
	}
	return string(out)
}

// ascii converts the decimal digits of all scripts to 0 to 9.
func ascii(s string) string {
	return strings.Map(func(c rune) rune {
		if c < 0x80 || !unicode.Is(unicode.Nd, c) {
			return c
		}
		return '0' + digitOf(c)
	}, s)
}

// decimal parses a number as Python's float does.
func decimal(s string) (float64, bool) {
	s = ascii(trimSpace(s))
	if strings.ContainsAny(s, "xXpP") {
		return 0, false
	}
	f, err := strconv.ParseFloat(ungrouped(s, 10), 64)
	return f, err == nil || errors.Is(err, strconv.ErrRange)
}

func toFloat(_ *run, v any, a args) (any, error) {
	if err := defined(v); err != nil {
		return nil, err
	}
	if n, ok := numberOf(v); ok {
		return n.float(), nil
	}
	if s, ok := v.(string); ok {
		if f, ok := decimal(s); ok {
			return f, nil
		}
	}
	return a.otherwise(0.0), nil
}

func absolute(_ *run, v any, _ args) (any, error) {
	n, ok := numberOf(v)
	switch {
	case !ok:
		return nil, fmt.Errorf("it needs a number, not %s", describe(v))
	case n.isFloat:
		return math.Abs(n.f), nil
	case n.i == math.MinInt64:
		return nil, errOverflow
	}
	return max(n.i, -n.i), nil
}

func rounded(_ *run, v any, a args) (any, error) {
	how, err := a.text(1, "method", "common")
	if err != nil {
		return nil, err
	}
	x, ok := numberOf(v)
	if !ok {
		return nil, fmt.Errorf("it needs a number, not %s", describe(v))
	}
	if p, given := a.at(0, "precision"); given && p == nil && how == "common" { // as in Python, the result is an integer
		if x.isFloat {
			return truncated(math.RoundToEven(x.f))
		}
		return x.i, nil
	}
	places, err := a.integer(0, "precision", 0)
	if err != nil {
		return nil, err
	}
	places = min(max(places, -400), 400)
	switch how {
	case "common":
		return nearest(x, int(places))
	case "ceil", "floor":
		return upOrDown(x.float(), int(places), how == "ceil")
	}
	return nil, fmt.Errorf("method must be common, ceil or floor, not %s", brief(how))
}

// upOrDown rounds to n places after the point, or to zeros before it.
func upOrDown(f float64, n int, up bool) (any, error) {
	scale := math.Pow10(n)
	if math.IsInf(scale, 0) || scale == 0 {
		return nil, errOverflow
	}
	scaled := math.Floor(f * scale)
	if up {
		scaled = math.Ceil(f * scale)
	}
	if math.IsInf(scaled, 0) || math.IsNaN(scaled) {
		return nil, errOverflow
	}
	return (scaled + 0) / scale, nil // math.Ceil(-0.5) is negative zero
}

// nearest rounds to n places after the point, or to zeros before it, from the exact value of the number: 1.115 is slightly
// less than that. Halves are rounded to even.
func nearest(x num, n int) (any, error) {
	switch {
	case !x.isFloat && n >= 0:
		return x.i, nil
	case x.isFloat && (math.IsInf(x.f, 0) || math.IsNaN(x.f)):
		return x.f, nil
	case n >= 0:
		f, err := strconv.ParseFloat(strconv.FormatFloat(x.f, 'f', n, 64), 64)
		if err != nil {
			return nil, errOverflow
		}
		return f, nil
	}
	exact := new(big.Rat).SetInt64(x.i)
	if x.isFloat {
		exact.SetFloat64(x.f)
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-n)), nil)
	out := new(big.Int).Mul(halfEven(exact.Quo(exact, new(big.Rat).SetInt(scale))), scale)
	if x.isFloat {
		f, _ := new(big.Float).SetInt(out).Float64()
		return math.Copysign(f, x.f), nil
	}
	if !out.IsInt64() {
		return nil, errOverflow
	}
	return out.Int64(), nil
}

// halfEven returns the nearest whole number.
func halfEven(x *big.Rat) *big.Int {
	two := big.NewInt(2)
	twice := new(big.Int).Add(new(big.Int).Mul(x.Num(), two), x.Denom()) // floor(x + 1/2)
	whole, rest := new(big.Int).DivMod(twice, new(big.Int).Mul(x.Denom(), two), new(big.Int))
	if rest.Sign() == 0 && whole.Bit(0) == 1 {
		whole.Sub(whole, big.NewInt(1))
	}
	return whole
}

// fileSize formats a number of bytes with a unit.
func fileSize(_ *run, v any, a args) (any, error) {
	if err := defined(v); err != nil {
		return nil, err
	}
	size, ok := 0.0, false
	if n, isNumber := numberOf(v); isNumber {
		size, ok = n.float(), true
	} else if s, isText := v.(string); isText {
		size, ok = decimal(s)
	}
	if !ok {
		return nil, fmt.Errorf("it needs a number, not %s", describe(v))
	}
	base, mark := 1000.0, "B"
	if a.flag(0, "binary") {
		base, mark = 1024, "iB"
	}
	switch {
	case size == 1:
		return "1 Byte", nil
	case size < base:
		return fmt.Sprintf("%.0f Bytes", math.Trunc(size)+0), nil
	case math.IsNaN(size):
		return nil, errOverflow
	}
	unit, prefixes := base, "kMGTPEZY"
	if base == 1024 {
		prefixes = "KMGTPEZY"
	}
	for i, prefix := range prefixes {
		unit *= base
		if size < unit || i == len(prefixes)-1 {
			return strconv.FormatFloat(base*size/unit, 'f', 1, 64) + " " + string(prefix) + mark, nil
		}
	}
	return nil, errOverflow
}

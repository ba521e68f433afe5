package jinja

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

func toInt(_ *run, v any, a args) (any, error) {
	if err := defined(v); err != nil {
		return nil, err
	}
	base, err := a.integer(1, "base", 10)
	if err != nil || base < 2 || base > 36 {
		return nil, cmp.Or(err, errors.New("base must be from 2 to 36"))
	}
	switch v := v.(type) {
	case int64:
		return v, nil
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case float64:
		return truncated(v)
	case string:
		s := strings.TrimSpace(v)
		i, err := strconv.ParseInt(unprefixed(s, int(base)), int(base), 64)
		if err == nil {
			return i, nil
		}
		if errors.Is(err, strconv.ErrRange) {
			return nil, errOverflow
		}
		if f, ok := decimal(s); ok {
			return truncated(f)
		}
	}
	return a.otherwise()
}

// truncated is a float without its fraction.
func truncated(f float64) (any, error) {
	if i, ok := whole(math.Trunc(f)).(int64); ok {
		return i, nil
	}
	return nil, errOverflow
}

// unprefixed is an integer of a base without what Python allows in it: 0x, 0o or 0b, and _ between digits.
func unprefixed(s string, base int) string {
	digits := strings.TrimLeft(s, "+-")
	if prefix := map[int]string{16: "0x", 8: "0o", 2: "0b"}[base]; prefix != "" && len(digits) > 1 && strings.EqualFold(digits[:2], prefix) {
		s = s[:len(s)-len(digits)] + strings.TrimPrefix(digits[2:], "_")
	}
	return ungrouped(s, base)
}

// ungrouped takes away the _ between digits of a base, and leaves those elsewhere, which make it no number.
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

// decimal reads a number as Python's float does, as far as the model has it.
func decimal(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	if strings.ContainsAny(s, "xX") {
		return 0, false
	}
	f, err := strconv.ParseFloat(ungrouped(s, 10), 64)
	return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
}

func toFloat(_ *run, v any, a args) (any, error) {
	if err := defined(v); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case int64, float64:
		return v, nil
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case string:
		if f, ok := decimal(v); ok {
			return whole(f), nil
		}
	}
	return a.otherwise()
}

func absolute(_ *run, v any, _ args) (any, error) {
	switch v := v.(type) {
	case int64:
		if v == math.MinInt64 {
			return nil, errOverflow
		}
		return max(v, -v), nil
	case float64:
		return math.Abs(v), nil
	}
	return nil, fmt.Errorf("it needs a number, not %s", describe(v))
}

func rounded(_ *run, v any, a args) (any, error) {
	n, err := a.integer(0, "precision", 0)
	if err != nil {
		return nil, err
	}
	how, err := a.text(1, "method", "common")
	if err != nil {
		return nil, err
	}
	n = min(max(n, -400), 400)
	f, ok := float(v)
	if !ok {
		return nil, fmt.Errorf("it needs a number, not %s", describe(v))
	}
	if _, ok := v.(int64); ok && n >= 0 {
		return v, nil
	}
	scale := math.Pow(10, float64(n))
	switch how {
	case "ceil":
		return finite(math.Ceil(f*scale) / scale)
	case "floor":
		return finite(math.Floor(f*scale) / scale)
	case "common":
		return finite(nearest(f, int(n)))
	}
	return nil, fmt.Errorf("method must be common, ceil or floor, not %s", brief(how))
}

// nearest rounds to n places after the point, or to zeros before it, from what the float is worth to its last digit: 1.115 is
// a little less than that. Halves go to the even neighbour.
func nearest(f float64, n int) float64 {
	if n < 0 {
		scale := math.Pow(10, float64(-n))
		return math.RoundToEven(f/scale) * scale
	}
	f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'f', n, 64), 64)
	return f
}

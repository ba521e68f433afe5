package keychain

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Bounds of the digits of a number that is found with a point at any place, and of the text of a number without an exponent.
const (
	manyDigits = 40
	longText   = 400
)

// decimal is a number other than 0, without its sign: its digits, from the first to the last that is not 0, and the power of ten of the
// last one. All notations of a number have the same decimal.
type decimal struct {
	digits string
	power  int
}

// decimalOf reads a text that is a number, with or without sign, point, exponent, and zeros around.
func decimalOf(text string) (n decimal, ok bool) {
	signed := strings.TrimLeft(text, "+-")
	if len(text)-len(signed) > 1 || strings.Trim(text, "+-.eE0123456789") != "" {
		return n, false
	}
	mantissa, exponent := signed, "0"
	if i := strings.IndexAny(signed, "eE"); i >= 0 {
		mantissa, exponent = signed[:i], signed[i+1:]
	}
	before, after, _ := strings.Cut(mantissa, ".")
	n.digits = before + after
	power, err := strconv.Atoi(exponent)
	if err != nil || n.digits == "" || strings.Trim(n.digits, "0123456789") != "" || power < -longText || power > longText {
		return n, false
	}
	whole := strings.TrimRight(n.digits, "0")
	n.power = power - len(after) + len(n.digits) - len(whole)
	n.digits = strings.TrimLeft(whole, "0")
	return n, n.digits != ""
}

// decimalsOf returns the number in a text, and its value as a float; none if the text is no number.
func decimalsOf(text string) (list []decimal) {
	n, ok := decimalOf(text)
	if !ok {
		return nil
	}
	list = []decimal{n}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return list
	}
	for _, format := range []byte{'e', 'f'} { // the shortest digits of the float, and all of its digits
		digits := -1
		if format == 'f' && f == math.Trunc(f) {
			digits = 0
		}
		if rounded, ok := decimalOf(strconv.FormatFloat(f, format, digits, 64)); ok && !slices.Contains(list, rounded) {
			list = append(list, rounded)
		}
	}
	return list
}

// spellings returns texts for the number in a text: each form in which programs write the number contains one of them, perhaps without
// its sign, zeros and exponent.
func spellings(text string) (list []string) {
	for _, n := range decimalsOf(text) {
		if len(n.digits) <= longText {
			list = append(append(list, n.plain()), n.scientific()...)
		}
		if len(n.digits) >= pieceMin {
			list = append(list, n.digits)
		}
		for i := 1; i < len(n.digits) && len(n.digits) >= pieceMin && len(n.digits) <= manyDigits; i++ {
			list = append(list, n.digits[:i]+"."+n.digits[i:])
		}
	}
	return slices.DeleteFunc(list, func(text string) bool { return len(text) < MinLength })
}

// plain returns the number without an exponent; "": it would be very long.
func (n decimal) plain() string {
	point := len(n.digits) + n.power // digits before it
	switch {
	case point > longText || point < -longText:
		return ""
	case n.power >= 0:
		return n.digits + strings.Repeat("0", n.power)
	case point > 0:
		return n.digits[:point] + "." + n.digits[point:]
	}
	return "0." + strings.Repeat("0", -point) + n.digits
}

// scientific returns the number with one digit before the point and an exponent, as languages write it.
func (n decimal) scientific() (list []string) {
	power := len(n.digits) - 1 + n.power
	mantissas := []string{n.digits[:1] + "." + n.digits[1:]}
	if len(n.digits) == 1 {
		mantissas = []string{n.digits, n.digits + ".0"}
	}
	sign, size := "+", power
	if power < 0 {
		sign, size = "-", -power
	}
	exponents := []string{sign + strconv.Itoa(size)}
	if size < 10 {
		exponents = append(exponents, sign+"0"+strconv.Itoa(size))
	}
	if power >= 0 {
		exponents = append(exponents, strconv.Itoa(size))
	}
	for _, m := range mantissas {
		for _, e := range exponents {
			list = append(list, m+"e"+e, m+"E"+e)
		}
	}
	return list
}

package schema

import (
	"strconv"
	"strings"
)

// digitsMax bounds the digits of a dec128, counting zeros between the point and the first other digit.
const digitsMax = 34

const mustDecimal = "a decimal such as 12.5"

// normalDecimal reads a decimal, with an exponent or not, and writes it without: 01.50 is 1.5, 15e-1 too, and -0 is 0.
func normalDecimal(text string) (normal string, f *Fault) {
	mantissa, exponent, hasExponent := text, "", false
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent, hasExponent = text[:i], text[i+1:], true
	}
	sign := ""
	if rest, ok := strings.CutPrefix(mantissa, "-"); ok {
		sign, mantissa = "-", rest
	}
	whole, fraction, hasPoint := strings.Cut(mantissa, ".")
	if !isDigits(whole) || hasPoint && !isDigits(fraction) || hasExponent && !isExponent(exponent) {
		return "", notText(mustDecimal, text)
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0", nil
	}
	shift, err := 0, error(nil)
	if hasExponent {
		shift, err = strconv.Atoi(exponent)
	}
	scale := len(fraction) - shift // digits after the point
	for strings.HasSuffix(digits, "0") {
		digits, scale = digits[:len(digits)-1], scale-1
	}
	if err != nil || len(digits) > digitsMax || scale > digitsMax || len(digits)-scale > digitsMax {
		return "", notText(mustDecimal+", with at most 34 digits", text)
	}
	return sign + plainDecimal(digits, scale), nil
}

// plainDecimal writes digits, scale of them after the point. A negative scale appends zeros.
func plainDecimal(digits string, scale int) string {
	switch {
	case scale <= 0:
		return digits + strings.Repeat("0", -scale)
	case scale >= len(digits):
		return "0." + strings.Repeat("0", scale-len(digits)) + digits
	}
	return digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
}

// isDigits reports whether a text has a digit and nothing else.
func isDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// isExponent reports whether a text is an integer, with a sign or not.
func isExponent(text string) bool {
	if text != "" && (text[0] == '-' || text[0] == '+') {
		text = text[1:]
	}
	return isDigits(text)
}

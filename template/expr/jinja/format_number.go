package jinja

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// layout is the format of a value.
type layout struct {
	fill      string
	align     string // < > ^, or = for between the sign and the digits
	sign      string // before a number that is not negative: + or a space; - or "": none
	alternate bool   // #
	zeros     bool   // padded with zeros after the sign
	width     int
	grouping  string // between groups of digits: "", a comma or _
	groupSize int    // digits of a group; 0: 3
	precision int    // below 0: none
}

// laid pads a text to its width; sign is the prefix of a number, which stays before the zeros.
func (w *writer) laid(l layout, sign, text string) string {
	gap := max(l.width-utf8.RuneCountInString(sign)-utf8.RuneCountInString(text), 0)
	if w.err == nil {
		w.err = w.run.grow(gap * len(l.fill))
	}
	if w.err != nil {
		return ""
	}
	switch l.align {
	case "<":
		return sign + text + strings.Repeat(l.fill, gap)
	case "^":
		return strings.Repeat(l.fill, gap/2) + sign + text + strings.Repeat(l.fill, gap-gap/2)
	case "=":
		return sign + strings.Repeat(l.fill, gap) + text
	}
	return strings.Repeat(l.fill, gap) + sign + text
}

// number writes the digits of a number, and a fraction or an exponent after them, in its layout.
func (w *writer) number(l layout, negative bool, prefix, digits, tail string) {
	sign := strings.TrimPrefix(l.sign, "-")
	if negative {
		sign = "-"
	}
	sign += prefix
	if l.zeros && l.align != "<" {
		l.align, l.fill = "=", "0"
	}
	if l.grouping != "" {
		least := 0
		if l.align == "=" && l.fill == "0" {
			least = l.width - len(sign) - len(tail)
		}
		if w.err == nil {
			w.err = w.run.room(max(least, 0))
		}
		if w.err != nil {
			return
		}
		digits = grouped(digits, l.grouping, cmp.Or(l.groupSize, 3), least)
	}
	w.put(w.laid(l, sign, digits+tail))
}

// grouped inserts a separator between groups of digits, and zeros before them up to a minimum length.
func grouped(digits, separator string, size, least int) string {
	var groups []string
	total := 0
	for digits != "" || total < least {
		n := min(size, len(digits))
		group := digits[len(digits)-n:]
		digits = digits[:len(digits)-n]
		if total > 0 {
			total++
		}
		if missing := min(size-n, least-total-n); digits == "" && missing > 0 {
			group = strings.Repeat("0", missing) + group
		}
		if group == "" {
			group = "0"
		}
		groups, total = append(groups, group), total+len(group)
	}
	var b strings.Builder
	for i := len(groups) - 1; i >= 0; i-- {
		b.WriteString(groups[i])
		if i > 0 {
			b.WriteString(separator)
		}
	}
	return b.String()
}

// integer writes a whole number by its digits; the precision is their minimum number.
func (w *writer) integer(negative bool, digits, prefix string, l layout) {
	if gap := l.precision - len(digits); gap > 0 {
		if w.err == nil {
			w.err = w.run.grow(gap)
		}
		if w.err != nil {
			return
		}
		digits = strings.Repeat("0", gap) + digits
	}
	if prefix != "" {
		l.groupSize = 4
	}
	if !l.alternate {
		prefix = ""
	}
	w.number(l, negative, prefix, digits, "")
}

// digitsOf returns the digits of a whole number and their prefix, by a verb.
func digitsOf(i int64, verb byte) (digits, prefix string) {
	base := 10
	switch verb {
	case 'x', 'X':
		base, prefix = 16, "0"+string(verb)
	case 'o':
		base, prefix = 8, "0o"
	case 'b':
		base, prefix = 2, "0b"
	}
	digits = strconv.FormatUint(magnitude(i), base)
	if verb == 'X' {
		digits = strings.ToUpper(digits)
	}
	return digits, prefix
}

// float writes a number with a fraction; the precision is known.
func (w *writer) float(f float64, verb byte, l layout) {
	percent := ""
	if verb == '%' {
		verb, percent, f = 'f', "%", f*100
	}
	upper := verb < 'a'
	if upper {
		verb += 'a' - 'A'
	}
	text := ""
	switch {
	case math.IsInf(f, 0):
		text = "inf"
	case math.IsNaN(f):
		text = "nan"
	default:
		if w.err == nil {
			w.err = w.run.grow(l.precision + 400)
		}
		if w.err != nil {
			return
		}
		text = floatDigits(math.Abs(f), verb, l.precision, l.alternate)
	}
	if upper {
		text = strings.ToUpper(text)
	}
	end := strings.IndexFunc(text, func(c rune) bool { return c < '0' || c > '9' })
	if end < 0 {
		end = len(text)
	}
	w.number(l, math.Signbit(f) && !math.IsNaN(f), "", text[:end], text[end:]+percent)
}

// mantissaMax is the maximum number of digits of a float; zeros follow them.
const mantissaMax = 1100

// floatDigits formats a float that is not negative with the verb e, f or g.
func floatDigits(f float64, verb byte, precision int, alternate bool) string {
	if verb != 'g' {
		exact := min(precision, mantissaMax)
		text := strconv.FormatFloat(f, verb, exact, 64)
		mantissa, exponent, hasExponent := strings.Cut(text, "e")
		mantissa += strings.Repeat("0", precision-exact)
		if alternate && precision == 0 {
			mantissa += "."
		}
		if hasExponent {
			return mantissa + "e" + exponent
		}
		return mantissa
	}
	precision = max(precision, 1)
	return general(f, precision, precision, alternate, false)
}

// general writes a float with count digits, and with an exponent from the size of limit on, or below 1e-4. Zeros at the end
// of the fraction are dropped unless kept; pointed requires a point and a digit after it.
func general(f float64, count, limit int, kept, pointed bool) string {
	exact := min(count, mantissaMax)
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', exact-1, 64), "e")
	digits := strings.Replace(mantissa, ".", "", 1)
	e, _ := strconv.Atoi(exponent)
	if kept {
		digits += strings.Repeat("0", count-exact)
	} else {
		digits = digits[:1] + strings.TrimRight(digits[1:], "0")
	}
	if e < -4 || e >= limit {
		mantissa = digits[:1]
		if len(digits) > 1 || kept {
			mantissa += "." + digits[1:]
		}
		return mantissa + "e" + exponent
	}
	switch {
	case e < 0:
		return "0." + strings.Repeat("0", -e-1) + digits
	case len(digits) > e+1:
		return digits[:e+1] + "." + digits[e+1:]
	}
	digits += strings.Repeat("0", e+1-len(digits))
	switch {
	case pointed:
		return digits + ".0"
	case kept:
		return digits + "."
	}
	return digits
}

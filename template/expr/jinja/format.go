package jinja

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// percent is text % values, as in C: '%s: %05.2f' % (name, x), or '%(name)s' % {'name': 1}.
func (r *run) percent(text string, values any) (any, error) {
	f := &formatter{writer: writer{run: r}, rest: []any{values}, values: values}
	switch v := values.(type) {
	case tuple:
		f.rest = v
	case group:
		f.rest, _ = sequence(v)
	case []any, map[string]any, dict, undefined:
		f.spare = true
	}
	for f.err == nil {
		i := strings.IndexByte(text, '%')
		if i < 0 {
			f.put(text)
			break
		}
		f.put(text[:i])
		text = f.directive(text[i+1:])
	}
	if f.err == nil && len(f.rest) > 0 && !f.spare {
		f.err = errors.New("not all values were put into the text")
	}
	return f.String(), f.err
}

// formatter formats values into a text.
type formatter struct {
	writer
	values any
	rest   []any // the values that are left
	spare  bool  // some may be left
}

func (f *formatter) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

// next returns the next value.
func (f *formatter) next() any {
	if len(f.rest) == 0 {
		f.fail("there are not enough values to put into the text")
		return nil
	}
	v := f.rest[0]
	f.rest = f.rest[1:]
	return v
}

// directive formats a value by the directive after a % and returns the rest of the format.
func (f *formatter) directive(s string) string {
	if strings.HasPrefix(s, "%") {
		f.put("%")
		return s[1:]
	}
	var value any
	named := strings.HasPrefix(s, "(")
	if named {
		value, s = f.named(s)
	}
	l := layout{fill: " ", align: ">", precision: -1}
	i := 0
	for ; i < len(s) && strings.IndexByte("#0- +", s[i]) >= 0; i++ {
		switch s[i] {
		case '#':
			l.alternate = true
		case '0':
			l.zeros = true
		case '-':
			l.align = "<"
		case '+':
			l.sign = "+"
		case ' ':
			if l.sign == "" {
				l.sign = " "
			}
		}
	}
	l.width, s = f.count(s[i:])
	if l.width < 0 {
		l.align, l.width = "<", -l.width
	}
	if strings.HasPrefix(s, ".") {
		l.precision, s = f.count(s[1:])
		l.precision = max(l.precision, 0)
	}
	if s != "" && strings.IndexByte("hlL", s[0]) >= 0 {
		s = s[1:] // skips a length modifier of C
	}
	if s == "" {
		f.fail("a %% at the end of the text is not complete: write %%%% for the sign itself")
		return ""
	}
	verb, size := utf8.DecodeRuneInString(s)
	if !named {
		value = f.next()
	}
	if f.err == nil {
		f.value(value, verb, l)
	}
	return s[size:]
}

// named reads the key in parentheses and returns its value, and the rest.
func (f *formatter) named(s string) (any, string) {
	depth, end := 0, -1
	for i := 0; i < len(s) && end < 0; i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				end = i
			}
		}
	}
	m, ok := mappingOf(f.values)
	switch {
	case end < 0:
		f.fail("the key behind %%( is not closed")
		return nil, ""
	case !ok:
		f.fail("%%%s needs an object, not %s", s[:end+1], describe(f.values))
		return nil, ""
	}
	v, ok := m.at(s[1:end])
	if !ok {
		f.fail("there is no value for %%%s", s[:end+1])
	}
	f.rest = nil
	return v, s[end+1:]
}

// count reads a width or a precision; * takes it from the values.
func (f *formatter) count(s string) (int, string) {
	if strings.HasPrefix(s, "*") {
		n, ok := integerOf(f.next())
		if !ok || n != int64(int32(n)) {
			f.fail("* needs a whole number that is not too large")
			return 0, s[1:]
		}
		return int(n), s[1:]
	}
	return f.number(s)
}

// number reads digits, and returns the text behind them.
func (f *formatter) number(s string) (int, string) {
	n, i := 0, 0
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		if n = n*10 + int(s[i]-'0'); n > 1<<31 {
			f.fail("a width of more than %d is too large", 1<<31)
			return 0, ""
		}
	}
	return n, s[i:]
}

// value writes one value.
func (f *formatter) value(v any, verb rune, l layout) {
	switch verb {
	case 's', 'r', 'a':
		l.zeros = false
		text, err := f.run.text(v)
		if verb != 's' {
			text, err = f.run.repr(v)
		}
		if err != nil {
			f.err = err
			return
		}
		if verb == 'a' {
			text = asciiOnly(text)
		}
		f.put(f.laid(l, "", clipped(text, l.precision)))
		return
	case 'c':
		l.zeros = false
		text, err := character(v)
		if err != nil {
			f.err = err
			return
		}
		f.put(f.laid(l, "", text))
		return
	}
	n, ok := numberOf(v)
	if !ok {
		f.fail("%%%c needs a number, not %s", verb, describe(v))
		return
	}
	switch verb {
	case 'd', 'i', 'u', 'x', 'X', 'o':
		if n.isFloat && strings.ContainsRune("xXo", verb) {
			f.fail("%%%c needs a whole number, not %s", verb, describe(v))
			return
		}
		if n.isFloat {
			if math.IsInf(n.f, 0) || math.IsNaN(n.f) {
				f.err = errOverflow
			}
			f.integer(n.f <= -1, strconv.FormatFloat(math.Abs(math.Trunc(n.f)), 'f', 0, 64), "", l)
			return
		}
		digits, prefix := digitsOf(n.i, byte(verb))
		f.integer(n.i < 0, digits, prefix, l)
	case 'e', 'E', 'f', 'F', 'g', 'G':
		if l.precision < 0 {
			l.precision = 6
		}
		f.float(n.float(), byte(verb), l)
	default:
		f.fail("%%%c is no directive that is known", verb)
	}
}

// character returns a string of one character, or the character of a number.
func character(v any) (string, error) {
	if n, ok := integerOf(v); ok {
		if n >= 0 && n <= utf8.MaxRune && utf8.ValidRune(rune(n)) {
			return string(rune(n)), nil
		}
		return "", fmt.Errorf("%d is no character", n)
	}
	s, _ := v.(string)
	if utf8.RuneCountInString(s) != 1 {
		return "", fmt.Errorf("%%c needs one character or its number, not %s", brief(v))
	}
	return s, nil
}

// clipped returns the first n characters of a text; below 0: all.
func clipped(s string, n int) string {
	if n < 0 || n >= len(s) {
		return s
	}
	if runes := []rune(s); n < len(runes) {
		return string(runes[:n])
	}
	return s
}

// asciiOnly replaces characters beyond ASCII with escape sequences.
func asciiOnly(s string) string {
	return perRune(s, func(c rune) string {
		if c < utf8.RuneSelf {
			return string(c)
		}
		return sequenceOf(c)
	})
}

package jinja_test

import "testing"

// The % of texts, which the filter format is too.
func TestPercent(t *testing.T) {
	check(t, []given{
		{"{{ '%s-%s' % (1, 2) }}", "1-2"}, {"{{ '%s' % [1, 2] }}", "[1, 2]"}, {"{{ '%s' % n }}", "3"}, {"{{ '%(a)s %(b)02d' % {'a': none, 'b': 5} }}", "None 05"}, {"{{ 'x' % {} }}", "x"}, {"{{ 'x' % list }}", "x"}, {"{{ '%d%%' % 5 }}", "5%"},
		{"{{ '[%5d|%-5d|%05d|%+d|% d]' % (1, 2, 3, 4, 5) }}", "[    1|2    |00003|+4| 5]"}, {"{{ '%.3d' % 7 }}", "007"}, {"{{ '%d' % -2.9 }}", "-2"}, {"{{ '%d' % 1e20 }}", "100000000000000000000"}, {"{{ '%d' % true }}", "1"},
		{"{{ '%x %X %#x %o %#o' % (255, 255, 255, 8, 8) }}", "ff FF 0xff 10 0o10"}, {"{{ '%#08x' % -255 }}", "-0x000ff"},
		{"{{ '%f %.2f %e %g %g %G' % (1.5, 2.675, 12345.678, 1e10, 0.0001, 1e-10) }}", "1.500000 2.67 1.234568e+04 1e+10 0.0001 1E-10"}, {"{{ '%.0f %#.0f %.3g %#.3g' % (2.5, 2.5, 2.0, 2.0) }}", "2 2. 2 2.00"}, {"{{ '%05.1f' % -2.5 }}", "-02.5"},
		{"{{ '%5s|%-5s|%.2s' % ('ab', 'ab', 'abc') }}", "   ab|ab   |ab"}, {"{{ '%r %a' % ('é', 'é') }}", "'é' '\\xe9'"}, {"{{ '%c%c' % ('é', 65) }}", "éA"}, {"{{ '%*d|%-*d|%.*f' % (4, 1, 4, 2, 1, 2.55) }}", "   1|2   |2.5"},
		{"{{ '%ld' % 5 }}", "5"}, {"{{ '%s' % nobody }}", ""}, {"{{ '%f' % (1e308 * 10) }}", "inf"}, {"{{ '%(a(b))s' % {'a(b)': 1} }}", "1"},
	})
	refused(t, map[string]string{
		"{{ 'x' % 1 }}":             "not all values were put into the text",
		"{{ '%s %s' % (1,) }}":      "there are not enough values",
		"{{ '%d' % 'a' }}":          "%d needs a number, not a string",
		"{{ '%x' % 2.5 }}":          "%x needs a whole number",
		"{{ '%d' % (1e308 * 10) }}": "too large a number",
		"{{ '%c' % 'ab' }}":         "%c needs one character",
		"{{ '%c' % -1 }}":           "-1 is no character",
		"{{ '%(a)s' % 1 }}":         "%(a) needs an object, not an integer",
		"{{ '%(a)s' % {} }}":        "there is no value for %(a)",
		"{{ '%(a' % {} }}":          "the key behind %( is not closed",
		"{{ '%' % 1 }}":             "is not complete",
		"{{ '%5%' % 1 }}":           "%% is no directive that is known",
		"{{ '%y' % 1 }}":            "%y is no directive that is known",
		"{{ '%*d' % ('a', 1) }}":    "* needs a whole number",
		"{{ '%99999999999d' % 1 }}": "is too large",
	})
}

// The method format of texts.
func TestFormat(t *testing.T) {
	check(t, []given{
		{"{{ '{} {}'.format(1, 'a') }}", "1 a"}, {"{{ '{1}{0}{{}}'.format('a', 'b') }}", "ba{}"}, {"{{ '{a}'.format(a=1) }}", "1"}, {"{{ '{sku}'.format(**rows[0]) }}", "nut"}, {"{{ '{sku}'.format_map(rows[0]) }}", "nut"},
		{"{{ '{0[a]} {0[b][1]} {1.real}'.format({'a': 1, 'b': [0, 2]}, 3) }}", "1 2 3"}, {"{{ '{!r} {!s:>3} {!a}'.format('a', 'b', 'é') }}", "'a'   b '\\xe9'"}, {"{{ '{:{}.{p}f}'.format(2.567, 7, p=1) }}", "    2.6"},
		{"{{ '{:>5}|{:<5}|{:^5}|{:*^5}|{:5}|{:5}'.format('a', 'b', 'c', 'd', 'e', 1) }}", "    a|b    |  c  |**d**|e    |    1"}, {"{{ '{:.2}|{:05}'.format('abc', 'a') }}", "ab|a0000"},
		{"{{ '{:03d} {:+d} {: d} {:x} {:#X} {:#b} {:o} {:c}'.format(7, 7, 7, 255, 255, 5, 8, 65) }}", "007 +7  7 ff 0XFF 0b101 10 A"}, {"{{ '{:,} {:_} {:_x} {:010,} {:,.2f}'.format(1234567, 1234567, 1048576, 1234, 1234.5) }}", "1,234,567 1_234_567 10_0000 00,001,234 1,234.50"},
		{"{{ '{} {:.3} {:g} {:e} {:.1%} {:n}'.format(1.0, 2.0, 3.0, 4.0, 0.256, 5.5) }}", "1.0 2.0 3 4.000000e+00 25.6% 5.5"}, {"{{ '{:.2} {:#} {:8}|'.format(12345.0, 1e20, 1.5) }}", "1.2e+04 1.e+20      1.5|"}, {"{{ '{:f}'.format(2) }}", "2.000000"},
		{"{{ '{} {:d} {:5}'.format(true, true, true) }}", "True 1     1"}, {"{{ '{} {} {}'.format(none, [1, 'a'], nobody) }}", "None [1, 'a'] "}, {"{{ '{:é>3}'.format(1) }}", "éé1"}, {"{{ '{:=+5}'.format(1) }}", "+   1"},
	})
	refused(t, map[string]string{
		"{{ '{}'.format() }}":              "there is no value for {}",
		"{{ '{a}'.format(1) }}":            "there is no value for {a}",
		"{{ '{} {0}'.format(1) }}":         "{} and {0} do not go together",
		"{{ '{'.format(1) }}":              "a { is not closed",
		"{{ '{:'.format(1) }}":             "a { is not closed",
		"{{ '}'.format(1) }}":              "a } stands alone",
		"{{ '{!x}'.format(1) }}":           "!x is no conversion",
		"{{ '{!rr}'.format(1) }}":          "behind ! there is one letter",
		"{{ '{:{:{}}}'.format(1, 2, 3) }}": "braces nest at most two deep",
		"{{ '{:d}'.format('a') }}":         "a string has no such layout",
		"{{ '{:s}'.format(1) }}":           "s is no way to write a whole number",
		"{{ '{:d}'.format(1.5) }}":         "d is no way to write a float",
		"{{ '{:.1d}'.format(1) }}":         "a whole number has no precision",
		"{{ '{:+c}'.format(65) }}":         "a character has no sign",
		"{{ '{:5}'.format(none) }}":        "null has no layout",
		"{{ '{:5x5}'.format(1) }}":         "that is no layout",
		"{{ '{:.}'.format(1.5) }}":         "a precision is missing",
		"{{ '{0.x}'.format(1) }}":          "has no field 'x'",
		"{{ '{0[x]}'.format({}) }}":        "there is no [x] in an object",
		"{{ '{0x]}'.format(1) }}":          "there is no value for {0x]}",
		"{{ '{0[}'.format(1) }}":           "a { is not closed",
		"{{ '{}'.format_map(1) }}":         "mapping must be an object",
	})
}

package jinja

import (
	"strings"
	"unicode"
)

// The classes of characters are Python's.

func isSpace(c rune) bool { return unicode.IsSpace(c) || c >= 0x1c && c <= 0x1f }

func trimSpace(s string) string { return strings.TrimFunc(s, isSpace) }

// isBreak reports whether a character ends a line.
func isBreak(c rune) bool {
	return c >= '\n' && c <= '\r' || c >= 0x1c && c <= 0x1e || c == 0x85 || c == 0x2028 || c == 0x2029
}

func isDecimal(c rune) bool { return unicode.Is(unicode.Nd, c) }

// digitOf returns the value of a decimal digit of any script: they come in runs of ten.
func digitOf(c rune) rune {
	for _, r := range unicode.Nd.R16 {
		if rune(r.Lo) <= c && c <= rune(r.Hi) {
			return (c - rune(r.Lo)) % 10
		}
	}
	for _, r := range unicode.Nd.R32 {
		if rune(r.Lo) <= c && c <= rune(r.Hi) {
			return (c - rune(r.Lo)) % 10
		}
	}
	return 0
}

// raised are the digits that are not decimal: superscripts, subscripts, circled ones, and those of scripts without a zero.
var raised = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0xb2, 0xb3, 1}, {0xb9, 0xb9, 1}, {0x1369, 0x1371, 1}, {0x19da, 0x19da, 1}, {0x2070, 0x2070, 1}, {0x2074, 0x2079, 1},
		{0x2080, 0x2089, 1}, {0x2460, 0x2468, 1}, {0x2474, 0x247c, 1}, {0x2488, 0x2490, 1}, {0x24ea, 0x24ea, 1}, {0x24f5, 0x24fd, 1},
		{0x24ff, 0x24ff, 1}, {0x2776, 0x277e, 1}, {0x2780, 0x2788, 1}, {0x278a, 0x2792, 1},
	},
	R32:         []unicode.Range32{{0x10a40, 0x10a43, 1}, {0x10e60, 0x10e68, 1}, {0x11052, 0x1105a, 1}, {0x1f100, 0x1f10a, 1}},
	LatinOffset: 2,
}

// numerals are the letters that are numbers.
const numerals = "㐅㒃㠪㭍一七万三九二五亖亿什仟仨伍佰億兆兩八六十千卄卅卌叁参參叄四壱壹幺廾廿弌弍弎弐拾捌柒漆玖百肆萬貮貳贰阡陆陌陸零參拾兩零六陸什𠀁𠁤𠃢𠄡𠤪𠦃𠦌𠦜𠫪𠫽𠬙𢎐𢦘𣬛𦉭廾"

func isDigit(c rune) bool        { return isDecimal(c) || unicode.Is(raised, c) }
func isNumeric(c rune) bool      { return unicode.IsNumber(c) || strings.ContainsRune(numerals, c) }
func isAlphanumeric(c rune) bool { return unicode.IsLetter(c) || isNumeric(c) }
func isWord(c rune) bool         { return c == '_' || isAlphanumeric(c) }

// isIdentifier reports whether a string could be a name in Python.
func isIdentifier(s string) bool {
	for i, c := range s {
		begins := c == '_' || unicode.IsLetter(c) || unicode.In(c, unicode.Nl, unicode.Other_ID_Start)
		if !begins && (i == 0 || !unicode.In(c, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue)) {
			return false
		}
	}
	return s != ""
}

// allOf makes a test that all characters of a string, at least one, satisfy.
func allOf(is func(rune) bool) func(string) bool {
	return func(s string) bool {
		return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return !is(c) })
	}
}

// isOneCase makes a test that a string has letters of one case, and none of another.
func isOneCase(is func(rune) bool) func(string) bool {
	return func(s string) bool {
		return strings.ContainsFunc(s, is) && !strings.ContainsFunc(s, func(c rune) bool { return isCased(c) && !is(c) })
	}
}

// isTitle reports whether each run of letters of a string begins with a capital and continues in lower case.
func isTitle(s string) bool {
	before, some := false, false
	for _, c := range s {
		capital := isUpper(c) || unicode.IsTitle(c)
		if capital && before || isLower(c) && !before {
			return false
		}
		before = isCased(c)
		some = some || before
	}
	return some
}

// Package jsontext handles two kinds of text that encoding/json changes: it replaces escapes that name no character, and rounds
// whole numbers that a float64 cannot hold.
package jsontext

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Half returns the offset in valid JSON of the first escape of half a surrogate pair, such as \ud800 without \udc00 after it, or
// -1. Such an escape names no character.
func Half(text []byte) int {
	for i := 0; i < len(text); {
		next := bytes.IndexByte(text[i:], '\\')
		if next < 0 {
			return -1
		}
		i += next
		switch first := escaped(text[i:]); {
		case !utf16.IsSurrogate(first):
			i += len(`\n`)
		case utf16.DecodeRune(first, escaped(text[i+escapeBytes:])) == '\uFFFD':
			return i
		default:
			i += 2 * escapeBytes
		}
	}
	return -1
}

const escapeBytes = len(`\u0000`)

// escaped returns the code of an escape such as \u00e9 at the beginning of text, or -1.
func escaped(text []byte) rune {
	if len(text) < escapeBytes || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	code, err := strconv.ParseUint(string(text[2:escapeBytes]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(code)
}

// Whole returns the value of a decimal number, with a fraction or an exponent, if it is whole and fits into 64 bits. It is exact:
// 9007199254740993.0 is not 9007199254740992.
func Whole(number string) (int64, bool) {
	mantissa, exponent := number, 0
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.Atoi(number[i+1:]); err != nil {
			return 0, false
		}
		mantissa = number[:i]
	}
	digits, negative := strings.CutPrefix(mantissa, "-")
	digits = strings.TrimPrefix(digits, "+")
	before, after, _ := strings.Cut(digits, ".")
	digits = strings.TrimRight(before+after, "0")
	zeros := exponent + len(before) - len(digits)
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		return 0, true
	}
	const most = len("9223372036854775808")
	if zeros < 0 || zeros > most || len(digits)+zeros > most {
		return 0, false
	}
	digits += strings.Repeat("0", zeros)
	if negative {
		digits = "-" + digits
	}
	whole, err := strconv.ParseInt(digits, 10, 64)
	return whole, err == nil
}

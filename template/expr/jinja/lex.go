package jinja

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is that of a token.
type kind uint8

const (
	end kind = iota
	name
	text   // a string literal, unquoted
	number // an integer or a float
	symbol // an operator or a bracket
)

type token struct {
	kind kind
	text string
	at   int // in bytes, within the expression
}

// fault is what is wrong with an expression, and where in it.
type fault struct {
	at  int
	msg string
}

func (f *fault) Error() string { return f.msg }

// symbols, longest first.
var symbols = []string{"**", "//", "==", "!=", "<=", ">=", "&&", "||", "??", "!", "?", "+", "-", "*", "/", "%", "~", "<", ">", "(", ")", "[", "]", "{", "}", ",", ".", ":", "|", "="}

// foreign are symbols that no expression has, but other languages do, and what they are here.
var foreign = map[string]string{"&&": "and", "||": "or", "!": "not", "?": "if", "??": "| default(…)", "=": "=="}

// lex cuts an expression into tokens, the last of which is end.
func lex(src string) ([]token, *fault) {
	var list []token
	for at := 0; ; {
		at += len(src[at:]) - len(strings.TrimLeftFunc(src[at:], unicode.IsSpace))
		if at == len(src) {
			return append(list, token{end, "", at}), nil
		}
		r, _ := utf8.DecodeRuneInString(src[at:])
		var t token
		var size int
		switch {
		case r == '"' || r == '\'':
			s, n, wrong := unquote(src[at:])
			if wrong != "" {
				return nil, &fault{at + n, wrong}
			}
			t, size = token{text, s, at}, n
		case r >= '0' && r <= '9':
			size = digits(src[at:], len(list) > 0 && list[len(list)-1].text == ".")
			t = token{number, strings.ReplaceAll(src[at:at+size], "_", ""), at}
		case r == '_' || unicode.IsLetter(r):
			size = strings.IndexFunc(src[at:], func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			if size < 0 {
				size = len(src) - at
			}
			t = token{name, src[at : at+size], at}
		default:
			for _, s := range symbols {
				if strings.HasPrefix(src[at:], s) {
					t, size = token{symbol, s, at}, len(s)
					break
				}
			}
			if size == 0 {
				return nil, &fault{at, fmt.Sprintf("unexpected %q", r)}
			}
		}
		list = append(list, t)
		at += size
	}
}

// based reports whether a number is one of base 16, 8 or 2.
func based(s string) bool {
	return len(s) > 2 && s[0] == '0' && strings.ContainsRune("xXoObB", rune(s[1]))
}

// digits is the length of the number that s begins with. A dot belongs to it only before a digit, and never where the number
// is an index: a.0.1 is a[0][1].
func digits(s string, index bool) int {
	if index || based(s) {
		size := strings.IndexFunc(s, func(r rune) bool { return r != '_' && !unicode.IsDigit(r) && (index || !unicode.IsLetter(r)) })
		if size < 0 {
			return len(s)
		}
		return size
	}
	i, dot, exp := 0, false, false
	for i < len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9' || c == '_':
		case c == '.' && !dot && !exp && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9':
			dot = true
		case (c == 'e' || c == 'E') && !exp && i+1 < len(s):
			next := strings.TrimLeft(s[i+1:min(i+3, len(s))], "+-")
			if next == "" || next[0] < '0' || next[0] > '9' {
				return i
			}
			exp = true
			if s[i+1] == '+' || s[i+1] == '-' {
				i++
			}
		default:
			return i
		}
		i++
	}
	return i
}

// unquote reads the string literal that s begins with, and its length. On a fault, the length is that up to it.
func unquote(s string) (text string, size int, wrong string) {
	var b strings.Builder
	for i := 1; i < len(s); {
		switch {
		case s[i] == s[0]:
			return b.String(), i + 1, ""
		case s[i] == '\\':
			n, wrong := escape(&b, s[i:])
			if wrong != "" {
				return "", i, wrong
			}
			i += n
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return "", 0, "a string is not closed"
}

// escapes of one letter, as in Python.
var escapes = map[byte]string{
	'n': "\n", 't': "\t", 'r': "\r", 'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v", '\\': "\\", '\'': "'", '"': `"`, '\n': "",
}

// escape writes what the escape sequence means that s begins with, and gives its length. Where the backslash means nothing it
// stays.
func escape(b *strings.Builder, s string) (size int, wrong string) {
	if len(s) < 2 {
		return 0, "a string is not closed"
	}
	digits, base, begin := 0, 16, 2
	switch c := s[1]; c {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	case 'N':
		return 0, `\N{…} is not known: write the character`
	default:
		if text, ok := escapes[c]; ok {
			b.WriteString(text)
			return 2, ""
		}
		if c < '0' || c > '7' {
			b.WriteByte('\\')
			return 1, ""
		}
		base, begin = 8, 1
		for digits < 3 && begin+digits < len(s) && s[begin+digits] >= '0' && s[begin+digits] <= '7' {
			digits++
		}
	}
	size = begin + digits
	if code, err := strconv.ParseUint(s[begin:min(size, len(s))], base, 32); err == nil && size <= len(s) && utf8.ValidRune(rune(code)) {
		b.WriteRune(rune(code))
		return size, ""
	}
	return 0, fmt.Sprintf(`\%c must be followed by %d digits that make a character`, s[1], digits)
}

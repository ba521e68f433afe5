package jinja

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is the kind of a token.
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

func (t token) is(k kind, text string) bool { return t.kind == k && t.text == text }

// fault is an error with its place in an expression.
type fault struct {
	at  int
	msg string
}

func (f *fault) Error() string { return f.msg }

// symbols, longest first.
var symbols = []string{"**", "//", "==", "!=", "<=", ">=", "&&", "||", "??", "!", "?", "+", "-", "*", "/", "%", "~", "<", ">", "(", ")", "[", "]", "{", "}", ",", ".", ":", "|", "="}

// foreign are symbols of other languages, and their equivalents here.
var foreign = map[string]string{"&&": "and", "||": "or", "!": "not", "?": "if", "??": "| default(…)", "=": "=="}

// lex splits an expression into tokens. The last one is end.
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
			size = digits(src[at:], at > 0 && src[at-1] == '.')
			t = token{number, src[at : at+size], at}
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

// The forms of numbers. After a dot there is no float: a.0.1 is a[0][1].
var (
	integerForm = regexp.MustCompile(`^(?i:0b(_?[01])+|0o(_?[0-7])+|0x(_?[0-9a-f])+|[1-9](_?[0-9])*|0(_?0)*)`)
	floatForm   = regexp.MustCompile(`^(?:[0-9]+_)*[0-9]+(?:(?:\.(?:[0-9]+_)*[0-9]+)?[eE][+-]?(?:[0-9]+_)*[0-9]+|\.(?:[0-9]+_)*[0-9]+)`)
)

// digits returns the length of the number at the beginning of s.
func digits(s string, index bool) int {
	if f := floatForm.FindString(s); f != "" && !index {
		return len(f)
	}
	return len(integerForm.FindString(s))
}

// unquote reads the string literal at the beginning of s, and returns its length, or the length up to a fault.
func unquote(s string) (text string, size int, wrong string) {
	var b strings.Builder
	for i := 1; i < len(s); {
		switch {
		case s[i] == '\r':
			b.WriteByte('\n')
			i += lineEnd(s[i:])
		case s[i] == s[0]:
			return b.String(), i + 1, ""
		case s[i] == '\\':
			n, wrong := unescape(&b, s[i:])
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

// lineEnd returns the length of the line end at the beginning of s.
func lineEnd(s string) int {
	if strings.HasPrefix(s, "\r\n") {
		return 2
	}
	return 1
}

// escapes of one letter, as in Python.
var escapes = map[byte]string{
	'n': "\n", 't': "\t", 'r': "\r", 'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v", '\\': "\\", '\'': "'", '"': `"`, '\n': "",
}

// unescape writes the character of the escape sequence at the beginning of s, and returns its length. A backslash without a
// meaning is kept.
func unescape(b *strings.Builder, s string) (size int, wrong string) {
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
	case '\r':
		return 1 + lineEnd(s[1:]), ""
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

package expr

import (
	"fmt"
	"strings"
)

// piece is a part of a string: literal text, or the source of an expression without its braces.
type piece struct {
	text   string
	isExpr bool
	offset int // in bytes, of text within the string
}

// scan splits a string into pieces. An expression ends at the first }} that is not inside a string, a comment or braces of
// its own, so {{ {a: {b: 1}} }} and {{ "}}" }} are valid. A literal {{ is written {{ "{{" }}.
func scan(text string) ([]piece, *Error) {
	var pieces []piece
	at := 0
	for {
		open := strings.Index(text[at:], "{{")
		if open < 0 {
			break
		}
		if open > 0 {
			pieces = append(pieces, piece{text: text[at : at+open], offset: at})
		}
		from := at + open + 2
		size, ok := expressionEnd(text[from:])
		if !ok {
			return nil, &Error{Offset: from - 2, Text: text[from-2:], Msg: fmt.Sprintf("malformed expression %s: it is not closed by }}", Clip(text[from-2:]))}
		}
		if size > MaxLength {
			return nil, &Error{Offset: from - 2, Text: text[from-2 : from+size+2], Msg: fmt.Sprintf("an expression of %d bytes is too long: at most %d are allowed", size, MaxLength)}
		}
		pieces = append(pieces, piece{text: text[from : from+size], isExpr: true, offset: from})
		at = from + size + 2
	}
	if at < len(text) {
		pieces = append(pieces, piece{text: text[at:], offset: at})
	}
	return pieces, nil
}

// expressionEnd returns the length of the expression that s begins with, up to its }}.
func expressionEnd(s string) (int, bool) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch rest := s[i:]; {
		case s[i] == '"' || s[i] == '\'' || s[i] == '`':
			i += quoted(rest) - 1
		case strings.HasPrefix(rest, "/*"):
			i += through(rest, 2, "*/") - 1
		case strings.HasPrefix(rest, "//"):
			i += lineComment(rest) - 1
		case s[i] == '{':
			depth++
		case depth == 0 && strings.HasPrefix(rest, "}}"):
			return i, true
		case s[i] == '}':
			depth = max(0, depth-1) // the parser reports a superfluous brace
		}
	}
	return 0, false
}

// quoted returns the length of the string literal that s begins with, all of s if it is not closed.
func quoted(s string) int {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == quote:
			return i + 1
		case s[i] == '\\' && quote != '`':
			i++
		}
	}
	return len(s)
}

// through returns the length of s up to the end of the first stop at or after from, all of s if there is none.
func through(s string, from int, stop string) int {
	if i := strings.Index(s[from:], stop); i >= 0 {
		return from + i + len(stop)
	}
	return len(s)
}

// lineComment returns the length of a comment that ends with its line, or before the braces that close the expression.
func lineComment(s string) int {
	line := through(s, 2, "\n")
	if i := strings.Index(s[:line], "}}"); i >= 0 {
		return i
	}
	return line
}

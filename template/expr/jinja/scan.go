package jinja

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/sluiceflow/sluice/template/expr"
)

// piece is a part of a string: literal text, or the source of an expression without its braces.
type piece struct {
	text       string
	expression bool
	at         int // of text within the string, in bytes
	from, to   int // of an expression with its braces
}

// scan splits a string into pieces. A dash inside the braces removes the white space on that side of them.
func scan(s string) ([]piece, *fault) {
	var pieces []piece
	plain := func(from, to int) {
		if from < to {
			pieces = append(pieces, piece{text: s[from:to], at: from})
		}
	}
	for at := 0; ; {
		open := at + strings.IndexByte(s[at:], '{')
		for open >= at && open+1 < len(s) && !strings.ContainsRune("{#%", rune(s[open+1])) {
			next := strings.IndexByte(s[open+1:], '{')
			if next < 0 {
				open = at - 1
				break
			}
			open += 1 + next
		}
		if open < at || open+1 >= len(s) {
			plain(at, len(s))
			return pieces, nil
		}
		if s[open+1] == '%' {
			return nil, &fault{open, "statements {% … %} are not read: only expressions {{ … }} are"}
		}
		size, ok := closing(s[open:])
		if !ok {
			return nil, &fault{open, "it is not closed"}
		}
		inner := s[open+2 : open+size-2]
		to, begin := open, open+2
		if strings.HasPrefix(inner, "+") {
			inner, begin = inner[1:], begin+1
		} else if strings.HasPrefix(inner, "-") {
			inner, begin = inner[1:], begin+1
			to = at + len(strings.TrimRightFunc(s[at:open], unicode.IsSpace))
		}
		plain(at, to)
		at = open + size
		if trimmed, ok := strings.CutSuffix(inner, "-"); ok {
			inner = trimmed
			at += len(s[at:]) - len(strings.TrimLeftFunc(s[at:], unicode.IsSpace))
		}
		if s[open+1] == '#' {
			continue
		}
		if len(inner) > expr.MaxLength {
			return nil, &fault{open, fmt.Sprintf("an expression of %d bytes is too long: at most %d are allowed", len(inner), expr.MaxLength)}
		}
		pieces = append(pieces, piece{text: inner, expression: true, at: begin, from: open, to: open + size})
	}
}

// closing returns the length, with its braces, of the expression or comment at the beginning of s. Braces in strings, and
// those of objects, do not close it.
func closing(s string) (int, bool) {
	if s[1] == '#' {
		i := strings.Index(s[2:], "#}")
		return i + 4, i >= 0
	}
	depth := 0
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\'':
			quote := c
			for i++; i < len(s) && s[i] != quote; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		case c == '{':
			depth++
		case c == '}' && depth == 0:
			if i+1 < len(s) && s[i+1] == '}' {
				return i + 2, true
			}
			return 0, false
		case c == '}':
			depth--
		}
	}
	return 0, false
}

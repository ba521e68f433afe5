package keychain

import (
	"cmp"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// viewsMax bounds the nesting of escapes that are undone: JSON in a text of JSON, or in a URL.
const viewsMax = 2

// escapeMax bounds the bytes that one byte of a secret takes in a text, with nested escapes.
const escapeMax = 12

// view is a text with escapes undone.
type view struct {
	text     string
	of       *view    // the text it is a view of; nil: this is the original
	escapes  []escape // undone, in order
	unbroken bool     // lines are joined
}

// escape is an undone escape: its bounds in the view, and in the text below.
type escape struct{ at, end, from, to int } // in the view, and in the text

// at returns the bounds, in the original text, of the source of a part of the view; no part is empty.
func (v *view) at(start, end int) (int, int) {
	if v.of == nil {
		return start, end
	}
	from, _ := v.origin(start)
	_, to := v.origin(end - 1)
	return v.of.at(from, to)
}

// origin returns the bounds, in the text below, of the source of a byte.
func (v *view) origin(at int) (from, to int) {
	next, _ := slices.BinarySearchFunc(v.escapes, at+1, func(e escape, at int) int { return cmp.Compare(e.at, at) })
	if next == 0 {
		return at, at + 1
	}
	last := v.escapes[next-1]
	if at < last.end {
		return last.from, last.to
	}
	at += last.to - last.end
	return at, at + 1
}

// undo is a way to undo escapes: step returns the decoded beginning of a text that starts with one of the bytes, and the
// number of bytes it took; 0: no escape.
type undo struct {
	begin string
	step  func(text string) (string, int)
	joins bool
}

var undos = []undo{
	{`\`, backslash, false},
	{"%", percent, false},
	{"%+", query, false},
	{"&", entity, false},
	{"\r\n", func(string) (string, int) { return "", 1 }, true},
}

// each calls f with a view and all views of it.
func (v *view) each(depth int, f func(*view)) {
	f(v)
	if depth == 0 {
		return
	}
	for _, u := range undos {
		if inner, ok := u.in(v); ok {
			inner.each(depth-1, f)
		}
	}
}

// in returns a view of a view; false if the two are equal.
func (u undo) in(v *view) (*view, bool) {
	out := &view{of: v, unbroken: v.unbroken || u.joins}
	var text strings.Builder
	done := 0
	for i := 0; i < len(v.text); {
		next := strings.IndexAny(v.text[i:], u.begin)
		if next < 0 {
			break
		}
		i += next
		decoded, n := u.step(v.text[i:])
		if n == 0 {
			i++
			continue
		}
		text.WriteString(v.text[done:i])
		out.escapes = append(out.escapes, escape{text.Len(), text.Len() + len(decoded), i, i + n})
		text.WriteString(decoded)
		i += n
		done = i
	}
	if done == 0 {
		return nil, false
	}
	text.WriteString(v.text[done:])
	out.text = text.String()
	return out, true
}

// backslash decodes the escapes of JSON, of Go and of most languages.
func backslash(text string) (string, int) {
	if len(text) < 2 {
		return "", 0
	}
	if i := strings.IndexByte(`nrtbfva"'/\`, text[1]); i >= 0 {
		return "\n\r\t\b\f\v\a\"'/\\"[i : i+1], 2
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[1]]
	n, ok := number(text, 2, digits)
	switch {
	case !ok:
		return "", 0
	case digits == 2:
		return string([]byte{byte(n)}), 4
	case utf16.IsSurrogate(n):
		if low, ok := number(text, 8, 4); ok && strings.HasPrefix(text[6:], `\u`) && utf16.DecodeRune(n, low) != utf8.RuneError {
			return string(utf16.DecodeRune(n, low)), 12
		}
		return "", 0
	}
	return string(n), 2 + digits
}

// number reads hexadecimal digits at a position.
func number(text string, at, digits int) (rune, bool) {
	if digits == 0 || len(text) < at+digits {
		return 0, false
	}
	n, err := strconv.ParseUint(text[at:at+digits], 16, 31)
	return rune(n), err == nil
}

// percent decodes the escapes of a URL, of both cases.
func percent(text string) (string, int) {
	n, ok := number(text, 1, 2)
	if !ok {
		return "", 0
	}
	return string([]byte{byte(n)}), 3
}

// query decodes the escapes of a URL's query, in which a plus is a space.
func query(text string) (string, int) {
	if text[0] == '+' {
		return " ", 1
	}
	return percent(text)
}

// entity decodes the escapes of HTML.
func entity(text string) (string, int) {
	const longest = 10
	end := strings.IndexByte(text[:min(len(text), longest)], ';')
	if end < 0 {
		return "", 0
	}
	decoded := html.UnescapeString(text[:end+1])
	if decoded == text[:end+1] {
		return "", 0
	}
	return decoded, end + 1
}

package page

import (
	"bytes"
	"path"
	"regexp"
	"strings"
)

var (
	styleComment = regexp.MustCompile(`(?s)\s*/\*.*?\*/`)
	styleSpace   = regexp.MustCompile(` *([{};,>]) *|(:) `)
	styleLast    = regexp.MustCompile(`;}`)
)

// lean returns a script or style of ours without the parts for readers of the source: comments, indentation and spaces beside signs.
func lean(name string, raw []byte) []byte {
	ext := path.Ext(name)
	if ext != ".css" && ext != ".js" {
		return raw
	}
	if ext == ".css" {
		raw = styleSpace.ReplaceAll(styleComment.ReplaceAll(raw, nil), []byte("$1$2"))
	}
	var b bytes.Buffer
	for line := range bytes.Lines(raw) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 {
			b.Write(append(line, '\n'))
		}
	}
	if ext == ".css" {
		return styleLast.ReplaceAll(b.Bytes(), []byte("}"))
	}
	s := script{text: b.Bytes()}
	for s.at < len(s.text) {
		s.next()
	}
	return s.out
}

// script is the text of a script while the spaces beside its signs are left out. Line ends stay where they may end statements.
type script struct {
	text []byte
	at   int
	out  []byte
	open []byte // braces: '{' of code, '$' of a value in a template
}

// next takes a token, or a template up to a value in it.
func (s *script) next() {
	switch c := s.text[s.at]; {
	case c == '"' || c == '\'':
		s.until(c)
	case c == '/' && s.text[s.at+1] == '/':
		s.at += bytes.IndexByte(s.text[s.at:], '\n')
	case c == '/' && s.beginsPattern():
		s.pattern()
	case c == '`':
		s.take(1)
		s.template()
	case c == '{':
		s.open = append(s.open, c)
		s.take(1)
	case c == '}' && len(s.open) > 0:
		value := s.open[len(s.open)-1] == '$'
		s.open = s.open[:len(s.open)-1]
		s.take(1)
		if value {
			s.template()
		}
	case (c == ' ' || c == '\n') && s.canOmit():
		s.at++
	default:
		s.take(1)
	}
}

func (s *script) take(n int) {
	s.out = append(s.out, s.text[s.at:s.at+n]...)
	s.at += n
}

// until takes a text that ends with a mark.
func (s *script) until(end byte) {
	s.take(1)
	for s.text[s.at] != end {
		if s.text[s.at] == '\\' {
			s.take(1)
		}
		s.take(1)
	}
	s.take(1)
}

// pattern takes a regular expression, in which a slash may stand within brackets.
func (s *script) pattern() {
	for within := false; ; {
		s.take(1)
		switch s.text[s.at] {
		case '\\':
			s.take(1)
		case '[':
			within = true
		case ']':
			within = false
		case '/':
			if !within {
				s.take(1)
				return
			}
		}
	}
}

// template takes the text of a template up to its end or its next value.
func (s *script) template() {
	for {
		switch c := s.text[s.at]; {
		case c == '\\':
			s.take(2)
		case c == '`':
			s.take(1)
			return
		case c == '$' && s.text[s.at+1] == '{':
			s.open = append(s.open, '$')
			s.take(2)
			return
		default:
			s.take(1)
		}
	}
}

// beginsPattern reports whether a slash begins a regular expression: it does at the beginning, and after signs that end no value in our
// modules; behind a brace or at the beginning of a line none of them divides.
func (s *script) beginsPattern() bool {
	before := bytes.TrimRight(s.out, " ")
	return len(before) == 0 || strings.IndexByte("(,=:[!&|?{};\n>", before[len(before)-1]) >= 0
}

// canOmit reports whether the space or line end at hand can be left out: a space beside a sign that means the same without it, or a line
// end after a sign that ends no statement.
func (s *script) canOmit() bool {
	if len(s.out) == 0 || s.at+1 == len(s.text) {
		return true
	}
	before, after := s.out[len(s.out)-1], s.text[s.at+1]
	if s.text[s.at] == '\n' {
		return strings.IndexByte("{;,\n", before) >= 0
	}
	const signs = "(){}[],;:?=<>&|!*\n"
	if strings.IndexByte(signs+"+-", before) >= 0 && strings.IndexByte("+-", after) < 0 {
		return true
	}
	return strings.IndexByte(signs, before) >= 0 || strings.IndexByte(signs, after) >= 0 || strings.IndexByte("+-", after) >= 0 && strings.IndexByte("+-", before) < 0
}

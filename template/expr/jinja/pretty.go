package jinja

import (
	"strings"
	"unicode/utf8"
)

// prettyWidth is the width of a line.
const prettyWidth = 80

// pretty formats a value as Python's pprint does: on one line if it fits, otherwise with a line for each element.
func pretty(r *run, v any, _ args) (any, error) {
	if _, err := r.weigh(v); err != nil {
		return nil, err
	}
	p := &printer{writer{run: r}}
	p.print(v, 0, 0, 1)
	return p.String(), p.err
}

type printer struct{ writer }

// one returns a value on one line.
func (p *printer) one(v any) string {
	w := &writer{run: p.run}
	if w.repr(v); w.err != nil && p.err == nil {
		p.err = w.err
	}
	return w.String()
}

// print writes a value that begins at a column and is followed by allowance characters.
func (p *printer) print(v any, column, allowance, level int) {
	line := p.one(v)
	if p.err != nil || utf8.RuneCountInString(line) <= prettyWidth-column-allowance {
		p.put(line)
		return
	}
	switch v := v.(type) {
	case string:
		p.text(v, column, allowance, level)
		return
	case []any:
		p.elements("[", v, "]", column, allowance, level)
		return
	case tuple:
		end := ")"
		if len(v) == 1 {
			end = ",)"
		}
		p.elements("(", v, end, column, allowance, level)
		return
	}
	m, ok := mappingOf(v)
	if !ok {
		p.put(line)
		return
	}
	p.put("{")
	entries := m.entries()
	for i, e := range entries {
		after := 1
		if i > 0 {
			p.put(",")
			p.line(column + 1)
		}
		if i == len(entries)-1 {
			after = allowance + 1
		}
		key := p.one(e.key)
		p.put(key, ": ")
		p.print(e.value, column+1+utf8.RuneCountInString(key)+2, after, level+1)
	}
	p.put("}")
}

// line begins a line at a column.
func (p *printer) line(column int) {
	text, err := p.run.pad("\n", " ", 0, column)
	if err != nil && p.err == nil {
		p.err = err
	}
	p.put(text)
}

func (p *printer) elements(begin string, list []any, end string, column, allowance, level int) {
	p.put(begin)
	for i, x := range list {
		after := 1
		if i > 0 {
			p.put(",")
			p.line(column + 1)
		}
		if i == len(list)-1 {
			after = allowance + len(end)
		}
		p.print(x, column+1, after, level+1)
	}
	p.put(end)
}

// text writes a string that is too long for a line as several, one below the other.
func (p *printer) text(s string, column, allowance, level int) {
	if level == 1 {
		column++
		allowance++
	}
	parts := p.parts(s, prettyWidth-column, allowance)
	if level == 1 && len(parts) > 1 {
		p.put("(")
	}
	for i, part := range parts {
		if i > 0 {
			p.line(column)
		}
		p.put(part)
	}
	if level == 1 && len(parts) > 1 {
		p.put(")")
	}
}

// parts splits a string at line ends and, if the lines exceed a width, between words.
func (p *printer) parts(s string, width, allowance int) []string {
	var out []string
	all, err := p.run.lines(s, true)
	if p.err == nil {
		p.err = err
	}
	for i, line := range all {
		least := width
		if i == len(all)-1 {
			least -= allowance
		}
		if whole := p.one(line); utf8.RuneCountInString(whole) <= least {
			out = append(out, whole)
			continue
		}
		current, words := "", wordsOf(line)
		for j, word := range words {
			most := width
			if j == len(words)-1 && i == len(all)-1 {
				most -= allowance
			}
			if utf8.RuneCountInString(p.one(current+word)) <= most {
				current += word
				continue
			}
			if current != "" {
				out = append(out, p.one(current))
			}
			current = word
		}
		if current != "" {
			out = append(out, p.one(current))
		}
	}
	return out
}

// wordsOf splits a text after white space.
func wordsOf(s string) []string {
	var out []string
	for s != "" {
		rest := strings.TrimLeftFunc(strings.TrimLeftFunc(s, func(c rune) bool { return !isSpace(c) }), isSpace)
		out = append(out, s[:len(s)-len(rest)])
		s = rest
	}
	return out
}

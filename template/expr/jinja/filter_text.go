package jinja

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// titled implements the filter title, which differs from the method in the beginnings of words: it's becomes It's.
func titled(r *run, v any, _ args) (any, error) {
	s, err := r.text(v)
	if err != nil {
		return nil, err
	}
	if err := r.grow(3 * len(s)); err != nil {
		return nil, err
	}
	var b strings.Builder
	runes, begins := []rune(s), true
	word := 0
	for i, c := range runes {
		separates := isSpace(c) || strings.ContainsRune("-({[<", c)
		switch {
		case separates:
			b.WriteRune(c)
			word = i + 1
		case begins:
			b.WriteString(upperOf(c))
			word = i + 1
		default:
			b.WriteString(lowerAt(runes[word:], i-word, c))
		}
		begins = separates
	}
	return b.String(), nil
}

func centered(r *run, v any, a args) (any, error) {
	s, err := r.text(v)
	if err != nil {
		return nil, err
	}
	width, ok := a.at(0, "width")
	if !ok {
		width = int64(80)
	}
	return textMethods["center"].do(r, s, args{list: []any{width}})
}

func textOf(v any) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("it needs a string, not %s", describe(v))
	}
	return s, nil
}

// indent puts a width of spaces, or a text, before each line but the first, and before empty ones only if blank is true.
func indent(r *run, v any, a args) (any, error) {
	s, err := textOf(v)
	if err != nil {
		return nil, err
	}
	margin, _ := a.at(0, "width")
	by, ok := margin.(string)
	if !ok {
		width, err := a.size(0, "width", 4)
		if err != nil {
			return nil, err
		}
		if by, err = r.pad("", " ", 0, width); err != nil {
			return nil, err
		}
	}
	lines, err := r.lines(s+"\n", false)
	if err != nil {
		return nil, err
	}
	w := &writer{run: r}
	for i, line := range lines {
		if i > 0 {
			w.put("\n")
		}
		if i == 0 && a.flag(1, "first") || i > 0 && (line != "" || a.flag(2, "blank")) {
			w.put(by)
		}
		w.put(line)
	}
	return w.String(), w.err
}

// truncate shortens a text to a length, with some leeway, at the end of a word unless killwords is true.
func truncate(r *run, v any, a args) (any, error) {
	length, err := a.integer(0, "length", 255)
	if err != nil {
		return nil, err
	}
	end, err := a.text(2, "end", "...")
	if err != nil {
		return nil, err
	}
	leeway := int64(5)
	if _, ok := a.given(3, "leeway"); ok {
		if leeway, err = a.integer(3, "leeway", 5); err != nil {
			return nil, err
		}
	}
	tail := int64(utf8.RuneCountInString(end))
	if length < tail || leeway < 0 {
		return nil, fmt.Errorf("length must be %d or more, and leeway not below 0", tail)
	}
	size, ok := sizeOf(v)
	if !ok {
		return nil, fmt.Errorf("%s has no length", describe(v))
	}
	if int64(size)-leeway <= length {
		return v, nil
	}
	s, err := textOf(v)
	if err != nil {
		return nil, err
	}
	s = string([]rune(s)[:length-tail])
	if i := strings.LastIndexByte(s, ' '); i >= 0 && !a.flag(1, "killwords") {
		s = s[:i]
	}
	return r.concat(s, end)
}

func wordCount(r *run, v any, _ args) (any, error) {
	s, err := r.text(v)
	if err != nil {
		return nil, err
	}
	words, before := int64(0), false
	for _, c := range s {
		now := isWord(c)
		if now && !before {
			words++
		}
		before = now
	}
	return words, r.spend(len(s) / 8)
}

// formatted implements the filter format: '%s: %d' | format(a, b), or by name, '%(a)s' | format(a=1).
func formatted(r *run, v any, a args) (any, error) {
	s, err := r.text(v)
	switch {
	case err != nil:
		return nil, err
	case len(a.list) > 0 && len(a.names) > 0:
		return nil, errors.New("it takes what it puts in by place or by name, and not both")
	case len(a.names) == 0:
		return r.percent(s, tuple(a.list))
	}
	values, err := newDict(r, nil, a)
	if err != nil {
		return nil, err
	}
	return r.percent(s, values)
}

package jinja

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// wordWrap breaks the lines of a text that exceed a width, between words, after hyphens, and otherwise within words.
func wordWrap(r *run, v any, a args) (any, error) {
	s, err := textOf(v)
	if err != nil {
		return nil, err
	}
	by, given := a.given(2, "wrapstring")
	separator, isText := by.(string)
	switch {
	case !given:
		separator = "\n"
	case !isText:
		return nil, fmt.Errorf("wrapstring must be a string, not %s", describe(by))
	}
	width, err := a.integer(0, "width", 79)
	if err != nil {
		return nil, err
	}
	breaks, given := a.at(1, "break_long_words")
	hyphens, also := a.at(3, "break_on_hyphens")
	wrapper := &wrapper{int(min(width, math.MaxInt32)), !given || truth(breaks), !also || truth(hyphens)}
	lines, err := r.lines(s, false)
	if err != nil {
		return nil, err
	}
	w := &writer{run: r}
	for i, line := range lines {
		if width <= 0 {
			return nil, fmt.Errorf("width must be more than 0, not %d", width)
		}
		if err := r.room(len(line) + 1); err != nil {
			return nil, err
		}
		if i > 0 {
			w.put(separator)
		}
		for j, part := range wrapper.wrap([]rune(line)) {
			if j > 0 {
				w.put(separator)
			}
			w.put(part)
		}
	}
	return w.String(), w.err
}

// wrapper breaks lines.
type wrapper struct {
	width        int
	breaks       bool // words that are longer than a line
	afterHyphens bool
}

// wrap breaks one line. White space at a break is dropped.
func (w *wrapper) wrap(text []rune) []string {
	var done []string
	chunks := w.chunks(text)
	slices.Reverse(chunks)
	for len(chunks) > 0 {
		var line [][]rune
		size := 0
		if len(done) > 0 && isBlank(chunks[len(chunks)-1]) {
			chunks = chunks[:len(chunks)-1]
		}
		for len(chunks) > 0 && size+len(chunks[len(chunks)-1]) <= w.width {
			next := chunks[len(chunks)-1]
			chunks, line, size = chunks[:len(chunks)-1], append(line, next), size+len(next)
		}
		if n := len(chunks) - 1; n >= 0 && len(chunks[n]) > w.width {
			switch {
			case w.breaks:
				end := w.within(chunks[n], w.width-size)
				line, chunks[n] = append(line, chunks[n][:end]), chunks[n][end:]
			case len(line) == 0:
				line, chunks = append(line, chunks[n]), chunks[:n]
			}
		}
		if len(line) > 0 && isBlank(line[len(line)-1]) {
			line = line[:len(line)-1]
		}
		if len(line) > 0 {
			done = append(done, string(slices.Concat(line...)))
		}
	}
	return done
}

// within returns the number of characters of a long word that fit into the rest of a line: up to the last hyphen in them, if
// there is one.
func (w *wrapper) within(word []rune, left int) int {
	if !w.afterHyphens {
		return left
	}
	for i := left - 1; i > 0; i-- {
		if word[i] == '-' {
			if slices.ContainsFunc(word[:i], func(c rune) bool { return c != '-' }) {
				return i + 1
			}
			break
		}
	}
	return left
}

func isBlank(word []rune) bool {
	return !slices.ContainsFunc(word, func(c rune) bool { return !isSpace(c) })
}

// chunks splits a line into white space and words, and splits words around hyphens and dashes:
//
//	Look, goof-ball -- use it    Look, │ │ goof- │ ball │ │ -- │ │ use │ │ it
func (w *wrapper) chunks(text []rune) [][]rune {
	after := make([]int, len(text)+1) // number of hyphens that begin at an index
	after[len(text)] = len(text)
	for i := len(text) - 1; i >= 0; i-- {
		if after[i] = i; text[i] == '-' {
			after[i] = after[i+1]
		}
	}
	var list [][]rune
	for i := 0; i < len(text); {
		end := i + 1
		switch {
		case isBlankASCII(text[i]):
			for end < len(text) && isBlankASCII(text[end]) {
				end++
			}
		case w.afterHyphens && isDash(text, after, i):
			end = after[i]
		default:
			for end < len(text) && !isBlankASCII(text[end]) {
				if w.afterHyphens && isHyphen(text, end) {
					end++
					break
				}
				if w.afterHyphens && isDash(text, after, end) {
					break
				}
				end++
			}
		}
		list = append(list, text[i:end])
		i = end
	}
	return list
}

func isBlankASCII(c rune) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// isDash reports whether there are two hyphens or more between words at a place.
func isDash(text []rune, after []int, i int) bool {
	end := after[i]
	return end-i >= 2 && end < len(text) && isWord(text[end]) && i > 0 && (isWord(text[i-1]) || strings.ContainsRune(`!"'&.,?`, text[i-1]))
}

// isHyphen reports whether there is a hyphen within a word at a place: between two letters or more.
func isHyphen(text []rune, i int) bool {
	letter := func(i int) bool { return i >= 0 && i < len(text) && isWord(text[i]) && !isDecimal(text[i]) }
	hyphen := func(i int) bool { return i >= 0 && i < len(text) && text[i] == '-' }
	return hyphen(i) && letter(i-1) && (letter(i-2) || hyphen(i-2) && letter(i-3)) &&
		letter(i+1) && (letter(i+2) || hyphen(i+2) && letter(i+3))
}

package jinja

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// textMethods are the methods of strings.
var textMethods = map[string]callable{
	"lower": changed(lower), "upper": changed(upper), "title": changed(title), "capitalize": changed(capitalize),
	"swapcase": changed(swapcase), "casefold": changed(casefold),

	"isalnum": asked(allOf(isAlphanumeric)), "isalpha": asked(allOf(unicode.IsLetter)), "isdecimal": asked(allOf(isDecimal)),
	"isdigit": asked(allOf(isDigit)), "isnumeric": asked(allOf(isNumeric)), "isspace": asked(allOf(isSpace)), "isascii": asked(isASCII),
	"isidentifier": asked(isIdentifier), "islower": asked(isOneCase(isLower)), "isupper": asked(isOneCase(isUpper)), "istitle": asked(isTitle),
	"isprintable": asked(func(s string) bool { return s == "" || allOf(unicode.IsPrint)(s) }),

	"strip": stripped(strings.TrimFunc), "lstrip": stripped(strings.TrimLeftFunc), "rstrip": stripped(strings.TrimRightFunc),
	"removeprefix": without(strings.TrimPrefix), "removesuffix": without(strings.TrimSuffix),
	"center": padded(func(gap, width int) int { return gap/2 + gap&width&1 }),
	"ljust":  padded(func(int, int) int { return 0 }), "rjust": padded(func(gap, _ int) int { return gap }),
	"zfill": placed(1, zeroFill, "width"), "expandtabs": takes(0, expandTabs, "tabsize"),

	"split": takes(0, split, "sep", "maxsplit"), "rsplit": takes(0, splitFromEnd, "sep", "maxsplit"),
	"splitlines": takes(0, splitLines, "keepends"),
	"partition":  parted(strings.Index, false), "rpartition": parted(strings.LastIndex, true),
	"join": placed(1, joinMethod, "iterable"), "replace": placed(2, replace, "old", "new", "count"),
	"format": free(formatMethod), "format_map": placed(1, formatMap, "mapping"),
	"translate": placed(1, translate, "table"), "maketrans": placed(1, makeTable, "x", "y", "z"),

	"startswith": begins(strings.HasPrefix), "endswith": begins(strings.HasSuffix),
	"find": sought(strings.Index, false), "rfind": sought(strings.LastIndex, false),
	"index": sought(strings.Index, true), "rindex": sought(strings.LastIndex, true),
	"count": placed(1, countParts, "sub", "start", "stop"),
}

// changed makes a method of a conversion of texts; a letter may become three.
func changed(f func(string) string) callable {
	return plain(func(r *run, v any, _ args) (any, error) {
		s := v.(string)
		if err := r.grow(len(s)); err != nil {
			return nil, err
		}
		return f(s), r.spend(len(s) / 8)
	})
}

func asked(f func(string) bool) callable {
	return plain(func(r *run, v any, _ args) (any, error) { return f(v.(string)), r.spend(len(v.(string)) / 8) })
}

func stripped(cut func(s string, in func(rune) bool) string) callable {
	return placed(0, func(r *run, v any, a args) (any, error) {
		s := v.(string)
		if _, ok := a.given(0, "chars"); !ok {
			return cut(s, isSpace), nil
		}
		set, err := a.must(0, "chars")
		if err != nil {
			return nil, err
		}
		if err := r.spend((len(s) + len(set)) / 8); err != nil { // each character is looked up
			return nil, err
		}
		in := map[rune]bool{}
		for _, c := range set {
			in[c] = true
		}
		return cut(s, func(c rune) bool { return in[c] }), nil
	}, "chars")
}

func without(cut func(s, part string) string) callable {
	return placed(1, func(_ *run, v any, a args) (any, error) {
		part, err := a.must(0, "part")
		return cut(v.(string), part), err
	}, "part")
}

// padded makes a method that pads a text to a width; before returns the part of the padding before the text.
func padded(before func(gap, width int) int) callable {
	return placed(1, func(r *run, v any, a args) (any, error) {
		width, err := a.size(0, "width", 0)
		if err != nil {
			return nil, err
		}
		fill, err := a.text(1, "fillchar", " ")
		if err != nil {
			return nil, err
		}
		if utf8.RuneCountInString(fill) != 1 {
			return nil, fmt.Errorf("fillchar must be one character, not %s", brief(fill))
		}
		s := v.(string)
		gap := max(width-utf8.RuneCountInString(s), 0)
		return r.pad(s, fill, before(gap, width), gap)
	}, "width", "fillchar")
}

// pad adds gap fill characters to a text, before of them before it.
func (r *run) pad(s, fill string, before, gap int) (string, error) {
	if err := r.grow(len(s) + gap*len(fill)); err != nil {
		return "", err
	}
	return strings.Repeat(fill, before) + s + strings.Repeat(fill, gap-before), nil
}

func zeroFill(r *run, v any, a args) (any, error) {
	width, err := a.size(0, "width", 0)
	if err != nil {
		return nil, err
	}
	s, sign := v.(string), ""
	gap := max(width-utf8.RuneCountInString(s), 0)
	if s != "" && (s[0] == '+' || s[0] == '-') {
		sign, s = s[:1], s[1:]
	}
	s, err = r.pad(s, "0", gap, gap)
	return sign + s, err
}

func expandTabs(r *run, v any, a args) (any, error) {
	size, err := a.size(0, "tabsize", 8)
	if err != nil {
		return nil, err
	}
	w, column := &writer{run: r}, 0
	for _, c := range v.(string) {
		switch {
		case c == '\t' && size > 0:
			gap, err := r.pad("", " ", 0, size-column%size)
			if err != nil {
				return nil, err
			}
			w.put(gap)
			column += len(gap)
			continue
		case c == '\t':
			continue
		case c == '\n' || c == '\r':
			column = -1
		}
		w.put(string(c))
		column++
	}
	return w.String(), w.err
}

func joinMethod(r *run, v any, a args) (any, error) {
	list, err := r.elements(a.list[0])
	if err != nil {
		return nil, err
	}
	for _, x := range list {
		if _, ok := x.(string); !ok {
			return nil, fmt.Errorf("it joins strings, not %s: the filter of that name joins anything", describe(x))
		}
	}
	return joined(r, list, args{list: []any{v}})
}

// replaced implements the filter replace, which converts its arguments to texts.
func replaced(r *run, v any, a args) (any, error) {
	s, err := r.text(v)
	if err != nil {
		return nil, err
	}
	texts := make([]any, 2)
	for i, name := range []string{"old", "new"} {
		x, _ := a.at(i, name)
		if texts[i], err = r.text(x); err != nil {
			return nil, err
		}
	}
	if n, ok := a.given(2, "count"); ok {
		texts = append(texts, n)
	}
	return replace(r, s, args{list: texts})
}

func replace(r *run, v any, a args) (any, error) {
	s := v.(string)
	old, err := a.must(0, "old")
	if err != nil {
		return nil, err
	}
	by, err := a.must(1, "new")
	if err != nil {
		return nil, err
	}
	most, err := a.integer(2, "count", -1)
	if err != nil {
		return nil, err
	}
	times := strings.Count(s, old)
	if most >= 0 {
		times = int(min(int64(times), most))
	}
	if err := r.times(int64(times), len(by)); err != nil {
		return nil, err
	}
	return strings.Replace(s, old, by, times), r.grow(len(s))
}

// makeTable makes a table for translate from one argument, an object of characters; from two texts of corresponding
// characters; or with a third text, whose characters are removed.
func makeTable(r *run, _ any, a args) (any, error) {
	var entries []entry
	if len(a.list) == 1 {
		m, ok := mappingOf(a.list[0])
		if !ok {
			return nil, fmt.Errorf("a table is made of an object, or of two strings, not of %s", describe(a.list[0]))
		}
		pairs, err := r.pairs(m)
		if err != nil {
			return nil, err
		}
		for _, e := range pairs {
			if s, ok := e.key.(string); ok {
				if utf8.RuneCountInString(s) != 1 {
					return nil, fmt.Errorf("a table has single characters, not %s", brief(s))
				}
				e.key = int64([]rune(s)[0])
			}
			entries = append(entries, e)
		}
		return r.object(entries)
	}
	var texts [3][]rune
	for i := range a.list {
		s, err := a.must(i, []string{"x", "y", "z"}[i])
		if err != nil {
			return nil, err
		}
		texts[i] = []rune(s)
	}
	if len(texts[0]) != len(texts[1]) {
		return nil, errors.New("the two strings must be of the same length")
	}
	for i, c := range texts[0] {
		entries = append(entries, entry{int64(c), int64(texts[1][i])})
	}
	for _, c := range texts[2] {
		entries = append(entries, entry{int64(c), nil})
	}
	return r.object(entries)
}

// translate replaces characters by a table from makeTable.
func translate(r *run, v any, a args) (any, error) {
	table, ok := mappingOf(a.list[0])
	if !ok {
		return nil, fmt.Errorf("table must be an object, not %s", describe(a.list[0]))
	}
	w := &writer{run: r}
	for _, c := range v.(string) {
		to, ok := table.at(int64(c))
		if !ok {
			to = int64(c)
		}
		switch to := to.(type) {
		case nil:
		case string:
			w.put(to)
		case int64:
			if !utf8.ValidRune(rune(to)) || to != int64(rune(to)) {
				return nil, fmt.Errorf("%d is no character", to)
			}
			w.put(string(rune(to)))
		default:
			return nil, fmt.Errorf("a table leads to characters, not to %s", describe(to))
		}
	}
	return w.String(), w.err
}

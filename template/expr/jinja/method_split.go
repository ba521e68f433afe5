package jinja

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
)

// parted makes a method that splits a text into the parts before and after a separator, and the separator.
func parted(at func(s, sep string) int, last bool) callable {
	return placed(1, func(r *run, v any, a args) (any, error) {
		sep, err := a.must(0, "sep")
		if err != nil {
			return nil, err
		}
		if sep == "" {
			return nil, errors.New("sep must not be empty")
		}
		s := v.(string)
		switch i := at(s, sep); {
		case i >= 0:
			return tuple{s[:i], sep, s[i+len(sep):]}, r.room(3)
		case last:
			return tuple{"", "", s}, r.room(3)
		}
		return tuple{s, "", ""}, r.room(3)
	}, "sep")
}

// lines splits a text into lines, which include their ends if kept is true.
func (r *run) lines(s string, kept bool) ([]string, error) {
	n := 1
	for _, c := range s {
		if isBreak(c) {
			n++
		}
	}
	if err := r.room(n + len(s)/64); err != nil {
		return nil, err
	}
	out := make([]string, 0, n)
	for s != "" {
		i := strings.IndexFunc(s, isBreak)
		if i < 0 {
			out = append(out, s)
			break
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		if strings.HasPrefix(s[i:], "\r\n") {
			size = 2
		}
		if kept {
			out = append(out, s[:i+size])
		} else {
			out = append(out, s[:i])
		}
		s = s[i+size:]
	}
	return out, nil
}

func splitLines(r *run, v any, a args) (any, error) {
	texts, err := r.lines(v.(string), a.flag(0, "keepends"))
	if err == nil {
		err = r.room(len(texts))
	}
	return anyOf(texts), err
}

func anyOf(texts []string) []any {
	list := make([]any, len(texts))
	for i, s := range texts {
		list[i] = s
	}
	return list
}

func split(r *run, v any, a args) (any, error) {
	s, separator, most, err := r.splitting(v, a)
	switch {
	case err != nil:
		return nil, err
	case separator == "":
		return anyOf(fields(s, most)), nil
	}
	return anyOf(strings.SplitN(s, separator, most+1)), nil
}

// splitFromEnd is split with cuts counted from the end.
func splitFromEnd(r *run, v any, a args) (any, error) {
	s, separator, most, err := r.splitting(v, a)
	if err != nil {
		return nil, err
	}
	var parts []string
	if separator == "" {
		parts = fieldsFromEnd(s, most)
	} else {
		for i := 0; len(parts) < most; s = s[:i] {
			if i = strings.LastIndex(s, separator); i < 0 {
				break
			}
			parts = append(parts, s[i+len(separator):])
		}
		parts = append(parts, s)
	}
	slices.Reverse(parts)
	return anyOf(parts), nil
}

// splitting reads the arguments of split: a separator, "" for white space, and the maximum number of cuts.
func (r *run) splitting(v any, a args) (s, separator string, most int, err error) {
	s = v.(string)
	if _, ok := a.given(0, "sep"); ok {
		if separator, err = a.must(0, "sep"); err == nil && separator == "" {
			err = errors.New("sep must not be empty")
		}
		if err != nil {
			return "", "", 0, err
		}
	}
	n, err := a.integer(1, "maxsplit", -1)
	if n < 0 || n > int64(len(s)) {
		n = int64(len(s))
	}
	if err == nil {
		err = r.room(len(s) + 1)
	}
	return s, separator, int(n), err
}

// fields splits a text at white space, at most most times; the rest is kept unchanged.
func fields(s string, most int) []string {
	var parts []string
	for s = strings.TrimLeftFunc(s, isSpace); s != ""; s = strings.TrimLeftFunc(s, isSpace) {
		i := strings.IndexFunc(s, isSpace)
		if i < 0 || len(parts) == most {
			return append(parts, s)
		}
		parts, s = append(parts, s[:i]), s[i:]
	}
	return parts
}

// fieldsFromEnd is fields with cuts counted from the end.
func fieldsFromEnd(s string, most int) []string {
	var parts []string
	for s = strings.TrimRightFunc(s, isSpace); s != ""; s = strings.TrimRightFunc(s, isSpace) {
		i := strings.LastIndexFunc(s, isSpace)
		if i < 0 || len(parts) == most {
			return append(parts, s)
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		parts, s = append(parts, s[i+size:]), s[:i]
	}
	return parts
}

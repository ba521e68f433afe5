package jinja

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// part returns the part of a text between the arguments start and stop, and the number of characters before it. It reports
// false if they are beyond its end.
func (a args) part(s string, i int) (part string, before int, ok bool, err error) {
	if _, start := a.given(i, "start"); !start {
		if _, stop := a.given(i+1, "stop"); !stop {
			return s, 0, true, nil
		}
	}
	runes := []rune(s)
	from, to, err := a.within(i, len(runes))
	if err != nil || from > len(runes) || from > to {
		return "", 0, false, err
	}
	return string(runes[from:to]), from, true, nil
}

// sought makes a method that returns the position of a part; with must, a missing part is an error.
func sought(at func(s, part string) int, must bool) callable {
	return placed(1, func(r *run, v any, a args) (any, error) {
		sub, err := a.must(0, "sub")
		if err != nil {
			return nil, err
		}
		s, before, ok, err := a.part(v.(string), 1)
		if err != nil {
			return nil, err
		}
		i := -1
		if ok {
			i = at(s, sub)
		}
		switch {
		case i >= 0:
			return int64(before + utf8.RuneCountInString(s[:i])), r.scan(len(s))
		case must:
			return nil, fmt.Errorf("%s is not in it", brief(sub))
		}
		return int64(-1), nil
	}, "sub", "start", "stop")
}

func countParts(_ *run, v any, a args) (any, error) {
	sub, err := a.must(0, "sub")
	if err != nil {
		return nil, err
	}
	s, _, ok, err := a.part(v.(string), 1)
	if !ok || err != nil {
		return int64(0), err
	}
	return int64(strings.Count(s, sub)), nil
}

// begins makes a method that tests for a part, or one of a tuple of parts, at one end.
func begins(has func(s, part string) bool) callable {
	return placed(1, func(r *run, v any, a args) (any, error) {
		s, _, ok, err := a.part(v.(string), 1)
		if err != nil {
			return nil, err
		}
		parts, several := a.list[0].(tuple)
		if !several {
			parts = tuple{a.list[0]}
		}
		for _, p := range parts {
			if err := r.touch(p); err != nil {
				return nil, err
			}
			part, isText := p.(string)
			if !isText {
				return nil, fmt.Errorf("it must be a string or a tuple of strings, not %s", describe(p))
			}
			if ok && has(s, part) {
				return true, nil
			}
		}
		return false, nil
	}, "part", "start", "stop")
}

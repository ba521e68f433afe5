package jinja

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// tests by name: what may follow `is`. Those that are named after an operator are for select and its like.
var (
	tests = map[string]callable{
		"defined":     kindOf(func(v any) bool { _, missing := v.(undefined); return !missing }),
		"undefined":   kindOf(func(v any) bool { _, missing := v.(undefined); return missing }),
		"none":        kindOf(func(v any) bool { return v == nil }),
		"true":        kindOf(func(v any) bool { return v == true }),
		"false":       kindOf(func(v any) bool { return v == false }),
		"boolean":     kindOf(func(v any) bool { _, ok := v.(bool); return ok }),
		"number":      kindOf(func(v any) bool { _, ok := float(v); return ok }),
		"integer":     kindOf(func(v any) bool { _, ok := v.(int64); return ok }),
		"float":       kindOf(func(v any) bool { _, ok := v.(float64); return ok }),
		"string":      kindOf(func(v any) bool { _, ok := v.(string); return ok }),
		"mapping":     kindOf(func(v any) bool { _, ok := v.(map[string]any); return ok }),
		"sequence":    kindOf(isGoneThrough),
		"iterable":    kindOf(isGoneThrough),
		"lower":       cased(strings.ToLower),
		"upper":       cased(strings.ToUpper),
		"even":        divides(2, 0),
		"odd":         divides(2, 1),
		"divisibleby": takes(1, divisible, "num"),
		"in":          compares("in"),
		"eq":          compares("=="), "equalto": compares("=="), "==": compares("=="),
		"ne": compares("!="), "!=": compares("!="),
		"lt": compares("<"), "lessthan": compares("<"), "<": compares("<"), "le": compares("<="), "<=": compares("<="),
		"gt": compares(">"), "greaterthan": compares(">"), ">": compares(">"), "ge": compares(">="), ">=": compares(">="),
	}
	testNames = slices.Sorted(maps.Keys(tests))
)

func kindOf(f func(v any) bool) callable {
	return plain(func(_ *run, v any, _ args) (any, error) { return f(v), nil })
}

// cased tests that a text is as to makes it, and has letters.
func cased(to func(string) string) callable {
	return plain(func(r *run, v any, _ args) (any, error) {
		s, err := r.text(v)
		return s == to(s) && strings.ContainsFunc(s, unicode.IsLetter), err
	})
}

func isGoneThrough(v any) bool {
	switch v.(type) {
	case []any, map[string]any, string, undefined: // what is undefined is gone through as nothing
		return true
	}
	return false
}

func divides(by, rest int64) callable {
	return plain(func(_ *run, v any, _ args) (any, error) {
		i, ok := v.(int64)
		if !ok {
			return nil, fmt.Errorf("%s is no whole number", describe(v))
		}
		return (i%by+by)%by == rest, nil
	})
}

func divisible(_ *run, v any, a args) (any, error) {
	by, _ := a.at(0, "num")
	i, okI := v.(int64)
	n, okN := by.(int64)
	if !okI || !okN || n == 0 {
		return nil, fmt.Errorf("%s cannot be divided by %s", describe(v), brief(by))
	}
	return i%n == 0, nil
}

func compares(op string) callable {
	return takes(1, func(r *run, v any, a args) (any, error) {
		other, _ := a.at(0, "other")
		return r.compare(op, v, other)
	}, "other")
}

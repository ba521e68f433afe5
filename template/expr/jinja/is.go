package jinja

import (
	"maps"
	"slices"
)

// tests by name, which follow `is`. Tests named after operators are for select and its like. They are filled in at
// initialization, because one of them refers to them.
var (
	tests     map[string]callable
	testNames []string
)

func init() {
	tests = map[string]callable{
		"defined":   kindOf(func(v any) bool { return !is[undefined](v) }),
		"undefined": kindOf(is[undefined]),
		"none":      kindOf(func(v any) bool { return v == nil }),
		"true":      kindOf(func(v any) bool { return v == true }),
		"false":     kindOf(func(v any) bool { return v == false }),
		"boolean":   kindOf(is[bool]),
		"number":    kindOf(func(v any) bool { _, ok := numberOf(v); return ok }),
		"integer":   kindOf(is[int64]),
		"float":     kindOf(is[float64]),
		"string":    kindOf(is[string]),
		"mapping":   kindOf(func(v any) bool { _, ok := mappingOf(v); return ok }),
		"sequence":  kindOf(func(v any) bool { _, ok := sizeOf(v); return ok }),
		"iterable":  kindOf(func(v any) bool { _, ok := sizeOf(v); return ok }),
		"callable":  kindOf(is[undefined]), // as in Python; no function is a value here
		"escaped":   free(func(_ *run, _ any, a args) (any, error) { return a.flag(0, ""), nil }),
		"filter":    names(filters),
		"test":      placed(0, func(r *run, v any, a args) (any, error) { return names(tests).do(r, v, a) }),
		"lower":     cased(isOneCase(isLower)),
		"upper":     cased(isOneCase(isUpper)),
		"even":      plain(func(r *run, v any, _ args) (any, error) { return r.rest(v, int64(2), int64(0)) }),
		"odd":       plain(func(r *run, v any, _ args) (any, error) { return r.rest(v, int64(2), int64(1)) }),
		"divisibleby": takes(1, func(r *run, v any, a args) (any, error) {
			by, _ := a.at(0, "num")
			return r.rest(v, by, int64(0))
		}, "num"),
		"sameas": takes(1, sameAs, "other"),
		"in":     compares("in", "seq"),
		"eq":     compares("==", "other"), "equalto": compares("==", "other"), "==": compares("==", "other"),
		"ne": compares("!=", "other"), "!=": compares("!=", "other"),
		"lt": compares("<", "other"), "lessthan": compares("<", "other"), "<": compares("<", "other"),
		"le": compares("<=", "other"), "<=": compares("<=", "other"),
		"gt": compares(">", "other"), "greaterthan": compares(">", "other"), ">": compares(">", "other"),
		"ge": compares(">=", "other"), ">=": compares(">=", "other"),
	}
	testNames = slices.Sorted(maps.Keys(tests))
}

func is[T any](v any) bool {
	_, ok := v.(T)
	return ok
}

func kindOf(f func(v any) bool) callable {
	return plain(func(_ *run, v any, _ args) (any, error) { return f(v), nil })
}

// cased tests the letters of a text.
func cased(f func(string) bool) callable {
	return plain(func(r *run, v any, _ args) (any, error) {
		s, err := r.text(v)
		return err == nil && f(s), err
	})
}

// names tests whether a value is the name of a known callable.
func names(known map[string]callable) callable {
	return plain(func(r *run, v any, _ args) (any, error) {
		if _, err := r.hash(v); err != nil {
			return nil, err
		}
		name, _ := v.(string)
		_, ok := known[name]
		return ok, nil
	})
}

// rest tests the remainder of v divided by another.
func (r *run) rest(v, by, wanted any) (any, error) {
	rest, err := r.operate("%", v, by)
	if err != nil {
		return nil, err
	}
	return r.equal(rest, wanted)
}

// sameAs is equality that distinguishes true from 1 and 1 from 1.0, as Python's `is` does.
func sameAs(r *run, v any, a args) (any, error) {
	other, _ := a.at(0, "other")
	if is[bool](v) != is[bool](other) || is[float64](v) != is[float64](other) {
		return false, nil
	}
	return r.equal(v, other)
}

func compares(op, param string) callable {
	return takes(1, func(r *run, v any, a args) (any, error) {
		other, _ := a.at(0, param)
		return r.compare(op, v, other)
	}, param)
}

package jinja

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/template/value"
)

func toList(r *run, v any, _ args) (any, error) { return r.elements(v) }

// elements are what a value is gone through as: the elements of a list, the keys of an object, the characters of a string.
func (r *run) elements(v any) ([]any, error) {
	switch v := v.(type) {
	case undefined:
		return []any{}, nil
	case []any:
		return v, r.spend(len(v))
	case map[string]any:
		if err := r.room(len(v)); err != nil {
			return nil, err
		}
		list := make([]any, 0, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			list = append(list, k)
		}
		return list, nil
	case string:
		if err := r.room(len(v)); err != nil {
			return nil, err
		}
		list := make([]any, 0, len(v))
		for _, c := range v {
			list = append(list, string(c))
		}
		return list, nil
	}
	return nil, fmt.Errorf("%s cannot be gone through", describe(v))
}

// perhaps are the elements that map and select go through. What counts as false has none: null is as good as an empty list.
func (r *run) perhaps(v any) ([]any, error) {
	if !truth(v) {
		return []any{}, nil
	}
	return r.elements(v)
}

func length(_ *run, v any, _ args) (any, error) {
	switch v := v.(type) {
	case undefined:
		return int64(0), nil
	case string:
		return int64(utf8.RuneCountInString(v)), nil
	case []any:
		return int64(len(v)), nil
	case map[string]any:
		return int64(len(v)), nil
	}
	return nil, fmt.Errorf("%s has no length", describe(v))
}

func first(r *run, v any, _ args) (any, error) {
	list, err := r.elements(v)
	if err != nil || len(list) == 0 {
		return undefined{"the first of nothing"}, err
	}
	return list[0], nil
}

func last(r *run, v any, _ args) (any, error) {
	list, err := r.elements(v)
	if err != nil || len(list) == 0 {
		return undefined{"the last of nothing"}, err
	}
	return list[len(list)-1], nil
}

func reversed(r *run, v any, _ args) (any, error) {
	list, err := r.elements(v)
	if err != nil {
		return nil, err
	}
	if err := r.room(len(list)); err != nil {
		return nil, err
	}
	list = slices.Clone(list)
	slices.Reverse(list)
	if _, ok := v.(string); ok {
		return joined(r, list, args{})
	}
	return list, nil
}

func joined(r *run, v any, a args) (any, error) {
	list, err := r.elements(v)
	if err != nil {
		return nil, err
	}
	separator, err := a.text(0, "d", "")
	if err != nil {
		return nil, err
	}
	path, err := a.path(1)
	if err != nil {
		return nil, err
	}
	parts := make([]string, len(list))
	for i, x := range list {
		if x, err = path.of(x); err != nil {
			return nil, err
		}
		if parts[i], err = r.text(x); err != nil {
			return nil, err
		}
		if err := r.grow(len(parts[i]) + len(separator)); err != nil {
			return nil, err
		}
	}
	return strings.Join(parts, separator), nil
}

// sorted orders a list; it is stable, and strings are compared without case unless case_sensitive is given.
func sorted(r *run, v any, a args) (any, error) {
	list, err := r.elements(v)
	if err != nil {
		return nil, err
	}
	if err := r.spend(len(list) * 8); err != nil {
		return nil, err
	}
	descending, _ := a.at(0, "reverse")
	exact, _ := a.at(1, "case_sensitive")
	path, err := a.path(2)
	if err != nil {
		return nil, err
	}
	return r.sort(list, path, truth(exact), truth(descending))
}

// sort orders a list by what is at the end of a path in each element.
func (r *run) sort(list []any, by path, exact, descending bool) (any, error) {
	rows, err := r.rows(list, by, exact)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		c, wrong := r.order(a.key, b.key)
		err = cmp.Or(err, wrong)
		if descending {
			return -c
		}
		return c
	})
	out := make([]any, len(rows))
	for i, row := range rows {
		out[i] = row.x
	}
	return out, err
}

// row is an element of a list, and what it is compared by.
type row struct{ key, x any }

// rows makes rows of a list. Unless it is to be exact, strings are compared without case.
func (r *run) rows(list []any, by path, exact bool) ([]row, error) {
	if err := r.room(2 * len(list)); err != nil {
		return nil, err
	}
	rows := make([]row, len(list))
	for i, x := range list {
		key, err := by.of(x)
		if err != nil {
			return nil, err
		}
		if s, ok := key.(string); ok && !exact {
			if err := r.grow(len(s)); err != nil {
				return nil, err
			}
			key = strings.ToLower(s)
		}
		rows[i] = row{key, x}
	}
	return rows, nil
}

func unique(r *run, v any, a args) (any, error) {
	list, err := r.elements(v)
	if err != nil {
		return nil, err
	}
	exact, _ := a.at(0, "case_sensitive")
	path, err := a.path(1)
	if err != nil {
		return nil, err
	}
	rows, err := r.rows(list, path, truth(exact))
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	out := []any{}
	for _, row := range rows {
		k, w, err := r.finished(settled(row.key))
		if err == nil {
			err = r.grow(w.size + slotBytes)
		}
		if err != nil {
			return nil, err
		}
		name, err := value.Encode(k)
		if err != nil {
			return nil, err
		}
		if !seen[string(name)] {
			seen[string(name)] = true
			out = append(out, row.x)
		}
	}
	return out, nil
}

func sum(r *run, v any, a args) (any, error) {
	list, err := r.elements(v)
	if err != nil {
		return nil, err
	}
	path, err := a.path(0)
	if err != nil {
		return nil, err
	}
	total, ok := a.at(1, "start")
	if !ok {
		total = int64(0)
	}
	for _, x := range list {
		if x, err = path.of(x); err != nil {
			return nil, err
		}
		if total, err = (arithmetic{"+", literal{total}, literal{x}}).eval(r); err != nil {
			return nil, err
		}
	}
	return total, nil
}

func least(r *run, v any, a args) (any, error)    { return extreme(r, v, a, -1) }
func greatest(r *run, v any, a args) (any, error) { return extreme(r, v, a, 1) }

func extreme(r *run, v any, a args, wanted int) (any, error) {
	list, err := r.elements(v)
	if err != nil {
		return nil, err
	}
	exact, _ := a.at(0, "case_sensitive")
	path, err := a.path(1)
	if err != nil || len(list) == 0 {
		return undefined{"the extreme of nothing"}, err
	}
	rows, err := r.rows(list, path, truth(exact))
	if err != nil {
		return nil, err
	}
	best := rows[0]
	for _, row := range rows[1:] {
		c, err := r.order(row.key, best.key)
		if err != nil {
			return nil, err
		}
		if c == wanted {
			best = row
		}
	}
	return best.x, nil
}

// mapped takes a field of every element, or applies a filter to it.
func mapped(r *run, v any, a args) (any, error) {
	list, err := r.perhaps(v)
	if err != nil {
		return nil, err
	}
	if err := r.room(len(list)); err != nil {
		return nil, err
	}
	apply, err := r.perElement(a)
	if err != nil {
		return nil, err
	}
	out := make([]any, len(list))
	for i, x := range list {
		if out[i], err = apply(x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// perElement is what map does with each element.
func (r *run) perElement(a args) (func(x any) (any, error), error) {
	if len(a.list) == 0 {
		c := takes(1, nil, "attribute", "default")
		if wrong := c.misfit(0, a.names); wrong != "" {
			return nil, errors.New("it " + wrong)
		}
		path, err := a.path(0)
		other, _ := a.at(1, "default")
		return func(x any) (any, error) { return path.or(x, other) }, err
	}
	name, a, err := a.applies("filter", filters, filterNames)
	return func(x any) (any, error) { return r.filter(name, x, a) }, err
}

// choose keeps the elements for which a test gives wanted; without a test, their truth. byField tests a field of them.
func choose(wanted, byField bool) call {
	return func(r *run, v any, a args) (any, error) {
		list, err := r.perhaps(v)
		if err != nil {
			return nil, err
		}
		if err := r.room(len(list)); err != nil {
			return nil, err
		}
		var by path
		if byField {
			if len(a.list) == 0 {
				return nil, errors.New("it needs the name of a field")
			}
			if by, err = a.path(0); err != nil {
				return nil, err
			}
			a = a.rest(1)
		}
		test, err := r.judge(a)
		if err != nil {
			return nil, err
		}
		out := []any{}
		for _, x := range list {
			y, err := by.of(x)
			if err != nil {
				return nil, err
			}
			yes, err := test(y)
			if err != nil {
				return nil, err
			}
			if truth(yes) == wanted {
				out = append(out, x)
			}
		}
		return out, nil
	}
}

// judge is what select does with each element.
func (r *run) judge(a args) (func(x any) (any, error), error) {
	if len(a.list)+len(a.names) == 0 {
		return func(x any) (any, error) { return truth(x), nil }, nil
	}
	name, a, err := a.applies("test", tests, testNames)
	return func(x any) (any, error) { return r.test(name, x, a) }, err
}

// items are the keys and values of an object, in the order of the keys.
func items(r *run, v any, _ args) (any, error) {
	m, ok := v.(map[string]any)
	if _, missing := v.(undefined); !ok && !missing {
		return nil, fmt.Errorf("it needs an object, not %s", describe(v))
	}
	if err := r.room(3 * len(m)); err != nil {
		return nil, err
	}
	list := make([]any, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, []any{k, m[k]})
	}
	return list, nil
}

// dictsort are the items of an object in another order.
func dictsort(r *run, v any, a args) (any, error) {
	pairs, err := items(r, v, args{})
	if err != nil {
		return nil, err
	}
	exact, _ := a.at(0, "case_sensitive")
	descending, _ := a.at(2, "reverse")
	by, err := a.text(1, "by", "key")
	if err != nil {
		return nil, err
	}
	at := slices.Index([]string{"key", "value"}, by)
	if at < 0 {
		return nil, fmt.Errorf("by must be key or value, not %s", brief(by))
	}
	return r.sort(pairs.([]any), path{int64(at)}, truth(exact), truth(descending))
}

func keys(r *run, v any, _ args) (any, error) {
	if _, ok := v.(map[string]any); !ok {
		return nil, fmt.Errorf("it needs an object, not %s", describe(v))
	}
	return r.elements(v)
}

func values(r *run, v any, _ args) (any, error) {
	pairs, err := items(r, v, args{})
	if err != nil {
		return nil, err
	}
	list := pairs.([]any)
	out := make([]any, len(list))
	for i, pair := range list {
		out[i] = pair.([]any)[1]
	}
	return out, nil
}

package jinja

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

func toList(r *run, v any, _ args) (any, error) {
	list, err := r.elements(v)
	return slices.Clip(list), err
}

// elements returns the elements of a list, the keys of an object, or the characters of a string.
func (r *run) elements(v any) ([]any, error) {
	if list, ok := sequence(v); ok {
		return list, r.spend(len(list))
	}
	if m, ok := mappingOf(v); ok {
		entries, err := r.pairs(m)
		list := make([]any, len(entries))
		for i, e := range entries {
			list[i] = e.key
		}
		return list, err
	}
	switch v := v.(type) {
	case undefined:
		return []any{}, nil
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

func length(_ *run, v any, _ args) (any, error) {
	if n, ok := sizeOf(v); ok {
		return int64(n), nil
	}
	return nil, fmt.Errorf("%s has no length", describe(v))
}

func sizeOf(v any) (int, bool) {
	if list, ok := sequence(v); ok {
		return len(list), true
	}
	if m, ok := mappingOf(v); ok {
		return m.size(), true
	}
	switch v := v.(type) {
	case undefined:
		return 0, true
	case string:
		return utf8.RuneCountInString(v), true
	}
	return 0, false
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
	path, err := a.path(1)
	if err != nil {
		return nil, err
	}
	separator := ""
	if d, ok := a.at(0, "d"); ok {
		if separator, err = r.text(d); err != nil {
			return nil, err
		}
	}
	parts := make([]string, len(list))
	for i, x := range list {
		if x, err = path.in(r, x); err != nil {
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
	if _, isText := total.(string); isText {
		return nil, errors.New("strings have no sum: use join")
	}
	for _, x := range list {
		if x, err = path.in(r, x); err != nil {
			return nil, err
		}
		if total, err = r.operate("+", total, x); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// batch splits a list into lists of a length. The last one may be filled up.
func batch(r *run, v any, a args) (any, error) {
	list, err := r.elements(v)
	if err != nil {
		return nil, err
	}
	count, err := a.integer(0, "linecount", 0)
	if err != nil {
		return nil, err
	}
	if err := r.room(2 * len(list)); err != nil {
		return nil, err
	}
	out, line := []any{}, []any{}
	for _, x := range list {
		if int64(len(line)) == count {
			out, line = append(out, line), []any{}
		}
		line = append(line, x)
	}
	if len(line) == 0 {
		return out, nil
	}
	if fill, ok := a.given(1, "fill_with"); ok && int64(len(line)) < count {
		more, err := r.repeat([]any{fill}, count-int64(len(line)))
		if err != nil {
			return nil, err
		}
		line = append(line, more.([]any)...)
	}
	return append(out, line), nil
}

// columns splits a list into a number of lists of equal length. The first ones may be longer by one.
func columns(r *run, v any, a args) (any, error) {
	list, err := r.elements(v)
	if err != nil {
		return nil, err
	}
	count, err := a.size(0, "slices", 0)
	if err != nil {
		return nil, err
	}
	if n, _ := a.integer(0, "slices", 0); n == 0 {
		return nil, errZero
	}
	if err := r.room(2*count + len(list)); err != nil {
		return nil, err
	}
	fill, filling := a.given(1, "fill_with")
	out := make([]any, count)
	for i := range out {
		size, longer := len(list)/count, i < len(list)%count
		begin := i*size + min(i, len(list)%count)
		if longer {
			size++
		}
		column := slices.Clone(list[begin : begin+size])
		if filling && !longer {
			column = append(column, fill)
		}
		out[i] = column
	}
	return out, nil
}

func itemsFilter(r *run, v any, _ args) (any, error) {
	if _, missing := v.(undefined); missing {
		return []any{}, nil
	}
	return items(r, v, args{})
}

// items returns the entries of an object, in the order of its keys.
func items(r *run, v any, _ args) (any, error) {
	m, ok := mappingOf(v)
	if !ok {
		return nil, fmt.Errorf("it needs an object, not %s", describe(v))
	}
	entries, err := r.pairs(m)
	if err != nil {
		return nil, err
	}
	list := make([]any, len(entries))
	for i, e := range entries {
		list[i] = tuple{e.key, e.value}
	}
	return list, nil
}

func keys(r *run, v any, _ args) (any, error) {
	if _, ok := mappingOf(v); !ok {
		return nil, fmt.Errorf("it needs an object, not %s", describe(v))
	}
	return r.elements(v)
}

func values(r *run, v any, _ args) (any, error) {
	m, ok := mappingOf(v)
	if _, missing := v.(undefined); !ok && !missing {
		return nil, fmt.Errorf("it needs an object, not %s", describe(v))
	}
	entries, err := r.pairs(m)
	list := make([]any, len(entries))
	for i, e := range entries {
		list[i] = e.value
	}
	return list, err
}

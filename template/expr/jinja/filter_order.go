package jinja

import (
	"cmp"
	"fmt"
	"slices"
)

// row is an element of a list with its key of comparison.
type row struct{ key, x any }

// rows makes rows of a list. Unless exact, strings are compared without case.
func (r *run) rows(list []any, by path, other any, exact bool) ([]row, error) {
	if err := r.room(2 * len(list)); err != nil {
		return nil, err
	}
	rows := make([]row, len(list))
	for i, x := range list {
		key, err := by.or(r, x, other)
		if err == nil {
			key, err = r.folded(key, exact)
		}
		if err != nil {
			return nil, err
		}
		rows[i] = row{key, x}
	}
	return rows, nil
}

// folded returns a string without case distinctions, unless exact.
func (r *run) folded(v any, exact bool) (any, error) {
	s, ok := v.(string)
	if !ok || exact {
		return v, nil
	}
	return lower(s), r.grow(len(s))
}

// sorted orders a list by one or several fields of its elements; it is stable.
func sorted(r *run, v any, a args) (any, error) {
	list, err := r.elements(v)
	if err != nil {
		return nil, err
	}
	paths, err := a.paths(2)
	if err != nil {
		return nil, err
	}
	exact := a.flag(1, "case_sensitive")
	rows, err := r.rows(list, paths[0], nil, exact)
	if err != nil {
		return nil, err
	}
	if len(paths) > 1 {
		if err := r.room(len(list) * len(paths)); err != nil {
			return nil, err
		}
		for i := range rows {
			key := tuple{rows[i].key}
			for _, p := range paths[1:] {
				k, err := p.in(r, rows[i].x)
				if err == nil {
					k, err = r.folded(k, exact)
				}
				if err != nil {
					return nil, err
				}
				key = append(key, k)
			}
			rows[i].key = key
		}
	}
	return r.sort(rows, a.flag(0, "reverse"), r.rank)
}

// rank is order for values that may be equal without being ordered, such as null.
func (r *run) rank(a, b any) (int, error) {
	x, isTuple := a.(tuple)
	y, alsoTuple := b.(tuple)
	if isTuple && alsoTuple && len(x) == len(y) {
		for i := range x {
			if c, err := r.rank(x[i], y[i]); c != 0 || err != nil {
				return c, err
			}
		}
		return 0, nil
	}
	if c, err := r.order(a, b); err == nil {
		return c, nil
	} else if yes, wrong := r.equal(a, b); wrong != nil || !yes {
		return 0, cmp.Or(wrong, err)
	}
	return 0, nil
}

// sort orders rows by their keys and returns their elements.
func (r *run) sort(rows []row, descending bool, compare func(a, b any) (int, error)) ([]any, error) {
	if err := r.spend(len(rows) * 8); err != nil {
		return nil, err
	}
	var err error
	slices.SortStableFunc(rows, func(a, b row) int {
		if err != nil {
			return 0
		}
		c, wrong := compare(a.key, b.key)
		if err = wrong; c == unordered {
			return 0
		}
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

func unique(r *run, v any, a args) (any, error) {
	list, err := r.elements(v)
	if err != nil {
		return nil, err
	}
	path, err := a.path(1)
	if err != nil {
		return nil, err
	}
	rows, err := r.rows(list, path, nil, a.flag(0, "case_sensitive"))
	if err != nil {
		return nil, err
	}
	seen := map[any]bool{}
	out := []any{}
	for _, row := range rows {
		h, err := r.hash(row.key)
		if err != nil {
			return nil, err
		}
		if !seen[h] {
			seen[h] = true
			out = append(out, row.x)
		}
	}
	return out, nil
}

func least(r *run, v any, a args) (any, error)    { return extreme(r, v, a, -1) }
func greatest(r *run, v any, a args) (any, error) { return extreme(r, v, a, 1) }

func extreme(r *run, v any, a args, wanted int) (any, error) {
	list, err := r.elements(v)
	if err != nil {
		return nil, err
	}
	path, err := a.path(1)
	if err != nil || len(list) == 0 {
		return undefined{"the extreme of nothing"}, err
	}
	rows, err := r.rows(list, path, nil, a.flag(0, "case_sensitive"))
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

// groupBy sorts a list by a field and groups the elements with equal fields.
func groupBy(r *run, v any, a args) (any, error) {
	list, err := r.elements(v)
	if err != nil {
		return nil, err
	}
	by, err := a.path(0)
	if err != nil {
		return nil, err
	}
	other, _ := a.at(1, "default")
	exact := a.flag(2, "case_sensitive")
	rows, err := r.rows(list, by, other, exact)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		rows[i].x = rows[i]
	}
	ordered, err := r.sort(rows, false, r.order)
	if err != nil {
		return nil, err
	}
	if err := r.room(3 * len(ordered)); err != nil {
		return nil, err
	}
	var groups []group
	var key any // of the last group
	for _, x := range ordered {
		x := x.(row)
		yes, err := r.equal(x.key, key)
		if err != nil {
			return nil, err
		}
		if len(groups) == 0 || !yes {
			written, err := by.or(r, x.x, other)
			if err != nil {
				return nil, err
			}
			groups, key = append(groups, group{grouper: written}), x.key
		}
		last := &groups[len(groups)-1]
		last.list = append(last.list, x.x)
	}
	out := make([]any, len(groups))
	for i, g := range groups {
		out[i] = g
	}
	return out, nil
}

// dictsort returns the items of an object sorted by key or value.
func dictsort(r *run, v any, a args) (any, error) {
	by, err := a.text(1, "by", "key")
	if err != nil {
		return nil, err
	}
	at := slices.Index([]string{"key", "value"}, by)
	if at < 0 {
		return nil, fmt.Errorf("by must be key or value, not %s", brief(by))
	}
	pairs, err := items(r, v, args{})
	if err != nil {
		return nil, cmp.Or(defined(v), err)
	}
	rows, err := r.rows(pairs.([]any), path{int64(at)}, nil, a.flag(0, "case_sensitive"))
	if err != nil {
		return nil, err
	}
	return r.sort(rows, a.flag(2, "reverse"), r.order)
}

package jinja

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/template/expr"
)

// args are the arguments of one call.
type args struct {
	list  []any
	names []string
	named []any
}

// at returns the i-th argument, or the one with a name. It reports false if there is none.
func (a args) at(i int, name string) (any, bool) {
	if i < len(a.list) {
		return a.list[i], true
	}
	if i := slices.Index(a.names, name); i >= 0 {
		return a.named[i], true
	}
	return nil, false
}

// given is at, except that null counts as a missing argument.
func (a args) given(i int, name string) (any, bool) {
	v, ok := a.at(i, name)
	return v, ok && v != nil
}

// flag returns the truth of an argument; the default is false.
func (a args) flag(i int, name string) bool {
	v, _ := a.at(i, name)
	return truth(v)
}

// rest returns the positional arguments after the first n.
func (a args) rest(n int) args { return args{a.list[min(n, len(a.list)):], a.names, a.named} }

// text returns an argument that must be a string; the default is otherwise.
func (a args) text(i int, name, otherwise string) (string, error) {
	if _, ok := a.at(i, name); !ok {
		return otherwise, nil
	}
	return a.must(i, name)
}

// must returns an argument that must be a string.
func (a args) must(i int, name string) (string, error) {
	v, _ := a.at(i, name)
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("%s must be a string, not %s", name, describe(v))
	}
	return s, nil
}

// integer returns an argument that must be a whole number; the default is otherwise.
func (a args) integer(i int, name string, otherwise int64) (int64, error) {
	v, ok := a.at(i, name)
	if !ok {
		return otherwise, nil
	}
	n, ok := integerOf(v)
	if !ok {
		return 0, fmt.Errorf("%s must be a whole number, not %s", name, describe(v))
	}
	return n, nil
}

// size is integer for a length: a negative one is 0, and one beyond all limits is the limit.
func (a args) size(i int, name string, otherwise int64) (int, error) {
	n, err := a.integer(i, name, otherwise)
	return int(min(max(n, 0), math.MaxInt32)), err
}

// path is the path of a part of a value.
type path []any

// path returns the argument `attribute`: the name of a field, an index, or several of them as in a.0.b; nil if there is none.
func (a args) path(i int) (path, error) {
	v, _ := a.at(i, "attribute")
	return pathOf(v)
}

func pathOf(v any) (path, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		return pathIn(v), nil
	}
	if n, ok := integerOf(v); ok {
		return path{n}, nil
	}
	return nil, fmt.Errorf("attribute must be a string or a whole number, not %s", describe(v))
}

func pathIn(text string) path {
	var p path
	for part := range strings.SplitSeq(text, ".") {
		if i, err := strconv.ParseUint(part, 10, 31); err == nil {
			p = append(p, int64(i))
		} else {
			p = append(p, part)
		}
	}
	return p
}

// paths is path for the keys of sorting, which may be several: a,b.c. It returns at least one.
func (a args) paths(i int) ([]path, error) {
	v, _ := a.at(i, "attribute")
	text, ok := v.(string)
	if !ok {
		p, err := pathOf(v)
		return []path{p}, err
	}
	var list []path
	for part := range strings.SplitSeq(text, ",") {
		list = append(list, pathIn(part))
	}
	return list, nil
}

// in returns the value at the end of the path in v.
func (p path) in(r *run, v any) (any, error) { return p.or(r, v, nil) }

// or is in with a default: other, unless it is null, replaces an undefined value on the path.
func (p path) or(r *run, v, other any) (any, error) {
	for _, k := range p {
		x, err := r.part(v, k)
		if err != nil {
			return nil, err
		}
		if _, missing := x.(undefined); missing && other != nil {
			x = other
		}
		v = x
	}
	return v, nil
}

// part returns one step of a path. A number is also a key of an object.
func (r *run) part(v, k any) (any, error) {
	if err := r.spend(1); err != nil {
		return nil, err
	}
	if m, ok := mappingOf(v); ok {
		x, has := m.at(k)
		if i, ok := k.(int64); ok && !has {
			x, has = m.at(strconv.FormatInt(i, 10))
		}
		if has {
			return x, nil
		}
		return undefined{brief(k)}, nil
	}
	return r.lookup(v, k)
}

// applies splits off the name of a filter or a test from the arguments, and returns its own arguments.
func (a args) applies(what string, known map[string]callable, names []string) (string, args, error) {
	name, err := a.must(0, what)
	if err != nil {
		return "", a, err
	}
	c, ok := known[name]
	if !ok {
		near, _ := expr.Nearest(name, names)
		return "", a, errors.New(unknown(what, expr.Clip(name), near))
	}
	a = a.rest(1)
	if wrong := c.misfit(len(a.list), a.names); wrong != "" {
		return "", a, fmt.Errorf("%s %s %s", what, name, wrong)
	}
	return name, a, nil
}

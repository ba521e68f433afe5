package jinja

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/template/expr"
)

// call carries out a filter, a test, a method or a function; v is what it is applied to.
type call func(r *run, v any, a args) (any, error)

// callable is something that is called by name.
type callable struct {
	do     call
	need   int // how many of params must be given
	params []string
	free   bool // it takes what the filter or test takes that it applies, or any names
}

func takes(need int, do call, params ...string) callable { return callable{do, need, params, false} }
func plain(do call) callable                             { return takes(0, do) }
func free(do call) callable                              { return callable{do: do, free: true} }

// misfit says what is wrong with the arguments of a call, of which n have no name; "" if nothing is.
func (c callable) misfit(n int, names []string) string {
	switch {
	case c.free:
		return ""
	case n+len(names) > 0 && len(c.params) == 0:
		return "takes no arguments"
	case n > len(c.params):
		return fmt.Sprintf("takes no more than %s", strings.Join(c.params, ", "))
	}
	for i, name := range names {
		at := slices.Index(c.params, name)
		if at < 0 {
			near, _ := expr.Nearest(name, c.params)
			return "takes no " + name + didYouMean(near)
		}
		if at < n || slices.Contains(names[:i], name) {
			return "is given " + name + " twice"
		}
	}
	for _, name := range c.params[min(n, c.need):c.need] {
		if !slices.Contains(names, name) {
			return "needs " + name
		}
	}
	return ""
}

func unknown(what, name, near string) string {
	return fmt.Sprintf("unknown %s %q", what, name) + didYouMean(near)
}

func didYouMean(near string) string {
	if near == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", near)
}

// args are the arguments of one call.
type args struct {
	list  []any
	names []string
	named []any
}

func (r *run) arguments(a arguments) (out args, err error) {
	if out.list, err = r.each(a.list); err != nil {
		return out, err
	}
	out.names = a.names
	out.named, err = r.each(a.named)
	return out, err
}

func (r *run) each(nodes []node) ([]any, error) {
	list := make([]any, len(nodes))
	for i, n := range nodes {
		v, err := n.eval(r)
		if err != nil {
			return nil, err
		}
		list[i] = v
	}
	return list, nil
}

// at is the argument at a place, or of a name; ok: it was given.
func (a args) at(i int, name string) (any, bool) {
	if i < len(a.list) {
		return a.list[i], true
	}
	if i := slices.Index(a.names, name); i >= 0 {
		return a.named[i], true
	}
	return nil, false
}

// key is the argument of get, if that is a string.
func (a args) key() (string, bool) {
	v, _ := a.at(0, "key")
	s, ok := v.(string)
	return s, ok
}

// rest is what follows the first n of the arguments without a name.
func (a args) rest(n int) args { return args{a.list[min(n, len(a.list)):], a.names, a.named} }

// text is an argument that must be a string, or null or not given, which is what otherwise is for.
func (a args) text(i int, name, otherwise string) (string, error) {
	if v, ok := a.at(i, name); !ok || v == nil {
		return otherwise, nil
	}
	return a.must(i, name)
}

// must is an argument that must be a string.
func (a args) must(i int, name string) (string, error) {
	v, _ := a.at(i, name)
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("%s must be a string, not %s", name, describe(v))
	}
	return s, nil
}

// path is the argument `attribute`: the name of a field, an index, or several of them as in a.0.b; nil when it is not given.
func (a args) path(i int) (path, error) {
	switch v, _ := a.at(i, "attribute"); v := v.(type) {
	case nil:
		return nil, nil
	case int64:
		return path{v}, nil
	}
	text, err := a.must(i, "attribute")
	if err != nil {
		return nil, err
	}
	var p path
	for part := range strings.SplitSeq(text, ".") {
		if i, err := strconv.ParseUint(part, 10, 31); err == nil {
			p = append(p, int64(i))
		} else {
			p = append(p, part)
		}
	}
	return p, nil
}

// path leads into a value.
type path []any

// of is what is at the end of the path.
func (p path) of(v any) (any, error) {
	for _, k := range p {
		if m, ok := v.(map[string]any); ok {
			k = show(k)
			if _, ok := m[k.(string)]; !ok {
				v = undefined{expr.Clip(k.(string))}
				continue
			}
		}
		x, err := lookup(v, k)
		if err != nil {
			return nil, err
		}
		v = x
	}
	return v, nil
}

// or is what is at the end of the path, and other, unless that is null, where something on it is undefined.
func (p path) or(v, other any) (any, error) {
	for i := range p {
		x, err := p[i : i+1].of(v)
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

// integer is an argument that must be a whole number, or null or not given, which is what otherwise is for.
func (a args) integer(i int, name string, otherwise int64) (int64, error) {
	v, ok := a.at(i, name)
	if !ok || v == nil {
		return otherwise, nil
	}
	n, ok := v.(int64)
	if !ok {
		return 0, fmt.Errorf("%s must be a whole number, not %s", name, describe(v))
	}
	return n, nil
}

// otherwise is the argument that int and float give for what is no number.
func (a args) otherwise() (any, error) {
	if v, ok := a.at(0, "default"); ok {
		return v, nil
	}
	return int64(0), nil
}

// applies takes the name of a filter or a test from the arguments, and leaves those that are for it.
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

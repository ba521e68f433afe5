package jinja

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template/expr"
)

// call implements a filter, a test, a method or a function; v is the value that it is applied to.
type call func(r *run, v any, a args) (any, error)

// callable describes a call by name.
type callable struct {
	do     call
	need   int // the number of required params
	params []string
	placed bool // params are positional only; their names are for messages
	free   bool // it takes the arguments of the filter or test that it applies, or any names
}

func takes(need int, do call, params ...string) callable {
	return callable{do: do, need: need, params: params}
}

func placed(need int, do call, params ...string) callable {
	return callable{do: do, need: need, params: params, placed: true}
}

func plain(do call) callable { return callable{do: do} }
func free(do call) callable  { return callable{do: do, free: true} }

// misfit describes the fault of a call's arguments, n of which are positional; "" if there is none.
func (c callable) misfit(n int, names []string) string {
	switch {
	case c.free:
		return ""
	case n+len(names) > 0 && len(c.params) == 0:
		return "takes no arguments"
	case n > len(c.params):
		return fmt.Sprintf("takes no more than %s", strings.Join(c.params, ", "))
	case c.placed && len(names) > 0:
		return "takes no names: what is given for " + expr.Clip(names[0]) + " stands in its place"
	case len(names) > len(c.params):
		return fmt.Sprintf("takes no more than %s", strings.Join(c.params, ", "))
	}
	for i, name := range names {
		at := slices.Index(c.params, name)
		if at < 0 {
			near, _ := expr.Nearest(name, c.params)
			return "takes no " + expr.Clip(name) + didYouMean(near)
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

func (n filtered) eval(r *run) (any, error) {
	v, err := n.of.eval(r)
	if err != nil {
		return nil, err
	}
	a, err := r.arguments(n.args, filters[n.name])
	if err == nil {
		v, err = r.filter(n.name, v, a)
	}
	return v, err
}

func (r *run) filter(name string, v any, a args) (any, error) {
	if err := r.touch(v); err != nil {
		return nil, err
	}
	out, err := filters[name].do(r, v, a)
	if err != nil {
		return nil, fmt.Errorf("filter %s: %w", name, err)
	}
	return out, nil
}

func (n tested) eval(r *run) (any, error) {
	v, err := n.of.eval(r)
	if err != nil {
		return nil, err
	}
	a, err := r.arguments(n.args, tests[n.name])
	if err == nil {
		v, err = r.test(n.name, v, a)
	}
	return v, err
}

func (r *run) test(name string, v any, a args) (any, error) {
	if err := r.touch(v); err != nil {
		return nil, err
	}
	return tests[name].do(r, v, a)
}

func (n function) eval(r *run) (any, error) {
	c := functions[n.name]
	a, err := r.arguments(n.args, c)
	if err != nil {
		return nil, err
	}
	out, err := c.do(r, nil, a)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.name, err)
	}
	return out, nil
}

func (n method) eval(r *run) (any, error) {
	v, err := n.of.eval(r)
	if err != nil {
		return nil, err
	}
	c, err := methodFor(v, n.name)
	if err != nil {
		return nil, err
	}
	a, err := r.arguments(n.args, c)
	if err != nil {
		return nil, err
	}
	if err := r.touch(v); err != nil {
		return nil, err
	}
	if n.name == "get" {
		key, _ := a.at(0, "key")
		if key, ok := key.(string); ok {
			if x, ok := r.member(n.of, v, key); ok {
				return x, nil
			}
		}
	}
	out, err := c.do(r, v, a)
	if err != nil {
		return nil, fmt.Errorf("method %s: %w", n.name, err)
	}
	return out, nil
}

// arguments evaluates the arguments of a call. Literal lists were checked by the parser; others, and methods that depend on
// the kind of the value, are checked here.
func (r *run) arguments(n arguments, c callable) (a args, err error) {
	if a.list, err = r.each(n.list); err != nil {
		return a, err
	}
	a.names = n.names
	if a.named, err = r.each(n.named); err != nil {
		return a, err
	}
	if n.more != nil {
		more, err := n.more.eval(r)
		if err != nil {
			return a, err
		}
		list, err := r.elements(more)
		if err != nil {
			return a, err
		}
		a.list = append(a.list, list...)
	}
	if n.under != nil {
		if err := r.under(n.under, &a); err != nil {
			return a, err
		}
	}
	if wrong := c.misfit(len(a.list), a.names); wrong != "" {
		return a, errors.New("it " + wrong)
	}
	return a, nil
}

// under adds the entries of an object to the arguments that have names.
func (r *run) under(n node, a *args) error {
	v, err := n.eval(r)
	if err != nil {
		return err
	}
	m, ok := mappingOf(v)
	if !ok {
		return fmt.Errorf("behind ** there must be an object, not %s", describe(v))
	}
	entries, err := r.pairs(m)
	if err != nil {
		return err
	}
	written := a.names
	a.names = slices.Clip(a.names)
	for _, e := range entries {
		name, ok := e.key.(string)
		if !ok {
			return fmt.Errorf("the name of an argument must be a string, not %s", describe(e.key))
		}
		if slices.Contains(written, name) {
			return fmt.Errorf("it is given %s twice", expr.Clip(name))
		}
		a.names, a.named = append(a.names, name), append(a.named, e.value)
	}
	return nil
}

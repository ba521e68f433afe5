package explore

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// source is an expression whose value is assigned to a variable, or to a part of it.
type source struct {
	place
	below []string // of the variable
	text  string
}

// rest returns the path in the source's value for a path in the variable. It reports false if the source does not set that path.
func (s source) rest(path []string) (rest []string, ok bool) {
	switch {
	case len(s.below) > 0 && s.below[0] == expr.Element: // the variable is an element of the source's value
		return append([]string{expr.Element}, path...), true
	case len(s.below) > len(path) || !slices.Equal(s.below, path[:len(s.below)]):
		return nil, false
	}
	return path[len(s.below):], true
}

// assignments records the sources of variables.
func (l *learner) assignments(key string, v value.Value) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			l.assignments(key, x)
		}
	case map[string]any:
		l.doc.assignment(key, v)
		for _, k := range slices.Sorted(maps.Keys(v)) {
			l.assignments(k, v[k])
		}
	}
}

// variable returns the name of a variable in learner.sources. The context is shared by all steps.
func variable(step int, scope string, below ...string) string {
	name := scope
	if len(below) > 0 {
		name += "." + below[0]
	}
	if scope != "ctx" {
		name = fmt.Sprint(step, ".", name)
	}
	return name
}

// assign records the sources of a variable: an expression, or an object of them.
func (l *learner) assign(name string, below []string, v value.Value) {
	switch v := v.(type) {
	case string:
		l.sources[name] = append(l.sources[name], source{l.place, below, v})
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			l.assign(name, append(slices.Clip(below), k), v[k])
		}
	}
}

// element records the source of a variable that is an element of a list.
func (l *learner) element(name string, list value.Value) {
	if text, ok := list.(string); ok {
		l.sources[name] = append(l.sources[name], source{l.place, []string{expr.Element}, text})
	}
}

// follow reads the sources of a variable.
func (l *learner) follow(name string, rest []string, values []value.Value) {
	l.followIn("", name, rest, values)
}

// followIn is follow for a variable in the binding of the operation that a step calls.
func (l *learner) followIn(call, name string, rest []string, values []value.Value) {
	here := l.place
	for _, s := range l.sources[name] {
		below, ok := s.rest(rest)
		if !ok {
			continue
		}
		if list, alone, err := l.doc.outlines(s.text); err == nil && alone {
			l.place = s.place
			l.call = call
			l.push(list[0], below, values)
		}
	}
	l.place = here
}

// push follows the parts of an expression that can be its value.
func (l *learner) push(o *expr.Outline, rest []string, values []value.Value) {
	switch o.Kind {
	case expr.Reference:
		l.read(append(slices.Clip(o.Path), rest...), values)
	case expr.Fallback, expr.Choice:
		for _, a := range o.Args {
			l.push(a, rest, values)
		}
	}
}

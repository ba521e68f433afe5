package explore

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// source is a text whose value is that of a variable, or of a part of it.
type source struct {
	place
	below []string // of the variable
	text  string
}

// rest returns the path of the source that is read when a path of the variable is read; ok: the source has that path.
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
		l.assignment(key, v)
		for _, k := range slices.Sorted(maps.Keys(v)) {
			l.assignments(k, v[k])
		}
	}
}

func (l *learner) assignment(key string, v map[string]any) {
	scope, isSet := strings.CutPrefix(key, "set")
	switch to, isArc := v["step"].(string); {
	case isSet:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			x := v[name]
			switch {
			case scope != "": // set_ctx, set_iter, set_step
				name = scope[1:] + "." + name
			case !strings.Contains(name, "."):
				name = "ctx." + name
			}
			path := strings.Split(name, ".")
			l.assign(l.variable(l.step, path[0], path[1:]...), path[min(2, len(path)):], x)
		}
	case isArc && l.book != nil && key != "":
		if i, ok := l.book.StepIndex(to); ok {
			if l.into[i] == nil {
				l.into[i] = map[int]bool{}
			}
			l.into[i][l.step] = true
			args, _ := v["args"].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(args)) {
				l.assign(l.variable(i, "args", name), nil, args[name])
			}
		}
	case key == "loop":
		if name, ok := v["iterator"].(string); ok {
			l.element(l.variable(l.step, "iter", name), v["in"])
		}
	case l.book == nil:
		l.workflow(key, v)
	}
}

// workflow records the values that pass from step to step of a workflow other than by outputs.
func (l *learner) workflow(key string, v map[string]any) {
	if key == "map" {
		l.element(cmp.Or(text(v, "as"), "item"), v["over"])
		if steps, _ := v["steps"].([]any); len(steps) > 0 {
			step, _ := steps[len(steps)-1].(map[string]any)
			l.last[text(v, "id")] = idOf(step)
		}
	}
	if id := idOf(v); id != "" {
		l.bound[id] = text(v, "operation")
		l.assign(id+".input", nil, v["input"])
	}
	if key == "operations" {
		for _, name := range slices.Sorted(maps.Keys(v)) {
			binding, _ := v[name].(map[string]any)
			l.assign(name+".value", nil, binding["value"])
		}
	}
}

func text(v map[string]any, key string) string {
	s, _ := v[key].(string)
	return s
}

// idOf returns the id of a step that calls an operation.
func idOf(step map[string]any) string { return cmp.Or(text(step, "id"), text(step, "operation")) }

// variable returns the name under which a variable's sources are kept. The context is shared by all steps.
func (l *learner) variable(step int, scope string, below ...string) string {
	name := scope
	if len(below) > 0 {
		name += "." + below[0]
	}
	if scope != "ctx" {
		name = fmt.Sprint(step, ".", name)
	}
	return name
}

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

// element notes what a list's elements are called.
func (l *learner) element(name string, list value.Value) {
	if text, ok := list.(string); ok {
		l.sources[name] = append(l.sources[name], source{l.place, []string{expr.Element}, text})
	}
}

// follow reads the sources of a variable.
func (l *learner) follow(name string, rest []string, values []value.Value) {
	l.followIn("", name, rest, values)
}

// followIn is follow within the binding of an operation that a step calls; "": within none.
func (l *learner) followIn(call, name string, rest []string, values []value.Value) {
	here := l.place
	for _, s := range l.sources[name] {
		below, ok := s.rest(rest)
		if !ok {
			continue
		}
		if list, alone, err := l.outlines(s.text); err == nil && alone {
			l.place = s.place
			l.call = call
			l.push(list[0], below, values)
		}
	}
	l.place = here
}

// push continues with the parts from which an expression takes its value.
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

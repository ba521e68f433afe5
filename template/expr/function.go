package expr

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/sluiceflow/sluice/template/value"
)

// function is a function without a predicate.
type function struct {
	least, most int // arguments; most < 0: any number
	apply       func(a *arguments) (value.Value, error)
}

// functions are all such functions. Each pays for its work with spend, and for the values it makes with grow, in advance.
var functions = join(numberFunctions, textFunctions, listFunctions)

// join merges the tables, whose names are distinct.
func join(tables ...map[string]function) map[string]function {
	all := make(map[string]function)
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// absent are functions of expr-lang that are not supported, and the reasons.
var absent = map[string]string{
	"now": "expressions know no time, so that they give the same result when a run is recovered", "date": "there are no dates; times are texts, which compare as texts",
	"duration": "there are no durations; write a number", "timezone": "there are no dates",
}

// callNode compiles a call of a function that the parser does not define. There are no methods.
func (c *compiler) callNode(n *ast.CallNode) node {
	id, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return c.fail(n, "", "", "values have no methods: use the functions of the language")
	}
	return c.call(n, id.Value, n.Arguments)
}

// isPredicate reports whether name is a function with a predicate.
func isPredicate(name string) bool { _, ok := loops[name]; return ok }

// call compiles a call of a function.
func (c *compiler) call(n ast.Node, name string, args []ast.Node) node {
	if isPredicate(name) {
		return c.loop(name, args)
	}
	f, ok := functions[name]
	if !ok {
		if why, known := absent[name]; known {
			return c.fail(n, name, "", "there is no function %q: %s", name, why)
		}
		known := slices.Concat(slices.Collect(maps.Keys(functions)), slices.Collect(maps.Keys(loops)))
		return c.fail(n, name, suggest(name, known), "unknown function %q", name)
	}
	if len(args) < f.least || f.most >= 0 && len(args) > f.most {
		return c.fail(n, name, "", "%s takes %s, not %d", name, f.arity(), len(args))
	}
	c.builds = true
	parts := c.compileAll(args)
	return func(r *run) (value.Value, error) {
		a := &arguments{run: r, name: name, values: make([]value.Value, len(parts))}
		for i, part := range parts {
			v, err := part(r)
			if err != nil {
				return nil, err
			}
			a.values[i] = v
		}
		v, err := f.apply(a)
		if err != nil {
			return nil, err
		}
		return v, nil
	}
}

// arity describes the number of arguments.
func (f function) arity() string {
	switch {
	case f.most < 0:
		return fmt.Sprintf("at least %d arguments", f.least)
	case f.least != f.most:
		return fmt.Sprintf("%d to %d arguments", f.least, f.most)
	case f.least == 1:
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", f.least)
}

// arguments are the arguments of one call, with access by kind.
type arguments struct {
	*run
	name   string
	values []value.Value
}

// wrong reports that argument i has the wrong kind.
func (a *arguments) wrong(i int, want string) error {
	if len(a.values) == 1 {
		return fmt.Errorf("%s needs %s, not %s", a.name, want, show(a.values[i]))
	}
	return fmt.Errorf("argument %d of %s must be %s, not %s", i+1, a.name, want, show(a.values[i]))
}

// text returns argument i, a string, and pays for visiting it.
func (a *arguments) text(i int) (string, error) {
	s, ok := a.values[i].(string)
	if !ok {
		return "", a.wrong(i, "a string")
	}
	return s, a.scan(len(s))
}

// texts returns the first n arguments.
func (a *arguments) texts(n int) ([]string, error) {
	out := make([]string, n)
	for i := range out {
		s, err := a.text(i)
		if err != nil {
			return nil, err
		}
		out[i] = s
	}
	return out, nil
}

// integer returns argument i, a whole number: 2.0 is one, because the model has no other 2.
func (a *arguments) integer(i int) (int64, error) {
	n, ok := a.values[i].(int64)
	if !ok {
		return 0, a.wrong(i, "an integer")
	}
	return n, nil
}

// count returns argument i, an integer that is not negative.
func (a *arguments) count(i int) (int64, error) {
	n, err := a.integer(i)
	if err == nil && n < 0 {
		err = a.wrong(i, "at least 0")
	}
	return n, err
}

// list returns argument i, a list, and pays for visiting it.
func (a *arguments) list(i int) ([]any, error) {
	list, ok := a.values[i].([]any)
	if !ok {
		return nil, a.wrong(i, "a list")
	}
	return list, a.spend(1 + len(list))
}

// object returns argument i, an object, with its sorted keys, and pays for visiting it and for a list of its size.
func (a *arguments) object(i int) (map[string]any, []string, error) {
	object, ok := a.values[i].(map[string]any)
	if !ok {
		return nil, nil, a.wrong(i, "an object")
	}
	if err := a.spend((1 + len(object)) * bitLen(len(object))); err != nil {
		return nil, nil, err
	}
	if err := a.grow(len(object) * 2 * slotBytes); err != nil {
		return nil, nil, err
	}
	return object, slices.Sorted(maps.Keys(object)), nil
}

// bitLen returns the factor for the cost of sorting, at least 1.
func bitLen(n int) int { return max(1, bits.Len(uint(n))) }

package expr

import (
	"errors"
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/sluiceflow/sluice/template/value"
)

// operator combines two values that have both been evaluated.
type operator func(r *run, a, b value.Value) (value.Value, error)

// operators are those that evaluate both sides; and, or, ?? and matches are compiled separately.
var operators = map[string]operator{
	"+": add,
	"-": func(_ *run, a, b value.Value) (value.Value, error) {
		return arithmetic("subtract", a, b, subInt, subFloat)
	},
	"*": func(_ *run, a, b value.Value) (value.Value, error) {
		return arithmetic("multiply", a, b, mulInt, mulFloat)
	},
	"/": func(_ *run, a, b value.Value) (value.Value, error) {
		return arithmetic("divide", a, b, divInt, divFloat)
	},
	"%": modulo,
	"**": func(_ *run, a, b value.Value) (value.Value, error) {
		return arithmetic("raise", a, b, powInt, powFloat)
	},
	"^": func(_ *run, a, b value.Value) (value.Value, error) {
		return arithmetic("raise", a, b, powInt, powFloat)
	},
	"==": func(r *run, a, b value.Value) (value.Value, error) { return r.equal(a, b) },
	"!=": func(r *run, a, b value.Value) (value.Value, error) { ok, err := r.equal(a, b); return !ok, err },
	"<":  func(r *run, a, b value.Value) (value.Value, error) { n, err := r.compare(a, b); return n < 0, err },
	"<=": func(r *run, a, b value.Value) (value.Value, error) { n, err := r.compare(a, b); return n <= 0, err },
	">":  func(r *run, a, b value.Value) (value.Value, error) { n, err := r.compare(a, b); return n > 0, err },
	">=": func(r *run, a, b value.Value) (value.Value, error) { n, err := r.compare(a, b); return n >= 0, err },
	"in": in,
	"..": rangeOf,

	"contains": func(r *run, a, b value.Value) (value.Value, error) {
		return search(r, "contains", a, b, strings.Contains)
	},
	"startsWith": func(r *run, a, b value.Value) (value.Value, error) {
		return search(r, "startsWith", a, b, strings.HasPrefix)
	},
	"endsWith": func(r *run, a, b value.Value) (value.Value, error) {
		return search(r, "endsWith", a, b, strings.HasSuffix)
	},
}

// binary compiles an operator with two sides. With skipIsOK it is the left side of ??, which matters if it is a ?? too.
func (c *compiler) binary(n *ast.BinaryNode, skipIsOK bool) node {
	switch n.Operator {
	case "and", "&&":
		return junction(n.Operator, c.compile(n.Left), c.compile(n.Right), false)
	case "or", "||":
		return junction(n.Operator, c.compile(n.Left), c.compile(n.Right), true)
	case "??":
		return coalesce(c.defaulted(n.Left, true), c.defaulted(n.Right, skipIsOK))
	case "matches":
		return c.matches(n)
	case "..":
		c.builds = true
	}
	op, ok := operators[n.Operator]
	if !ok {
		return c.fail(n, n.Operator, "", "unknown operator %q", n.Operator)
	}
	left, right := c.compile(n.Left), c.compile(n.Right)
	return func(r *run) (value.Value, error) {
		a, err := left(r)
		if err != nil {
			return nil, err
		}
		b, err := right(r)
		if err != nil {
			return nil, err
		}
		v, err := op(r, a, b)
		if err != nil {
			return nil, err
		}
		return v, nil
	}
}

// defaulted compiles the left side of ??.
func (c *compiler) defaulted(n ast.Node, skipIsOK bool) node {
	switch n := n.(type) {
	case *ast.MemberNode, *ast.ChainNode:
		return c.chain(n, skipIsOK)
	case *ast.BinaryNode:
		if n.Operator == "??" {
			return c.binary(n, skipIsOK)
		}
	}
	return c.compile(n)
}

// coalesce implements ??: the right side is evaluated only if the left one is null. chain makes a missing output null there.
func coalesce(left, right node) node {
	return func(r *run) (value.Value, error) {
		v, err := left(r)
		if v != nil || err != nil {
			return v, err
		}
		return right(r)
	}
}

// junction is `and`, or `or` if stop is true: the right side is evaluated only if the left one does not decide.
func junction(name string, left, right node, stop bool) node {
	what := "both sides of " + name
	return func(r *run) (value.Value, error) {
		a, err := evalTruth(r, left, what)
		if err != nil || a == stop {
			return a, err
		}
		return evalTruth(r, right, what)
	}
}

// unary compiles not, ! and the signs. Minus is zero minus, which is an error for the least integer, as it must be.
func (c *compiler) unary(n *ast.UnaryNode) node {
	operand := c.compile(n.Node)
	switch n.Operator {
	case "not", "!":
		return func(r *run) (value.Value, error) {
			b, err := evalTruth(r, operand, "what is negated")
			return !b, err
		}
	case "-":
		return func(r *run) (value.Value, error) {
			v, err := operand(r)
			if err != nil {
				return nil, err
			}
			return arithmetic("subtract", int64(0), v, subInt, subFloat)
		}
	}
	return func(r *run) (value.Value, error) {
		v, err := operand(r)
		if err == nil && !isNumber(v) {
			err = fmt.Errorf("+ needs a number, not %s", show(v))
		}
		return v, err
	}
}

// in searches for a in the elements of a list or the keys of an object. A list may contain null, but a must not be null:
// that is usually a missing value, for which false would be misleading.
func in(r *run, a, b value.Value) (value.Value, error) {
	if a == nil {
		return nil, errors.New("`in` cannot look for null; compare with == null")
	}
	switch b := b.(type) {
	case []any:
		if err := r.spend(len(b)); err != nil {
			return nil, err
		}
		for _, item := range b {
			if ok, err := r.equal(item, a); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	case map[string]any:
		if key, ok := a.(string); ok {
			_, found := b[key]
			return found, r.scan(len(key))
		}
		return nil, fmt.Errorf("a key must be a string, not %s", show(a))
	case string:
		return nil, errors.New("`in` looks into lists and objects; for text write a contains b")
	}
	return nil, fmt.Errorf("`in` needs a list or an object, not %s", value.Describe(b))
}

// rangeOf lists the integers from a to b, both included.
func rangeOf(r *run, a, b value.Value) (value.Value, error) {
	from, okA := a.(int64)
	to, okB := b.(int64)
	if !okA || !okB {
		return nil, fmt.Errorf("a range needs two integers, not %s and %s", value.Describe(a), value.Describe(b))
	}
	if from > to {
		return []any{}, nil
	}
	if size := uint64(to) - uint64(from); size >= MaxSteps { // unsigned, so that it cannot overflow
		return nil, r.spend(MaxSteps + 1)
	}
	size := int(to-from) + 1
	if err := r.spend(size); err != nil {
		return nil, err
	}
	list, err := r.newList(size)
	if err != nil {
		return nil, err
	}
	for i := range size {
		list = append(list, from+int64(i))
	}
	return list, nil
}

// search implements contains, startsWith and endsWith.
func search(r *run, name string, a, b value.Value, found func(s, sub string) bool) (value.Value, error) {
	s, t, err := twoTexts(name, a, b)
	if err != nil {
		return nil, err
	}
	return found(s, t), r.scan(len(s) + len(t))
}

func twoTexts(name string, a, b value.Value) (s, t string, err error) {
	s, okA := a.(string)
	t, okB := b.(string)
	if !okA || !okB {
		return "", "", fmt.Errorf("%s needs two strings, not %s and %s", name, value.Describe(a), value.Describe(b))
	}
	return s, t, nil
}

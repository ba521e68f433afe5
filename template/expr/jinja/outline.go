package jinja

import (
	"slices"

	"github.com/sluiceflow/sluice/template/expr"
)

// Outlines returns the outlines of the expressions in a text; alone reports whether the text is a single expression.
func Outlines(text string) (list []*expr.Outline, alone bool, err error) {
	pieces, f := scan(text)
	if f != nil {
		return nil, false, f
	}
	for _, p := range pieces {
		if !p.expression {
			continue
		}
		tree, _, f := parse(p.text)
		if f != nil {
			return nil, false, f
		}
		list = append(list, outline(tree))
	}
	return list, len(pieces) == 1 && len(list) == 1, nil
}

// filterKinds maps filters to the kinds of their outlines.
var filterKinds = map[string]expr.OutlineKind{
	"length": expr.Length, "count": expr.Length, "default": expr.Fallback, "d": expr.Fallback,
	"int": expr.Arithmetic, "float": expr.Arithmetic, "abs": expr.Arithmetic, "round": expr.Arithmetic,
	"sum": expr.Iteration, "map": expr.Iteration, "select": expr.Iteration, "selectattr": expr.Iteration, "reject": expr.Iteration, "rejectattr": expr.Iteration,
	"sort": expr.Iteration, "unique": expr.Iteration, "join": expr.Iteration, "min": expr.Iteration, "max": expr.Iteration, "list": expr.Iteration, "reverse": expr.Iteration,
	"batch": expr.Iteration, "slice": expr.Iteration, "groupby": expr.Iteration,
}

// keeping are the filters and methods that only convert their argument, and so have its outline.
var keeping = []string{"string", "lower", "upper", "trim", "strip"}

func outline(n node) *expr.Outline {
	made := func(does expr.OutlineKind, parts ...node) *expr.Outline {
		o := &expr.Outline{Kind: does}
		for _, p := range parts {
			o.Args = append(o.Args, outline(p))
		}
		return o
	}
	if holder, key, ok := member(n); ok {
		return outline(holder).At(key)
	}
	switch n := n.(type) {
	case literal:
		if f, ok := n.v.(float64); ok {
			return &expr.Outline{Kind: expr.Literal, Value: whole(f)}
		}
		return &expr.Outline{Kind: expr.Literal, Value: n.v}
	case variable:
		return &expr.Outline{Kind: expr.Reference, Path: []string{n.name}}
	case listing:
		return made(expr.ListLiteral, n.items...)
	case item:
		if l, ok := n.index.(literal); ok && l.v != nil {
			return outline(n.of).At(expr.Element)
		}
	case slice:
		return made(expr.Iteration, n.of)
	case choice:
		return made(expr.Choice, n.test, n.yes, n.no)
	case logic:
		return made(expr.Logic, n.left, n.right)
	case negation:
		return made(expr.Logic, n.of)
	case sign:
		return made(expr.Arithmetic, n.of)
	case arithmetic:
		o := made(expr.Arithmetic, n.left, n.right)
		if n.op == "~" || n.op == "+" && slices.ContainsFunc(o.Args, (*expr.Outline).IsText) {
			o.Kind = expr.Other
		}
		return o
	case comparison:
		return chained(n)
	case method:
		if slices.Contains(keeping, n.name) {
			return outline(n.of)
		}
	case filtered:
		if slices.Contains(keeping, n.name) {
			return outline(n.of)
		}
		if n.name == "first" || n.name == "last" {
			return outline(n.of).At(expr.Element)
		}
		o := made(filterKinds[n.name], append([]node{n.of}, n.args.nodes()...)...)
		if n.name == "sum" && len(n.args.nodes()) == 0 {
			o.Args = append(o.Args, &expr.Outline{Kind: expr.Arithmetic, Args: []*expr.Outline{o.Args[0].At(expr.Element)}})
		}
		return o
	}
	return made(expr.Other, children(n)...)
}

// chained returns the outline of a < b < c, in which each operand is compared with the next.
func chained(n comparison) *expr.Outline {
	all := &expr.Outline{Kind: expr.Logic}
	left := outline(n.first)
	for _, l := range n.links {
		right := outline(l.right)
		does := expr.Ordering
		switch l.op {
		case "==", "!=":
			does = expr.Equality
		case "in", "not in":
			does = expr.Membership
		}
		all.Args = append(all.Args, &expr.Outline{Kind: does, Args: []*expr.Outline{left, right}})
		left = right
	}
	if len(all.Args) == 1 {
		return all.Args[0]
	}
	return all
}

package jinja

import (
	"slices"

	"github.com/sluiceflow/sluice/template/expr"
)

// Outlines returns the outlines of the expressions in a text; alone: the text is one expression and nothing else.
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

// does is what filters do, as far as that can be said.
var does = map[string]expr.Does{
	"length": expr.Measures, "count": expr.Measures, "default": expr.Falls, "d": expr.Falls,
	"int": expr.Reckons, "float": expr.Reckons, "abs": expr.Reckons, "round": expr.Reckons,
	"sum": expr.Goes, "map": expr.Goes, "select": expr.Goes, "selectattr": expr.Goes, "reject": expr.Goes, "rejectattr": expr.Goes,
	"sort": expr.Goes, "unique": expr.Goes, "join": expr.Goes, "min": expr.Goes, "max": expr.Goes, "list": expr.Goes, "reverse": expr.Goes,
	"batch": expr.Goes, "slice": expr.Goes, "groupby": expr.Goes,
}

// keeping are the filters and methods that only tidy what they are given, so that it is asked the same as what they return.
var keeping = []string{"string", "lower", "upper", "trim", "strip"}

func outline(n node) *expr.Outline {
	made := func(does expr.Does, parts ...node) *expr.Outline {
		o := &expr.Outline{Does: does}
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
			return &expr.Outline{Does: expr.Says, Value: whole(f)}
		}
		return &expr.Outline{Does: expr.Says, Value: n.v}
	case variable:
		return &expr.Outline{Does: expr.Reads, Path: []string{n.name}}
	case listing:
		return made(expr.Lists, n.items...)
	case item:
		if l, ok := n.index.(literal); ok && l.v != nil {
			return outline(n.of).At(expr.Element)
		}
	case slice:
		return made(expr.Goes, n.of)
	case choice:
		return made(expr.Chooses, n.test, n.yes, n.no)
	case logic:
		return made(expr.Tests, n.left, n.right)
	case negation:
		return made(expr.Tests, n.of)
	case sign:
		return made(expr.Reckons, n.of)
	case arithmetic:
		o := made(expr.Reckons, n.left, n.right)
		if n.op == "~" || n.op == "+" && slices.ContainsFunc(o.Args, (*expr.Outline).IsText) {
			o.Does = expr.Something
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
		o := made(does[n.name], append([]node{n.of}, n.args.nodes()...)...)
		if n.name == "sum" && len(n.args.nodes()) == 0 {
			o.Args = append(o.Args, &expr.Outline{Does: expr.Reckons, Args: []*expr.Outline{o.Args[0].At(expr.Element)}})
		}
		return o
	}
	return made(expr.Something, children(n)...)
}

// chained is a < b < c: each with the next.
func chained(n comparison) *expr.Outline {
	all := &expr.Outline{Does: expr.Tests}
	left := outline(n.first)
	for _, l := range n.links {
		right := outline(l.right)
		does := expr.Orders
		switch l.op {
		case "==", "!=":
			does = expr.Equates
		case "in", "not in":
			does = expr.Finds
		}
		all.Args = append(all.Args, &expr.Outline{Does: does, Args: []*expr.Outline{left, right}})
		left = right
	}
	if len(all.Args) == 1 {
		return all.Args[0]
	}
	return all
}

package expr

import (
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/sluiceflow/sluice/template/value"
)

// Outline describes the structure of an expression, as far as it determines which values of its inputs lead to different
// results. It is common to both dialects, so that a search for such values is independent of the dialect.
type Outline struct {
	Kind  OutlineKind // determines the other fields
	Path  []string    // of a Reference: a variable, and keys below it
	Value value.Value // of a Literal
	Args  []*Outline  // the parts, in the order written
}

// OutlineKind classifies an expression or a part of one.
type OutlineKind uint8

// The kinds of outlines.
const (
	Other       OutlineKind = iota // anything else, with Args
	Reference                      // the value at Path
	Literal                        // Value
	ListLiteral                    // the list of Args
	Logic                          // takes each of Args as true or false
	Equality                       // compares two Args
	Ordering                       // compares two Args by which is less
	Membership                     // looks for Args[0] in Args[1]
	TextMatch                      // looks for the text Args[1] in the text Args[0]
	Arithmetic                     // takes Args as numbers
	Length                         // the length of Args[0]
	Iteration                      // visits the elements of the list Args[0] and evaluates Args[1:] for each
	Fallback                       // Args[0], or Args[1] if that is null or missing
	Choice                         // Args[1] if Args[0] holds, else Args[2]
)

// Element is the key in a Path for any element of a list.
const Element = "[]"

// At returns the outline of a member of o by its key.
func (o *Outline) At(key string) *Outline {
	if o.Kind != Reference {
		return &Outline{Args: []*Outline{o}}
	}
	return &Outline{Kind: Reference, Path: append(slices.Clip(o.Path), key)}
}

// IsText reports whether the outline is a literal text.
func (o *Outline) IsText() bool {
	_, ok := o.Value.(string)
	return ok
}

// Outlines returns the outlines of the expressions in a text; alone reports whether the text is a single expression.
func Outlines(text string) (list []*Outline, alone bool, err error) {
	pieces, fault := scan(text)
	if fault != nil {
		return nil, false, fault
	}
	for _, p := range pieces {
		if !p.isExpr {
			continue
		}
		tree, fault := parse(p.text)
		if fault != nil {
			return nil, false, fault
		}
		list = append(list, (&outliner{}).of(tree))
	}
	return list, len(pieces) == 1 && len(list) == 1, nil
}

// outliner makes an outline of a syntax tree.
type outliner struct {
	locals   map[string]*Outline // variables of let
	elements []*Outline          // meanings of #, innermost last
}

func (u *outliner) of(n ast.Node) *Outline {
	switch n := n.(type) {
	case *ast.NilNode:
		return &Outline{Kind: Literal}
	case *ast.BoolNode:
		return &Outline{Kind: Literal, Value: n.Value}
	case *ast.IntegerNode:
		return &Outline{Kind: Literal, Value: int64(n.Value)}
	case *ast.FloatNode:
		return &Outline{Kind: Literal, Value: n.Value}
	case *ast.StringNode:
		return &Outline{Kind: Literal, Value: n.Value}
	case *ast.IdentifierNode:
		if v := u.locals[n.Value]; v != nil {
			return v
		}
		if n.Value == "null" {
			return &Outline{Kind: Literal}
		}
		return &Outline{Kind: Reference, Path: []string{n.Value}}
	case *ast.PointerNode:
		if n.Name == "" && len(u.elements) > 0 {
			return u.elements[len(u.elements)-1]
		}
	case *ast.ChainNode:
		return u.of(n.Node)
	case *ast.MemberNode:
		return u.member(n)
	case *ast.UnaryNode:
		return u.unary(n)
	case *ast.BinaryNode:
		return u.binary(n)
	case *ast.ConditionalNode:
		return &Outline{Kind: Choice, Args: u.all(n.Cond, n.Exp1, n.Exp2)}
	case *ast.ArrayNode:
		return &Outline{Kind: ListLiteral, Args: u.all(n.Nodes...)}
	case *ast.MapNode:
		return &Outline{Args: u.all(n.Pairs...)}
	case *ast.PairNode:
		return u.of(n.Value)
	case *ast.VariableDeclaratorNode:
		if u.locals == nil {
			u.locals = map[string]*Outline{}
		}
		u.locals[n.Name] = u.of(n.Value)
		return u.of(n.Expr)
	case *ast.SequenceNode:
		return u.of(n.Nodes[len(n.Nodes)-1])
	case *ast.SliceNode:
		return &Outline{Kind: Iteration, Args: u.all(n.Node)}
	case *ast.BuiltinNode:
		return u.call(n.Name, n.Arguments)
	case *ast.CallNode:
		if name, ok := n.Callee.(*ast.IdentifierNode); ok {
			return u.call(name.Value, n.Arguments)
		}
	}
	return &Outline{}
}

func (u *outliner) all(nodes ...ast.Node) []*Outline {
	list := make([]*Outline, len(nodes))
	for i, n := range nodes {
		list[i] = u.of(n)
	}
	return list
}

func (u *outliner) member(n *ast.MemberNode) *Outline {
	of := u.of(n.Node)
	switch p := n.Property.(type) {
	case *ast.StringNode:
		return of.At(p.Value)
	case *ast.IntegerNode:
		return of.At(Element)
	}
	return &Outline{Args: []*Outline{of, u.of(n.Property)}}
}

var unaries = map[string]OutlineKind{"!": Logic, "not": Logic, "-": Arithmetic, "+": Arithmetic}

var binaries = map[string]OutlineKind{
	"&&": Logic, "and": Logic, "||": Logic, "or": Logic, "==": Equality, "!=": Equality,
	"<": Ordering, "<=": Ordering, ">": Ordering, ">=": Ordering, "in": Membership, "not in": Membership,
	"contains": TextMatch, "startsWith": TextMatch, "endsWith": TextMatch, "??": Fallback,
	"-": Arithmetic, "*": Arithmetic, "/": Arithmetic, "%": Arithmetic, "**": Arithmetic, "^": Arithmetic, "..": Arithmetic, "+": Arithmetic,
}

// unary treats a signed number as a literal.
func (u *outliner) unary(n *ast.UnaryNode) *Outline {
	o := u.of(n.Node)
	if n.Operator == "-" && o.Kind == Literal {
		switch v := o.Value.(type) {
		case int64:
			return &Outline{Kind: Literal, Value: -v}
		case float64:
			return &Outline{Kind: Literal, Value: -v}
		}
	}
	return &Outline{Kind: unaries[n.Operator], Args: []*Outline{o}}
}

func (u *outliner) binary(n *ast.BinaryNode) *Outline {
	o := &Outline{Kind: binaries[n.Operator], Args: u.all(n.Left, n.Right)}
	if n.Operator == "+" && slices.ContainsFunc(o.Args, (*Outline).IsText) {
		o.Kind = Other
	}
	return o
}

// The functions that evaluate a predicate for each element, others that need a list, and those that have the outline of their argument,
// since they only convert it.
var (
	predicateFunctions = []string{"all", "any", "none", "one", "filter", "find", "findIndex", "findLast", "findLastIndex", "count"}
	elementFunctions   = []string{"map", "sum", "reduce", "sortBy", "groupBy", "first", "last", "sort", "reverse", "flatten", "uniq", "min", "max", "concat", "take"}
	conversions        = []string{"string", "lower", "upper", "trim"}
)

var functionsDo = map[string]OutlineKind{"len": Length, "int": Arithmetic, "float": Arithmetic, "abs": Arithmetic, "round": Arithmetic, "ceil": Arithmetic, "floor": Arithmetic}

// call returns the outline of a function's call.
func (u *outliner) call(name string, args []ast.Node) *Outline {
	if len(args) == 0 {
		return &Outline{}
	}
	if slices.Contains(conversions, name) {
		return u.of(args[0])
	}
	asks := slices.Contains(predicateFunctions, name)
	if !asks && !slices.Contains(elementFunctions, name) {
		return &Outline{Kind: functionsDo[name], Args: u.all(args...)}
	}
	asked := Other
	switch {
	case asks:
		asked = Logic
	case name == "sum":
		asked = Arithmetic
	}
	o := &Outline{Kind: Iteration, Args: u.all(args[0])}
	element := o.Args[0].At(Element)
	if len(args) == 1 {
		o.Args = append(o.Args, &Outline{Kind: asked, Args: []*Outline{element}})
	}
	u.elements = append(u.elements, element)
	for _, a := range args[1:] {
		o.Args = append(o.Args, &Outline{Kind: asked, Args: []*Outline{u.predicate(a)}})
	}
	u.elements = u.elements[:len(u.elements)-1]
	return o
}

func (u *outliner) predicate(n ast.Node) *Outline {
	if p, ok := n.(*ast.PredicateNode); ok {
		return u.of(p.Node)
	}
	return u.of(n)
}

package expr

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"github.com/sluiceflow/sluice/template/value"
)

// compiler turns syntax trees into nodes. It continues after an error, so that all are reported at once; the nodes are then
// never evaluated.
type compiler struct {
	scope []string
	known map[string][]string // Keys of the Scope
	reads []Read
	names []string
	keys  map[string]*keySet // by name, and by name and key, of those that are used
	errs  []error
	slots int  // variables of `let`, over all expressions
	mixed bool // a text around expressions has been compiled

	// Of the string and the expression at hand.
	pointer string
	piece   piece
	locals  []local
	loops   []loopKind          // surrounding predicates, innermost last
	done    map[ast.Node]shared // the parser shares nodes: a < b < c has b twice
	builds  bool                // the expression makes lists or objects
	size    int                 // nodes compiled so far
}

// local is a variable declared by `let`.
type local struct {
	name string
	slot int
}

// shared is a node that has been compiled, and the number of nodes in it.
type shared struct {
	node
	size int
}

type loopKind uint8

const (
	plainLoop loopKind = iota
	reduceLoop
)

// report adds an error about the current string.
func (c *compiler) report(e *Error) {
	e.Pointer = c.pointer
	c.errs = append(c.errs, e)
}

// fail reports an error at a place in the current expression.
func (c *compiler) fail(n ast.Node, text, suggestion, format string, args ...any) node {
	c.report(&Error{
		Offset:     c.piece.offset + c.byteOffset(n.Location().From),
		Text:       text,
		Msg:        fmt.Sprintf(format, args...),
		Suggestion: suggestion,
	})
	return func(*run) (value.Value, error) { return nil, nil }
}

// byteOffset converts an offset in code points, which the parser counts in.
func (c *compiler) byteOffset(runes int) int {
	for i := range c.piece.text {
		if runes == 0 {
			return i
		}
		runes--
	}
	return len(c.piece.text)
}

// use records that a name of the scope is read, and which part of it. It returns the node that reads it.
func (c *compiler) use(name string, note func(*keySet)) node {
	if !slices.Contains(c.names, name) {
		c.names = append(c.names, name)
	}
	c.note(name, note)
	return func(r *run) (value.Value, error) { return r.env.Name(name) }
}

// located adds the expression to the errors of n.
func (c *compiler) located(text string, offset int, n node) node {
	pointer := c.pointer
	return func(r *run) (value.Value, error) {
		v, err := n(r)
		if err != nil {
			return nil, &Error{Pointer: pointer, Offset: offset, Text: text, Msg: fmt.Sprintf("%s: %v", Clip(text), err), Err: err}
		}
		return v, nil
	}
}

// expression compiles one {{ expression }}.
func (c *compiler) expression(p piece) node {
	c.piece, c.locals, c.loops, c.builds, c.size = p, nil, nil, false, 0
	c.done = make(map[ast.Node]shared)
	text := "{{" + p.text + "}}"
	tree, err := parse(p.text)
	if err != nil {
		err.Msg = fmt.Sprintf("malformed expression %s: %s", Clip(text), err.Msg)
		err.Text, err.Offset = text, p.offset+c.byteOffset(err.Offset)
		c.report(err)
		return nil
	}
	before := len(c.reads)
	n := c.compile(tree)
	reads := c.reads[before:]
	sort.SliceStable(reads, func(i, j int) bool { return reads[i].Offset < reads[j].Offset })
	if c.builds {
		n = weighed(n)
	}
	return c.located(text, p.offset-2, n)
}

// weighed checks that the result of n is small enough to visit.
func weighed(n node) node {
	return func(r *run) (value.Value, error) {
		v, err := n(r)
		if err == nil {
			_, err = r.weigh(v)
		}
		return v, err
	}
}

// parse runs the parser. The Offset of the error is in code points.
func parse(source string) (ast.Node, *Error) {
	if strings.TrimSpace(source) == "" {
		return nil, &Error{Msg: "it is empty"}
	}
	// The parser takes this limit, and names that override built-in ones, from its configuration.
	tree, err := parser.ParseWithConfig(source, &conf.Config{MaxNodes: MaxNodes})
	if err == nil {
		return tree.Node, nil
	}
	fault, ok := err.(*file.Error)
	if !ok {
		return nil, &Error{Msg: err.Error()}
	}
	return nil, &Error{Offset: fault.From, Msg: parserMessage(fault.Message)}
}

var tokenKinds = regexp.MustCompile(`(?:Identifier|Number|String|Bytes|Operator|Bracket)\(("(?:[^"\\]|\\.)*")\)`)

var outOfRange = regexp.MustCompile(`invalid \w+ literal: strconv\.\w+: parsing "(\w+)": value out of range`)

// parserMessage translates a message of the parser into the words of this package.
func parserMessage(msg string) string {
	msg = strings.ReplaceAll(msg, "unexpected token EOF", "unexpected end")
	msg = outOfRange.ReplaceAllString(msg, "$1 is beyond the range of integers, which ends at ±9.2e18")
	msg = strings.ReplaceAll(msg, "compilation failed: expression exceeds maximum allowed nodes", fmt.Sprintf("it has more than %d parts", MaxNodes))
	return tokenKinds.ReplaceAllString(strings.ReplaceAll(msg, "unexpected token ", "unexpected "), "$1")
}

// compile compiles a syntax tree. A node that the parser uses twice is compiled once, but both evaluations are paid for,
// because such nodes nest, and each level doubles the work.
func (c *compiler) compile(n ast.Node) node {
	if again, ok := c.done[n]; ok {
		return func(r *run) (value.Value, error) {
			if err := r.spend(again.size); err != nil {
				return nil, err
			}
			return again.node(r)
		}
	}
	c.size++
	before := c.size
	compiled := c.one(n)
	c.done[n] = shared{compiled, c.size - before + 1}
	return compiled
}

// one dispatches on the kind of node: one line each.
func (c *compiler) one(n ast.Node) node {
	switch n := n.(type) {
	case *ast.NilNode:
		return constant(nil)
	case *ast.BoolNode:
		return constant(n.Value)
	case *ast.IntegerNode:
		return constant(int64(n.Value))
	case *ast.FloatNode:
		return c.float(n)
	case *ast.StringNode:
		return constant(n.Value)
	case *ast.IdentifierNode:
		return c.identifier(n)
	case *ast.PointerNode:
		return c.hash(n)
	case *ast.MemberNode:
		return c.chain(n, false)
	case *ast.ChainNode:
		return c.chain(n, false)
	case *ast.SliceNode:
		return c.slice(n)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n, false)
	case *ast.ConditionalNode:
		return c.conditional(n)
	case *ast.VariableDeclaratorNode:
		return c.let(n)
	case *ast.SequenceNode:
		return c.sequence(n)
	case *ast.ArrayNode:
		return c.array(n)
	case *ast.MapNode:
		return c.mapping(n)
	case *ast.BuiltinNode:
		return c.call(n, n.Name, n.Arguments)
	case *ast.CallNode:
		return c.callNode(n)
	case *ast.PredicateNode:
		return c.compile(n.Node)
	case *ast.BytesNode:
		return c.fail(n, "", "", "bytes such as b\"…\" are not values here; write a string")
	}
	return c.fail(n, "", "", "this is not part of the language")
}

// constant returns the node of a literal.
func constant(v value.Value) node {
	return func(*run) (value.Value, error) { return v, nil }
}

// float compiles a literal with a point or an exponent: 1e3 and 2.0 are integers, as everywhere in the model.
func (c *compiler) float(n *ast.FloatNode) node {
	v, err := finite(n.Value)
	if err != nil {
		return c.fail(n, "", "", "%v", err)
	}
	return constant(v)
}

// identifier compiles a name by itself; chain compiles steps.
func (c *compiler) identifier(n *ast.IdentifierNode) node {
	if slot, ok := c.local(n.Value); ok {
		return func(r *run) (value.Value, error) { return r.vars[slot], nil }
	}
	switch name := n.Value; {
	case slices.Contains(c.scope, name):
		return c.use(name, (*keySet).addAll)
	case name == "null":
		return constant(nil)
	case name == "steps":
		return c.chain(n, false)
	}
	return c.unknown(n)
}

// unknown refuses a name and suggests the closest one, or lists all.
func (c *compiler) unknown(n *ast.IdentifierNode) node {
	known := slices.Concat(c.scope, c.localNames())
	suggestion := suggest(n.Value, known, []string{"steps"})
	if suggestion != "" || len(known) == 0 {
		return c.fail(n, n.Value, suggestion, "unknown name %q", n.Value)
	}
	slices.Sort(known)
	return c.fail(n, n.Value, "", "unknown name %q; known here: %s", n.Value, strings.Join(slices.Compact(known), ", "))
}

// local returns the slot of the innermost declaration of a variable.
func (c *compiler) local(name string) (int, bool) {
	for i := len(c.locals) - 1; i >= 0; i-- {
		if c.locals[i].name == name {
			return c.locals[i].slot, true
		}
	}
	return 0, false
}

// localNames returns the possible meanings of a misspelt name besides the scope.
func (c *compiler) localNames() []string {
	names := make([]string, len(c.locals))
	for i, l := range c.locals {
		names[i] = l.name
	}
	return names
}

// hash compiles #, #index and #acc.
func (c *compiler) hash(n *ast.PointerNode) node {
	switch {
	case n.Name == "" && len(c.loops) > 0:
		return func(r *run) (value.Value, error) { return r.frame.item, nil }
	case n.Name == "index" && len(c.loops) > 0:
		return func(r *run) (value.Value, error) { return int64(r.frame.index), nil }
	case n.Name == "acc" && len(c.loops) > 0 && c.loops[len(c.loops)-1] == reduceLoop:
		return func(r *run) (value.Value, error) { return r.frame.acc, nil }
	case n.Name == "acc":
		return c.fail(n, "#acc", "", "#acc is known in reduce only")
	}
	return c.fail(n, "#"+n.Name, suggest(n.Name, []string{"index", "acc"}), "unknown name %q", "#"+n.Name)
}

// conditional compiles c ? a : b and if c { a } else { b }. Only the branch taken is evaluated, so only its steps are read.
func (c *compiler) conditional(n *ast.ConditionalNode) node {
	cond := c.compile(n.Cond)
	otherwise := c.compile(n.Exp2)
	if n.Cond == n.Exp1 { // a ?: b, which would evaluate a twice
		return func(r *run) (value.Value, error) {
			v, err := cond(r)
			if err != nil {
				return nil, err
			}
			if ok, err := r.truth(v, "a condition"); ok || err != nil {
				return v, err
			}
			return otherwise(r)
		}
	}
	then := c.compile(n.Exp1)
	return func(r *run) (value.Value, error) {
		ok, err := evalTruth(r, cond, "a condition")
		if err != nil {
			return nil, err
		}
		if ok {
			return then(r)
		}
		return otherwise(r)
	}
}

// let compiles a declaration. A variable must not hide another name, so that names are unambiguous.
func (c *compiler) let(n *ast.VariableDeclaratorNode) node {
	v := c.compile(n.Value)
	_, taken := c.local(n.Name)
	_, isFunction := functions[n.Name]
	if taken || isFunction || slices.Contains(c.scope, n.Name) || n.Name == "steps" || n.Name == "null" || isPredicate(n.Name) {
		return c.fail(n, n.Name, "", "let %s would hide another %[1]s; choose a different name", n.Name)
	}
	slot := c.slots
	c.slots++
	c.locals = append(c.locals, local{n.Name, slot})
	body := c.compile(n.Expr)
	c.locals = c.locals[:len(c.locals)-1]
	return func(r *run) (value.Value, error) {
		x, err := v(r)
		if err != nil {
			return nil, err
		}
		r.vars[slot] = x
		return body(r)
	}
}

// sequence compiles a; b: all are evaluated, and the last is the result. It exists because the grammar has it.
func (c *compiler) sequence(n *ast.SequenceNode) node {
	parts := c.compileAll(n.Nodes)
	return func(r *run) (v value.Value, err error) {
		for _, part := range parts {
			if v, err = part(r); err != nil {
				return nil, err
			}
		}
		return v, nil
	}
}

// array compiles [a, b]. The list is new each time, though its elements may be shared.
func (c *compiler) array(n *ast.ArrayNode) node {
	c.builds = true
	parts := c.compileAll(n.Nodes)
	return func(r *run) (value.Value, error) {
		list, err := r.newList(len(parts))
		if err != nil {
			return nil, err
		}
		for _, part := range parts {
			v, err := part(r)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	}
}

// mapping compiles {key: value, …}.
func (c *compiler) mapping(n *ast.MapNode) node {
	c.builds = true
	var keys, values []node
	for _, p := range n.Pairs {
		pair := p.(*ast.PairNode)
		keys, values = append(keys, c.compile(pair.Key)), append(values, c.compile(pair.Value))
	}
	return func(r *run) (value.Value, error) {
		if err := r.grow(len(keys) * memberBytes); err != nil {
			return nil, err
		}
		object := make(map[string]any, len(keys))
		for i := range keys {
			key, err := keys[i](r)
			if err != nil {
				return nil, err
			}
			name, ok := key.(string)
			if !ok {
				return nil, fmt.Errorf("a key must be a string, not %s", show(key))
			}
			if err := r.scan(len(name)); err != nil {
				return nil, err
			}
			if object[name], err = values[i](r); err != nil {
				return nil, err
			}
		}
		return object, nil
	}
}

// compileAll compiles in the order of the text, which is the order of errors.
func (c *compiler) compileAll(nodes []ast.Node) []node {
	compiled := make([]node, len(nodes))
	for i, n := range nodes {
		compiled[i] = c.compile(n)
	}
	return compiled
}

// truth returns v if it is a boolean. No other value is true or false, except null in a guard, which is false.
func (r *run) truth(v value.Value, what string) (bool, error) {
	b, ok := v.(bool)
	if !ok && (v != nil || !r.guard) {
		return false, fmt.Errorf("%s must be true or false, not %s", what, show(v))
	}
	return b, nil
}

// evalTruth evaluates an expression that must be a boolean.
func evalTruth(r *run, n node, what string) (bool, error) {
	v, err := n(r)
	if err != nil {
		return false, err
	}
	return r.truth(v, what)
}

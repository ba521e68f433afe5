package purity

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// node is a function, a variable of the package, or a root, with its own impurities and the names that it uses.
type node struct {
	name    string
	faults  []fault
	edges   []edge
	summary summary
	nearest *finding // the nearest impurity, once it is settled
	trusted bool     // a directive declares it pure
}

// fault is an impurity of a node itself.
type fault struct {
	pos           token.Pos
	what, instead string
	soft          bool // about a variable: used if there is no other impurity
}

// edge leads to an object that a node names: a node of the package, or the facts about an object of another package.
type edge struct {
	pos  token.Pos
	name string
	to   *node
	far  *finding
}

func (n *node) fault(pos token.Pos, k *kind, what string) {
	n.add(fault{pos: pos, what: what + " " + k.does, instead: k.instead})
}

func (n *node) add(f fault) {
	if !slices.Contains(n.faults, f) {
		n.faults = append(n.faults, f)
	}
}

// body is the declaration of a function, or the initial value of variables.
type body struct {
	node    *node
	fn      *types.Func // nil: an initial value
	syntax  ast.Node
	vars    []types.Object                  // of an initial value: the variables that have it
	params  map[types.Object]int            // the receiver is -1
	aliases map[types.Object][]types.Object // of a local variable: its possible referents
	changes []mutation
}

// isInit reports whether a body runs before any step: it may fill the variables of its package.
func (b *body) isInit() bool {
	return b.fn == nil || b.fn.Name() == "init" && b.fn.Signature().Recv() == nil
}

// declare makes the nodes of the package and lists its bodies.
func (x *examiner) declare() {
	for _, file := range x.Files {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				x.declareFunc(file, d)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR {
						x.declareVar(v)
					}
				}
			}
		}
	}
}

func (x *examiner) declareFunc(file *ast.File, d *ast.FuncDecl) {
	f, ok := x.TypesInfo.Defs[d.Name].(*types.Func)
	if !ok {
		return
	}
	n := &node{name: nameOf(f)}
	x.nodes[f] = n
	if d.Body == nil {
		if linked(file, d.Name.Name) {
			n.fault(d.Pos(), process, n.name+", which is linked to another package,")
		}
		return
	}
	b := &body{node: n, fn: f, syntax: d, params: map[types.Object]int{}}
	if r := f.Signature().Recv(); r != nil {
		b.params[r] = -1
	}
	for i := range f.Signature().Params().Len() {
		b.params[f.Signature().Params().At(i)] = i
	}
	x.bodies = append(x.bodies, b)
}

func (x *examiner) declareVar(v *ast.ValueSpec) {
	var last *body
	for i, id := range v.Names {
		obj := x.TypesInfo.Defs[id]
		n := &node{name: "variable " + id.Name}
		if i < len(v.Values) {
			last = &body{node: n, syntax: v.Values[i], params: map[types.Object]int{}}
			x.bodies = append(x.bodies, last)
		} else if last != nil {
			n = last.node // one call sets all of them
		}
		x.nodes[obj] = n
		if last != nil {
			last.vars = append(last.vars, obj)
		}
	}
}

// linked reports whether a directive links a function without a body to another package.
func linked(file *ast.File, name string) bool {
	for _, group := range file.Comments {
		for _, c := range group.List {
			var local string
			if n, _ := fmt.Sscanf(c.Text, "//go:linkname %s", &local); n == 1 && local == name {
				return true
			}
		}
	}
	return false
}

// nameOf returns the name of a function, with the name of its receiver's type.
func nameOf(f *types.Func) string {
	if recv := receiverOf(f); recv != "" {
		return recv + "." + f.Name()
	}
	return f.Name()
}

// settleNearest finds the nearest impurity of each node: backwards along the edges, first impurities of functions, then those of
// variables alone, so that the clearer one is reported.
func (x *examiner) settleNearest() {
	type arrival struct {
		from *node
		edge edge
	}
	into := map[*node][]arrival{}
	list := x.list()
	for _, n := range list {
		for _, e := range n.edges {
			if e.to != nil {
				into[e.to] = append(into[e.to], arrival{n, e})
			}
		}
	}
	for _, soft := range []bool{false, true} {
		var queue []*node
		for _, n := range list {
			if n.nearest == nil && !n.trusted {
				n.nearest = x.own(n, soft)
			}
			if n.nearest != nil {
				queue = append(queue, n)
			}
		}
		for i := 0; i < len(queue); i++ {
			for _, a := range into[queue[i]] {
				if a.from.nearest == nil && !a.from.trusted {
					a.from.nearest = x.via(a.edge, queue[i].nearest)
					queue = append(queue, a.from)
				}
			}
		}
	}
}

// list returns the nodes in the order of the source.
func (x *examiner) list() (list []*node) {
	seen := map[*node]bool{}
	for _, b := range x.bodies {
		if !seen[b.node] {
			seen[b.node] = true
			list = append(list, b.node)
		}
	}
	var rest []*node // without a body: variables, and functions of assembly
	for _, name := range x.Pkg.Scope().Names() {
		if n := x.nodes[x.Pkg.Scope().Lookup(name)]; n != nil && !seen[n] {
			seen[n] = true
			rest = append(rest, n)
		}
	}
	return append(list, rest...)
}

// own returns an impurity of a node itself, or of an object of another package that it names.
func (x *examiner) own(n *node, soft bool) *finding {
	for _, f := range n.faults {
		if f.soft == soft {
			return &finding{What: f.what, Instead: f.instead, Where: x.place(f.pos)}
		}
	}
	for _, e := range n.edges {
		if e.far != nil && !soft {
			return x.via(e, e.far)
		}
	}
	return nil
}

// via returns a finding with an edge before its chain.
func (x *examiner) via(e edge, f *finding) *finding {
	longer := *f
	longer.Chain = append([]string{fmt.Sprintf("%s (%s)", e.name, x.place(e.pos))}, f.Chain...)
	return &longer
}

package purity

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"
)

// mutation is a change of a variable, or of its referent.
type mutation struct {
	root    types.Object
	pos     token.Pos
	through bool // by a pointer, slice or map: seen by all that refer to it
	fills   bool // sets, counts or deletes elements of a map by keys: the same in any order
}

// aliases finds the possible referents of the local variables of each body, whatever the order of its statements.
func (x *examiner) aliases() {
	for _, b := range x.bodies {
		b.aliases = map[types.Object][]types.Object{}
		for grows := true; grows; {
			grows = false
			assignments(x.TypesInfo, b.syntax, func(to types.Object, from ast.Expr) {
				if isGlobal(to) || !refers(to.Type(), nil) {
					return
				}
				for _, root := range x.refer(b, from) {
					if root != to && !slices.Contains(b.aliases[to], root) {
						b.aliases[to] = append(b.aliases[to], root)
						grows = true
					}
				}
			})
		}
	}
}

// assignments calls each with the variables that n assigns and the expressions that their values come from.
func assignments(info *types.Info, n ast.Node, each func(to types.Object, from ast.Expr)) {
	assign := func(to, from ast.Expr) {
		if id, ok := to.(*ast.Ident); ok && from != nil {
			if obj := info.ObjectOf(id); obj != nil {
				each(obj, from)
			}
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				assign(to, n.Rhs[min(i, len(n.Rhs)-1)])
			}
		case *ast.ValueSpec:
			for i, to := range n.Names {
				if len(n.Values) > 0 {
					assign(to, n.Values[min(i, len(n.Values)-1)])
				}
			}
		case *ast.RangeStmt:
			assign(n.Key, n.X)
			assign(n.Value, n.X)
		case *ast.TypeSwitchStmt:
			if s, ok := n.Assign.(*ast.AssignStmt); ok {
				for _, clause := range n.Body.List {
					if obj := info.Implicits[clause]; obj != nil {
						each(obj, s.Rhs[0])
					}
				}
			}
		}
		return true
	})
}

// refer returns the variables that the value of an expression may refer to.
func (x *examiner) refer(b *body, e ast.Expr) []types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := x.TypesInfo.ObjectOf(e).(*types.Var); ok {
			return append([]types.Object{v}, b.aliases[v]...)
		}
	case *ast.SelectorExpr:
		if v, ok := x.TypesInfo.Uses[e.Sel].(*types.Var); ok && !v.IsField() {
			return []types.Object{v}
		}
		return x.refer(b, e.X)
	case *ast.IndexExpr:
		return x.refer(b, e.X)
	case *ast.SliceExpr:
		return x.refer(b, e.X)
	case *ast.StarExpr:
		return x.refer(b, e.X)
	case *ast.UnaryExpr:
		return x.refer(b, e.X)
	case *ast.TypeAssertExpr:
		return x.refer(b, e.X)
	case *ast.CompositeLit:
		var all []types.Object
		for _, element := range e.Elts {
			if kv, ok := element.(*ast.KeyValueExpr); ok {
				element = kv.Value
			}
			if refers(x.TypesInfo.TypeOf(element), nil) {
				all = append(all, x.refer(b, element)...)
			}
		}
		return all
	case *ast.CallExpr:
		if tv := x.TypesInfo.Types[e.Fun]; (tv.IsType() || isBuiltin(x.TypesInfo, e, "append")) && len(e.Args) > 0 {
			return x.refer(b, e.Args[0])
		}
		if of := reflected(x.TypesInfo, e); of != nil {
			return x.refer(b, of)
		}
	}
	return nil
}

// reflected returns the expression of whose referent a call returns a reflect.Value: the argument of a function of package reflect, or the
// receiver of a method; nil: it returns no such value.
func reflected(info *types.Info, call *ast.CallExpr) ast.Expr {
	f, ok := typeutil.Callee(info, call).(*types.Func)
	if !ok || f.Pkg() == nil || f.Pkg().Path() != "reflect" || !isReflectValue(f.Signature()) {
		return nil
	}
	if method, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && f.Signature().Recv() != nil {
		return method.X
	}
	if len(call.Args) > 0 {
		return call.Args[0]
	}
	return nil
}

// isReflectValue reports whether a function returns one reflect.Value.
func isReflectValue(s *types.Signature) bool {
	if s.Results().Len() != 1 {
		return false
	}
	named, ok := types.Unalias(s.Results().At(0).Type()).(*types.Named)
	return ok && named.Obj().Name() == "Value"
}

// coreOf returns the underlying type; for a type parameter, that of the first type in its constraint.
func coreOf(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	p, ok := types.Unalias(t).(*types.TypeParam)
	if !ok {
		return t.Underlying()
	}
	iface := p.Constraint().Underlying().(*types.Interface)
	for e := range iface.EmbeddedTypes() {
		if u, ok := e.(*types.Union); ok && u.Len() > 0 {
			return u.Term(0).Type().Underlying()
		}
		if !types.IsInterface(e) {
			return e.Underlying()
		}
	}
	return t.Underlying()
}

// refers reports whether a value of a type may share memory with another.
func refers(t types.Type, seen []types.Type) bool {
	if t == nil || slices.Contains(seen, t) {
		return false
	}
	seen = append(seen, t)
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Struct:
		for f := range u.Fields() {
			if refers(f.Type(), seen) {
				return true
			}
		}
		return false
	case *types.Array:
		return refers(u.Elem(), seen)
	}
	return true
}

// settleChanges finds the changes of each body. A call makes the changes of its function, so it repeats until it finds no
// new one.
func (x *examiner) settleChanges() {
	for grows := true; grows; {
		grows = false
		for _, b := range x.bodies {
			b.changes = x.mutations(b)
			for _, m := range b.changes {
				i, ok := b.params[m.root]
				s := &b.node.summary
				if ok && m.through && s.changes(change{Param: i, Where: x.place(m.pos), Fills: m.fills}) {
					grows = true
				}
			}
		}
	}
}

func (x *examiner) mutations(b *body) (list []mutation) {
	ast.Inspect(b.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				list = append(list, x.filled(to, n.Tok, x.assigned(b, to))...)
			}
		case *ast.IncDecStmt:
			list = append(list, x.filled(n.X, token.ADD_ASSIGN, x.assigned(b, n.X))...)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				list = append(list, x.assigned(b, n.Key)...)
				if n.Value != nil {
					list = append(list, x.assigned(b, n.Value)...)
				}
			}
		case *ast.CallExpr:
			list = append(list, x.changedBy(b, n)...)
		}
		return true
	})
	return list
}

// assigned returns the variables that an assignment to an expression changes.
func (x *examiner) assigned(b *body, to ast.Expr) (list []mutation) {
	through, pos := false, to.Pos()
	for {
		switch e := ast.Unparen(to).(type) {
		case *ast.Ident:
			v, ok := x.TypesInfo.Uses[e].(*types.Var)
			if !ok {
				return nil // declared here, or blank
			}
			list = append(list, mutation{root: v, pos: pos, through: through})
			if through {
				for _, root := range b.aliases[v] {
					list = append(list, mutation{root: root, pos: pos, through: true})
				}
			}
			return list
		case *ast.SelectorExpr:
			if v, ok := x.TypesInfo.Uses[e.Sel].(*types.Var); ok && !v.IsField() {
				return []mutation{{root: v, pos: pos, through: through}}
			}
			if s := x.TypesInfo.Selections[e]; s != nil && s.Indirect() {
				through = true
			}
			to = e.X
		case *ast.IndexExpr:
			if _, ok := x.TypesInfo.TypeOf(e.X).Underlying().(*types.Array); !ok {
				through = true
			}
			to = e.X
		case *ast.StarExpr:
			through, to = true, e.X
		default:
			for _, root := range x.refer(b, e) {
				list = append(list, mutation{root: root, pos: pos, through: true})
			}
			return list
		}
	}
}

// filled marks the changes of an assignment that fill a map.
func (x *examiner) filled(to ast.Expr, tok token.Token, list []mutation) []mutation {
	at, ok := ast.Unparen(to).(*ast.IndexExpr)
	if !ok || x.TypesInfo.Types[at.Index].Value != nil {
		return list
	}
	m, ok := coreOf(x.TypesInfo.TypeOf(at.X)).(*types.Map)
	if ok && (tok == token.ASSIGN || tok == token.ADD_ASSIGN && isInteger(m.Elem())) {
		for i := range list {
			list[i].fills = true
		}
	}
	return list
}

// changedBy returns the arguments that a call changes.
func (x *examiner) changedBy(b *body, call *ast.CallExpr) (list []mutation) {
	note := func(roots []types.Object, fills bool) {
		for _, root := range roots {
			list = append(list, mutation{root: root, pos: call.Pos(), through: true, fills: fills})
		}
	}
	for _, name := range []string{"delete", "clear", "copy"} {
		if isBuiltin(x.TypesInfo, call, name) {
			note(x.refer(b, call.Args[0]), name != "copy")
			return list
		}
	}
	f, ok := typeutil.Callee(x.TypesInfo, call).(*types.Func)
	if !ok {
		return nil
	}
	if isMachine(f) {
		note(x.emitsThrough(b, call, f.Origin()), false)
		return list
	}
	for _, c := range x.changesOf(f.Origin()) {
		for _, arg := range x.arguments(call, f, c.Param) {
			if c.Param < 0 || refers(x.TypesInfo.TypeOf(arg), nil) {
				note(x.refer(b, arg), c.Fills)
			}
		}
	}
	return list
}

// inAnyOrder holds the methods of the standard library that change their receiver, with the same result in any order.
var inAnyOrder = setOf("math/big.Int.Add math/big.Int.Sub math/big.Int.Mul math/big.Rat.Add math/big.Rat.Sub math/big.Rat.Mul maps.Copy maps.Insert net/url.Values.Set")

// changesOf returns the changes of a function through its parameters.
func (x *examiner) changesOf(f *types.Func) []change {
	if j, ok := x.standard(f); ok {
		if i, changes := changedByStandard(f); changes && j.of(f) == nil {
			return []change{{Param: i, Fills: inAnyOrder[f.Pkg().Path()+"."+nameOf(f)]}}
		}
		return nil
	}
	list := x.summaryOf(f).Changes
	if recv := f.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) && x.someChanges(f) {
		return []change{{Param: -1}}
	}
	return list
}

// someChanges reports whether a type of the package that implements the interface of a method changes its receiver in that
// method.
func (x *examiner) someChanges(method *types.Func) bool {
	iface := method.Signature().Recv().Type().Underlying().(*types.Interface)
	for obj, n := range x.nodes {
		f, ok := obj.(*types.Func)
		if ok && f.Name() == method.Name() && f.Signature().Recv() != nil && types.Implements(f.Signature().Recv().Type(), iface) &&
			slices.ContainsFunc(n.summary.Changes, func(c change) bool { return c.Param == -1 }) {
			return true
		}
	}
	return false
}

// isMachine reports whether an object belongs to the package of machines.
func isMachine(obj types.Object) bool { return obj.Pkg() != nil && obj.Pkg().Path() == machinePath }

// readOnlyMethods holds the methods of an activation that change nothing.
var readOnlyMethods = setOf("Now Key Cell Seq Origin")

// emitsThrough returns the activations by which a call of package machine emits, notes or draws.
func (x *examiner) emitsThrough(b *body, call *ast.CallExpr, f *types.Func) (roots []types.Object) {
	if receiverOf(f) == "Activation" {
		if readOnlyMethods[f.Name()] {
			return nil
		}
		for _, recv := range x.arguments(call, f, -1) {
			roots = append(roots, x.refer(b, recv)...)
		}
	}
	for _, arg := range call.Args {
		if isActivation(x.TypesInfo.TypeOf(arg)) {
			roots = append(roots, x.refer(b, arg)...)
		}
	}
	return roots
}

// isActivation reports whether a type is a pointer to an activation, or an interface that stands for one.
func isActivation(t types.Type) bool {
	if t == nil {
		return false
	}
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	n, ok := t.(*types.Named)
	return ok && isMachine(n.Obj()) && (n.Obj().Name() == "Activation" || types.IsInterface(n))
}

// arguments returns the arguments of a call for a parameter; -1 is the receiver.
func (x *examiner) arguments(call *ast.CallExpr, f *types.Func, i int) []ast.Expr {
	args := call.Args
	if recv := f.Signature().Recv(); recv != nil {
		sel, ok := calledSelector(call)
		if !ok || x.TypesInfo.Selections[sel] == nil {
			return nil
		}
		if x.TypesInfo.Selections[sel].Kind() == types.MethodExpr {
			i++ // the receiver is the first argument
		} else if i < 0 {
			return []ast.Expr{sel.X}
		}
	}
	switch last := f.Signature().Params().Len() - 1; {
	case i < 0 || i >= len(args):
		return nil
	case f.Signature().Variadic() && i == last:
		return args[i:]
	}
	return args[i : i+1]
}

// calledSelector returns the selector that a call calls, without type arguments.
func calledSelector(call *ast.CallExpr) (*ast.SelectorExpr, bool) {
	sel, ok := withoutTypes(call.Fun).(*ast.SelectorExpr)
	return sel, ok
}

func withoutTypes(e ast.Expr) ast.Expr {
	switch e := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		return ast.Unparen(e.X)
	case *ast.IndexListExpr:
		return ast.Unparen(e.X)
	default:
		return e
	}
}

func isBuiltin(info *types.Info, call *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := info.Uses[id].(*types.Builtin)
	return ok && b.Name() == name
}

// isGlobal reports whether an object is a variable of a package.
func isGlobal(obj types.Object) bool {
	v, ok := obj.(*types.Var)
	return ok && !v.IsField() && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
}

// noteChanges adds a fault for each change of a package variable, to the code that changes it and to the variable. Changes by init
// functions and initial values are no faults: the variable gets an edge to them.
func (x *examiner) noteChanges() {
	for _, b := range x.bodies {
		for _, m := range b.changes {
			if !x.isKept(m) {
				continue
			}
			n := x.nodes[m.root]
			switch {
			case x.isInit(b, m.pos):
				if n != nil && n != b.node {
					n.edges = append(n.edges, edge{pos: m.pos, name: b.node.name, to: b.node})
				}
				continue
			case x.isTest(b.syntax) && n != nil && !x.isTestPos(m.root.Pos()):
				continue
			}
			f := fault{pos: m.pos, what: b.node.name + " changes the package variable " + m.root.Name(), instead: keepIt}
			b.node.add(f)
			if n != nil {
				f.soft = true
				n.add(f)
			}
		}
	}
}

// isKept reports whether a mutation changes a variable of a package. Data written to io.Discard or os.Stdout is not kept there.
func (x *examiner) isKept(m mutation) bool {
	_, isStandard := x.standard(m.root)
	return isGlobal(m.root) && !(isStandard && m.through)
}

// isInit reports whether a position of a body runs before any step: in an init function or initial value, and not in a function
// literal that is kept, or passed to a machine.
func (x *examiner) isInit(b *body, pos token.Pos) bool {
	if !b.isInit() {
		return false
	}
	now := map[*ast.FuncLit]bool{} // literals that are called at once, or passed to a function that does not keep them for a machine
	is := true
	ast.Inspect(b.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if lit, ok := ast.Unparen(n.Fun).(*ast.FuncLit); ok {
				now[lit] = true
			}
			f, ok := typeutil.Callee(x.TypesInfo, n).(*types.Func)
			for _, arg := range n.Args {
				if lit, isLit := ast.Unparen(arg).(*ast.FuncLit); isLit && ok && !isMachine(f) && len(x.summaryOf(f.Origin()).Defines) == 0 {
					now[lit] = true
				}
			}
		case *ast.FuncLit:
			is = is && (now[n] || !within(pos, n))
		}
		return is
	})
	return is
}

const keepIt = "keep it in the state of the cell, or never change it"

func (x *examiner) isTestPos(pos token.Pos) bool { return x.isTest(&ast.Ident{NamePos: pos}) }

package purity

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// reader records on a node the impurities of a piece of syntax and the names in it.
type reader struct {
	*examiner
	body *body
	node *node
}

func (r *reader) read(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			r.name(n)
		case *ast.GoStmt:
			r.node.fault(n.Pos(), concurrent, "a go statement")
		case *ast.SendStmt:
			r.channel(n, "a send on a channel")
		case *ast.SelectStmt:
			r.channel(n, "select")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				r.channel(n, "a receive from a channel")
			}
		case *ast.RangeStmt:
			r.ranges(n)
		case *ast.CallExpr:
			r.call(n)
		}
		return true
	})
	r.conversions(n)
}

func (r *reader) channel(n ast.Node, what string) { r.node.fault(n.Pos(), concurrent, what) }

func (r *reader) ranges(n *ast.RangeStmt) {
	switch coreOf(r.TypesInfo.TypeOf(n.X)).(type) {
	case *types.Chan:
		r.channel(n, "a range over a channel")
	case *types.Map:
		r.mapRange(n)
	case *types.Signature:
		if r.isUnordered(n.X) {
			r.mapRange(n)
		}
	}
}

func (r *reader) call(n *ast.CallExpr) {
	if isBuiltin(r.TypesInfo, n, "make") {
		if _, ok := coreOf(r.TypesInfo.TypeOf(n)).(*types.Chan); ok {
			r.channel(n, "a channel")
		}
	}
	r.formatted(n)
	r.unordered(n)
	r.chained(n)
}

// zoned holds the methods of a time that depend on its zone.
var zoned = setOf("String Format AppendFormat Date Clock Year Month Day Hour Minute YearDay Weekday ISOWeek Zone ZoneBounds IsDST AddDate GoString MarshalText MarshalJSON")

// chained finds time.Unix(…).Hour() and its like: such a time is in the zone of the host until it is put into another.
func (r *reader) chained(n *ast.CallExpr) {
	sel, ok := n.Fun.(*ast.SelectorExpr)
	if !ok || !zoned[sel.Sel.Name] {
		return
	}
	if inner, ok := ast.Unparen(sel.X).(*ast.CallExpr); ok {
		switch name := r.calledName(inner); name {
		case "time.Unix", "time.UnixMilli", "time.UnixMicro":
			r.node.fault(n.Pos(), zone, name+"(…)."+sel.Sel.Name)
		}
	}
}

// name records the object that an identifier names.
func (r *reader) name(id *ast.Ident) {
	obj := r.TypesInfo.Uses[id]
	switch o := obj.(type) {
	case *types.Func:
		r.mention(id.Pos(), o)
		r.instance(id)
	case *types.Var:
		if isGlobal(o) {
			r.refersTo(id.Pos(), o, "variable "+o.Name())
		}
	case *types.Builtin:
		switch {
		case o.Name() == "print" || o.Name() == "println":
			r.node.fault(id.Pos(), output, o.Name())
		case o.Name() == "close":
			r.channel(id, "close")
		case slices.Contains([]string{"Add", "Slice", "SliceData", "String", "StringData"}, o.Name()):
			r.node.fault(id.Pos(), memory, "unsafe."+o.Name())
		}
	case *types.TypeName:
		if o.Pkg() == types.Unsafe {
			r.node.fault(id.Pos(), memory, "unsafe."+o.Name())
		}
	}
}

// mention records that a function is named, and so may be called. A method of an interface is followed where values become the interface.
func (r *reader) mention(pos token.Pos, f *types.Func) {
	f = f.Origin()
	r.refersTo(pos, f, nameOf(f))
}

func (r *reader) refersTo(pos token.Pos, obj types.Object, name string) {
	if obj.Pkg() == nil || isMachine(obj) {
		return
	}
	if j, ok := r.standard(obj); ok {
		if k := j.of(obj); k != nil && k != mapOrder {
			what := obj.Pkg().Path() + "." + name
			if _, isVar := obj.(*types.Var); isVar {
				what = obj.Pkg().Path() + "." + obj.Name()
			}
			r.node.fault(pos, k, what)
		}
		return
	}
	if n := r.nodes[obj]; n != nil {
		if n != r.node {
			r.node.edges = append(r.node.edges, edge{pos: pos, name: n.name, to: n})
		}
		return
	}
	if s := r.factOf(obj); s != nil && s.Impure != nil {
		r.node.edges = append(r.node.edges, edge{pos: pos, name: obj.Pkg().Name() + "." + name, far: s.Impure})
	}
}

// instance follows the methods that a generic function may call on its type arguments.
func (r *reader) instance(id *ast.Ident) {
	inst, ok := r.TypesInfo.Instances[id]
	if !ok {
		return
	}
	f, ok := r.TypesInfo.Uses[id].(*types.Func)
	if !ok || isMachine(f) {
		return
	}
	params := f.Origin().Signature().TypeParams()
	for i := range min(params.Len(), inst.TypeArgs.Len()) {
		r.becomes(id.Pos(), inst.TypeArgs.At(i), params.At(i).Constraint())
	}
}

// calledName returns the path and name of the function that a call calls, or "".
func (x *examiner) calledName(call *ast.CallExpr) string {
	var id *ast.Ident
	switch f := withoutTypes(call.Fun).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return ""
	}
	f, ok := x.TypesInfo.Uses[id].(*types.Func)
	if !ok || f.Pkg() == nil {
		return ""
	}
	return f.Pkg().Path() + "." + nameOf(f.Origin())
}

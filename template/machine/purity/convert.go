package purity

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// conversions follows the methods of values where they become interfaces: any holder of the interface may call them.
func (r *reader) conversions(n ast.Node) {
	var results *types.Tuple
	if _, ok := n.(*ast.FuncDecl); ok {
		results = r.body.fn.Signature().Results()
	}
	r.returned(n, results)
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			r.passed(n)
		case *ast.AssignStmt:
			if n.Tok == token.ASSIGN {
				for i, to := range n.Lhs {
					r.becomes(n.Pos(), r.valueAt(n.Rhs, i), r.TypesInfo.TypeOf(to))
				}
			}
		case *ast.ValueSpec:
			if n.Type != nil {
				for i := range n.Names {
					r.becomes(n.Pos(), r.valueAt(n.Values, i), r.TypesInfo.TypeOf(n.Type))
				}
			}
		case *ast.CompositeLit:
			r.composed(n)
		}
		return true
	})
	if e, ok := n.(ast.Expr); ok && n == r.body.syntax { // an initial value
		for i, v := range r.body.vars {
			r.becomes(n.Pos(), r.valueAt([]ast.Expr{e}, i), v.Type())
		}
	}
}

// valueAt returns the type of the i-th value of some expressions, or of the results of one call.
func (r *reader) valueAt(list []ast.Expr, i int) types.Type {
	if i < len(list) && len(list) > 1 || i == 0 && len(list) == 1 {
		if t := r.TypesInfo.TypeOf(list[i]); t != nil {
			if tuple, ok := t.(*types.Tuple); ok {
				return tuple.At(i).Type()
			}
			return t
		}
		return nil
	}
	if len(list) == 1 {
		if tuple, ok := r.TypesInfo.TypeOf(list[0]).(*types.Tuple); ok && i < tuple.Len() {
			return tuple.At(i).Type()
		}
	}
	return nil
}

// returned follows the results of a function, and those in it.
func (r *reader) returned(n ast.Node, results *types.Tuple) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			if s, ok := typeOfCall(r.TypesInfo.TypeOf(n)); ok {
				r.returned(n.Body, s.Results())
			}
			return false
		case *ast.ReturnStmt:
			for i := range results.Len() {
				r.becomes(n.Pos(), r.valueAt(n.Results, i), results.At(i).Type())
			}
		}
		return true
	})
}

// passed follows conversions and the arguments of calls.
func (r *reader) passed(n *ast.CallExpr) {
	tv := r.TypesInfo.Types[n.Fun]
	if tv.IsType() {
		r.becomes(n.Pos(), r.valueAt(n.Args, 0), tv.Type)
		return
	}
	sig, ok := typeOfCall(tv.Type)
	if !ok {
		return
	}
	for i := range n.Args {
		last := sig.Params().Len() - 1
		switch {
		case sig.Variadic() && i >= last && !n.Ellipsis.IsValid():
			if s, ok := sig.Params().At(last).Type().(*types.Slice); ok {
				r.becomes(n.Args[i].Pos(), r.TypesInfo.TypeOf(n.Args[i]), s.Elem())
			}
		case i <= last:
			r.becomes(n.Args[i].Pos(), r.TypesInfo.TypeOf(n.Args[i]), sig.Params().At(i).Type())
		}
	}
}

func typeOfCall(t types.Type) (*types.Signature, bool) {
	if t == nil {
		return nil, false
	}
	sig, ok := t.Underlying().(*types.Signature)
	return sig, ok
}

// composed follows the elements of a composite literal.
func (r *reader) composed(n *ast.CompositeLit) {
	switch t := r.TypesInfo.TypeOf(n).Underlying().(type) {
	case *types.Struct:
		for i, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if field := r.TypesInfo.ObjectOf(kv.Key.(*ast.Ident)); field != nil {
					r.becomes(kv.Value.Pos(), r.TypesInfo.TypeOf(kv.Value), field.Type())
				}
			} else if i < t.NumFields() {
				r.becomes(e.Pos(), r.TypesInfo.TypeOf(e), t.Field(i).Type())
			}
		}
	case *types.Slice:
		r.elements(n, nil, t.Elem())
	case *types.Array:
		r.elements(n, nil, t.Elem())
	case *types.Map:
		r.elements(n, t.Key(), t.Elem())
	}
}

func (r *reader) elements(n *ast.CompositeLit, key, elem types.Type) {
	for _, e := range n.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if key != nil {
				r.becomes(kv.Key.Pos(), r.TypesInfo.TypeOf(kv.Key), key)
			}
			e = kv.Value
		}
		r.becomes(e.Pos(), r.TypesInfo.TypeOf(e), elem)
	}
}

// lookedUpMethods holds the methods that the standard library looks for in values of any type.
var lookedUpMethods = []string{"Error", "String", "GoString", "Format", "Unwrap", "Is", "As", "MarshalJSON", "MarshalText", "MarshalBinary",
	"UnmarshalJSON", "UnmarshalText", "UnmarshalBinary", "MarshalXML", "UnmarshalXML"}

// becomes follows the methods of a type that becomes an interface: those of the interface, and those that the standard
// library looks for.
func (r *reader) becomes(pos token.Pos, from, to types.Type) {
	if from == nil || to == nil || types.IsInterface(from) {
		return
	}
	iface, ok := to.Underlying().(*types.Interface)
	if !ok {
		return
	}
	names := methodsOf(iface, lookedUpMethods)
	if iface.NumMethods() == 0 {
		for _, asserted := range r.asserted {
			if types.Implements(from, asserted) {
				names = methodsOf(asserted, names)
			}
		}
	}
	for _, name := range names {
		obj, _, _ := types.LookupFieldOrMethod(from, true, r.Pkg, name)
		f, ok := obj.(*types.Func)
		if !ok || f.Signature().Recv() == nil || types.IsInterface(f.Signature().Recv().Type()) {
			continue
		}
		if _, isStandard := r.standard(f); isStandard {
			continue // the code that makes the value is judged
		}
		r.mention(pos, f)
	}
}

// methodsOf appends the names of an interface's methods to a copy of names.
func methodsOf(iface *types.Interface, names []string) []string {
	names = slices.Clone(names)
	for m := range iface.Methods() {
		names = append(names, m.Name())
	}
	return names
}

// assertions finds the interfaces that the package asserts of values of any type.
func (x *examiner) assertions() {
	note := func(e ast.Expr) {
		if t := x.TypesInfo.TypeOf(e); t != nil {
			if iface, ok := t.Underlying().(*types.Interface); ok && iface.NumMethods() > 0 {
				x.asserted = append(x.asserted, iface)
			}
		}
	}
	for _, file := range x.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeAssertExpr:
				if n.Type != nil {
					note(n.Type)
				}
			case *ast.TypeSwitchStmt:
				for _, clause := range n.Body.List {
					for _, e := range clause.(*ast.CaseClause).List {
						note(e)
					}
				}
			}
			return true
		})
	}
}

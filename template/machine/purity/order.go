package purity

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"
)

// sequences holds the functions that yield the entries of a map in its order.
var sequences = setOf("maps.Keys maps.Values maps.All reflect.Value.MapKeys reflect.Value.MapRange reflect.Value.Seq reflect.Value.Seq2")

func (x *examiner) isUnordered(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && sequences[x.calledName(call)]
}

// unordered finds sequences in the order of a map, unless they are put in order.
func (r *reader) unordered(n *ast.CallExpr) {
	name := r.calledName(n)
	if !sequences[name] || r.isOrdered(n) {
		return
	}
	r.node.add(fault{pos: n.Pos(), what: name + " " + mapOrder.does, instead: "sort its results, as in slices.Sorted(maps.Keys(…))"})
}

// isOrdered reports whether the entries of a map that a call returns are ranged over, which is checked separately, or sorted.
func (r *reader) isOrdered(n *ast.CallExpr) (is bool) {
	gives := func(e ast.Expr) bool {
		e = ast.Unparen(e)
		if call, ok := e.(*ast.CallExpr); ok && len(call.Args) > 0 && e != n {
			switch r.calledName(call) {
			case "slices.Collect", "slices.AppendSeq":
				e = ast.Unparen(call.Args[len(call.Args)-1])
			}
		}
		return e == ast.Expr(n)
	}
	ast.Inspect(r.body.syntax, func(m ast.Node) bool {
		switch m := m.(type) {
		case *ast.RangeStmt:
			is = is || m.X == ast.Expr(n) && isSignature(r.TypesInfo.TypeOf(n))
		case *ast.CallExpr:
			is = is || sorted[r.calledName(m)] && slices.ContainsFunc(m.Args, gives)
		case *ast.AssignStmt:
			for i, from := range m.Rhs {
				if len(m.Lhs) == len(m.Rhs) && gives(from) && r.sortedAfter(types.ExprString(m.Lhs[i]), m.End()) {
					is = true
				}
			}
		}
		return !is
	})
	return is
}

func isSignature(t types.Type) bool {
	_, ok := typeOfCall(t)
	return ok
}

// sortedAfter reports whether an expression is sorted after a position, or each element of it in a range.
func (r *reader) sortedAfter(text string, pos token.Pos) (is bool) {
	elements := map[string]bool{text: true}
	ast.Inspect(r.body.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if n.Pos() > pos && types.ExprString(n.X) == text && n.Key != nil {
				elements[text+"["+types.ExprString(n.Key)+"]"] = true
				if n.Value != nil {
					elements[types.ExprString(n.Value)] = true
				}
			}
		case *ast.CallExpr:
			if n.Pos() >= pos {
				for _, arg := range r.sorts(n) {
					is = is || elements[types.ExprString(bare(r.TypesInfo, arg))]
				}
			}
		}
		return !is
	})
	return is
}

// bare returns an expression without conversions, addresses and slices of the whole around it.
func bare(info *types.Info, e ast.Expr) ast.Expr {
	switch v := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		if len(v.Args) == 1 && info.Types[v.Fun].IsType() {
			return bare(info, v.Args[0])
		}
		if f, ok := v.Fun.(*ast.SelectorExpr); ok && len(v.Args) == 1 && (f.Sel.Name == "Values" || f.Sel.Name == "Reverse") {
			return bare(info, v.Args[0])
		}
	case *ast.UnaryExpr:
		return bare(info, v.X)
	case *ast.SliceExpr:
		return bare(info, v.X)
	}
	return ast.Unparen(e)
}

// sorts returns the arguments that a call sorts.
func (x *examiner) sorts(call *ast.CallExpr) []ast.Expr {
	if name := x.calledName(call); (sorters[name] || sorted[name]) && len(call.Args) > 0 {
		return call.Args[:1]
	}
	f, ok := typeutil.Callee(x.TypesInfo, call).(*types.Func)
	if !ok {
		return nil
	}
	var args []ast.Expr
	for _, i := range x.summaryOf(f.Origin()).Sorts {
		args = append(args, x.arguments(call, f.Origin(), i)...)
	}
	return args
}

// settleSorts finds the functions that sort a parameter.
func (x *examiner) settleSorts() {
	for grows := true; grows; {
		grows = false
		for _, b := range x.bodies {
			ast.Inspect(b.syntax, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || len(b.params) == 0 {
					return true
				}
				for _, arg := range x.sorts(call) {
					id, ok := bare(x.TypesInfo, arg).(*ast.Ident)
					if !ok {
						continue
					}
					s := &b.node.summary
					if i, ok := b.params[x.TypesInfo.Uses[id]]; ok && !slices.Contains(s.Sorts, i) {
						s.Sorts = append(s.Sorts, i)
						grows = true
					}
				}
				return true
			})
		}
	}
}

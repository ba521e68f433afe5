package purity

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"
)

// root is a function passed to machine.Define or Migrate, with the names that it uses.
type root struct {
	node *node
	pos  token.Pos
}

// definers maps the functions that take a step or a migration to the index of that parameter.
var definers = map[string]int{"Define": 2, "Migrate": 1}

// roots finds the package's arguments of machine.Define and Migrate. If a function passes on a parameter, or a function literal that has
// captured one, its calls are examined like calls of Define, and so on.
func (x *examiner) roots() (list []root) {
	for grows := true; grows; {
		grows, list = false, nil
		for _, b := range x.bodies {
			before := len(b.node.summary.Defines)
			ast.Inspect(b.syntax, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					list = append(list, x.rootsOf(b, call)...)
				}
				return true
			})
			grows = grows || len(b.node.summary.Defines) > before
		}
	}
	return list
}

func (x *examiner) rootsOf(b *body, call *ast.CallExpr) (list []root) {
	f, ok := typeutil.Callee(x.TypesInfo, call).(*types.Func)
	if !ok {
		return nil
	}
	f = f.Origin()
	params := x.summaryOf(f).Defines
	if i, ok := definers[f.Name()]; ok && isMachine(f) && f.Signature().Recv() == nil {
		params = []int{i}
	}
	for _, i := range params {
		for _, arg := range x.arguments(call, f, i) {
			n := &node{name: x.rootName(call, f)}
			w := &follower{reader: &reader{examiner: x, body: b, node: n}, seen: map[types.Object]bool{}}
			w.follow(arg)
			if i >= 0 {
				w.becomes(arg.Pos(), x.TypesInfo.TypeOf(arg), f.Signature().Params().At(i).Type())
			}
			list = append(list, root{node: n, pos: arg.Pos()})
		}
	}
	return list
}

// valued reports the uses of Define and Migrate, and of functions that pass on to them, as values: their callers are unknown.
func (x *examiner) valued() {
	called := map[*ast.Ident]bool{}
	for _, b := range x.bodies {
		ast.Inspect(b.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				switch f := withoutTypes(n.Fun).(type) {
				case *ast.Ident:
					called[f] = true
				case *ast.SelectorExpr:
					called[f.Sel] = true
				}
			case *ast.Ident:
				f, ok := x.TypesInfo.Uses[n].(*types.Func)
				if !ok || called[n] {
					return true
				}
				_, isGiven := definers[f.Name()]
				if isGiven && isMachine(f) || len(x.summaryOf(f.Origin()).Defines) > 0 {
					x.Reportf(n.Pos(), "%s is used as a value, so what it is given cannot be followed; call it", f.Name())
				}
			}
			return true
		})
	}
}

// rootName names the machine, the migration, or the argument of a function that passes it on, by the first argument of the
// call.
func (x *examiner) rootName(call *ast.CallExpr, f *types.Func) string {
	what := "machine"
	if f.Name() == "Migrate" && isMachine(f) {
		what = "the migration from version"
	} else if !isMachine(f) {
		what = "what is given to " + f.Name() + ":"
	}
	if len(call.Args) == 0 {
		return "the machine of " + f.Name()
	}
	if v := x.TypesInfo.Types[call.Args[0]].Value; v != nil && v.Kind() == constant.String {
		return what + " " + v.ExactString()
	}
	return what + " " + types.ExprString(call.Args[0])
}

// follower reads an argument, and goes on to the values of the local variables that it names.
type follower struct {
	*reader
	seen map[types.Object]bool
}

func (w *follower) follow(arg ast.Expr) {
	w.read(arg)
	for _, m := range w.body.changes {
		if w.isKept(m) && within(m.pos, arg) && !w.isInit(w.body, m.pos) {
			w.node.add(fault{pos: m.pos, what: "the function literal changes the package variable " + m.root.Name(), instead: keepIt})
		}
	}
	w.captured(arg)
	w.bound(arg)
	ast.Inspect(arg, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v, ok := w.TypesInfo.Uses[id].(*types.Var)
		if !ok || v.IsField() || isGlobal(v) || within(v.Pos(), arg) || w.seen[v] {
			return true
		}
		w.seen[v] = true
		w.local(id, v)
		return true
	})
	ast.Inspect(arg, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			w.maker(call)
		}
		return true
	})
}

// local follows a variable of the function that defines the machine: to its caller, or to the values assigned to it.
func (w *follower) local(id *ast.Ident, v *types.Var) {
	if i, ok := w.body.params[v]; ok {
		if s := &w.body.node.summary; mayCall(v.Type(), nil) && !slices.Contains(s.Defines, i) {
			s.Defines = append(s.Defines, i)
		}
		return
	}
	isAssigned := false
	assignments(w.TypesInfo, w.body.syntax, func(to types.Object, from ast.Expr) {
		if to == v {
			isAssigned = true
			w.follow(from)
			w.becomes(from.Pos(), w.TypesInfo.TypeOf(from), v.Type())
		}
	})
	if !isAssigned && mayCall(v.Type(), nil) && w.isLiteralParam(v) {
		w.node.fault(id.Pos(), dynamic, v.Name()+", a parameter of a function literal,")
	}
}

func (w *follower) isLiteralParam(v *types.Var) (is bool) {
	ast.Inspect(w.body.syntax, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok && within(v.Pos(), lit.Type) {
			is = true
		}
		return !is
	})
	return is
}

// captured finds variables outside of a function literal that change while it lives.
func (w *follower) captured(arg ast.Expr) {
	ast.Inspect(arg, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok {
			w.outlived(lit)
			return false
		}
		return true
	})
}

// outlived finds variables that a function literal, which is called for each activation, shares with the next one.
func (w *follower) outlived(lit *ast.FuncLit) {
	uses := map[types.Object]bool{}
	ast.Inspect(lit, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			uses[w.TypesInfo.Uses[id]] = true
		}
		return true
	})
	for _, m := range w.body.changes {
		if isGlobal(m.root) || within(m.root.Pos(), lit) || !uses[m.root] && !within(m.pos, lit) || m.pos < lit.Pos() {
			continue
		}
		w.node.add(fault{pos: m.pos, what: "the function literal shares the variable " + m.root.Name() + " with later activations, and it is changed",
			instead: keepIt})
	}
}

// bound finds methods that are passed as values and change their receivers, which outlive the activation.
func (w *follower) bound(arg ast.Expr) {
	ast.Inspect(arg, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // its calls change the variables that it has captured
		case *ast.SelectorExpr:
			f, ok := w.TypesInfo.Uses[n.Sel].(*types.Func)
			if s := w.TypesInfo.Selections[n]; !ok || s == nil || s.Kind() != types.MethodVal {
				return true
			}
			for _, c := range w.summaryOf(f.Origin()).Changes {
				if c.Param == -1 && !isMachine(f) {
					w.node.add(fault{pos: n.Sel.Pos(), what: nameOf(f.Origin()) + " changes its receiver (" + c.Where +
						"), which outlives the activation", instead: keepIt})
				}
			}
		}
		return true
	})
}

// maker looks at the function literals that a function of this package returns as, or in, an argument.
func (w *follower) maker(call *ast.CallExpr) {
	f, ok := typeutil.Callee(w.TypesInfo, call).(*types.Func)
	if !ok || w.seen[f.Origin()] || w.nodes[f.Origin()] == nil {
		return
	}
	w.seen[f.Origin()] = true
	for _, b := range w.bodies {
		if b.fn != f.Origin() {
			continue
		}
		inside := &follower{reader: &reader{examiner: w.examiner, body: b, node: w.node}, seen: w.seen}
		ast.Inspect(b.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt:
				for _, result := range n.Results {
					inside.returning(result)
				}
			}
			return true
		})
	}
}

func (w *follower) returning(result ast.Expr) {
	w.captured(result)
	ast.Inspect(result, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			w.maker(n)
		case *ast.Ident:
			if v, ok := w.TypesInfo.Uses[n].(*types.Var); ok && !w.seen[v] && !isGlobal(v) && !within(v.Pos(), result) {
				w.seen[v] = true
				assignments(w.TypesInfo, w.body.syntax, func(to types.Object, from ast.Expr) {
					if to == v {
						w.returning(from)
					}
				})
			}
		}
		return true
	})
}

func within(pos token.Pos, n ast.Node) bool { return n.Pos() <= pos && pos < n.End() }

// mayCall reports whether a value of a type may hold a function or a value with methods that are not known.
func mayCall(t types.Type, seen []types.Type) bool {
	if slices.Contains(seen, t) {
		return false
	}
	seen = append(seen, t)
	switch u := t.Underlying().(type) {
	case *types.Signature, *types.Interface:
		return true
	case *types.Pointer:
		return mayCall(u.Elem(), seen)
	case *types.Slice:
		return mayCall(u.Elem(), seen)
	case *types.Array:
		return mayCall(u.Elem(), seen)
	case *types.Map:
		return mayCall(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			if mayCall(f.Type(), seen) {
				return true
			}
		}
	}
	return false
}

// reportRoots reports the impurities that each root reaches, once for each place in this package.
func (x *examiner) reportRoots(roots []root) {
	reported := map[token.Pos]bool{}
	for _, r := range roots {
		x.reportRoot(r, reported)
	}
}

func (x *examiner) reportRoot(r root, reported map[token.Pos]bool) {
	type visit struct {
		node  *node
		chain []string
	}
	seen := map[*node]bool{r.node: true}
	report := func(pos token.Pos, f *finding, chain []string) {
		if !reported[pos] {
			reported[pos] = true
			impure := *f
			impure.Chain = slices.Concat(chain, f.Chain)
			x.Reportf(pos, "%s is impure: %s", r.node.name, impure.text())
		}
	}
	queue := []visit{{r.node, nil}}
	for i := 0; i < len(queue); i++ {
		v := queue[i]
		for _, f := range v.node.faults {
			report(f.pos, &finding{What: f.what, Instead: f.instead, Where: x.place(f.pos)}, v.chain)
		}
		for _, e := range v.node.edges {
			call := fmt.Sprintf("%s (%s)", e.name, x.place(e.pos))
			switch {
			case e.far != nil:
				report(e.pos, e.far, append(slices.Clone(v.chain), call))
			case !seen[e.to] && !e.to.trusted:
				seen[e.to] = true
				queue = append(queue, visit{e.to, append(slices.Clone(v.chain), call)})
			}
		}
	}
}

package purity

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// mapRange finds out whether the order of a range over a map can show.
func (r *reader) mapRange(n *ast.RangeStmt) {
	if isBlank(n.Key) && isBlank(n.Value) {
		return
	}
	l := &loop{reader: r, stmt: n, own: map[token.Pos]bool{}, sums: map[string]string{}, sets: map[string]string{}, vars: map[string]bool{}}
	if n.Tok == token.ASSIGN {
		l.show(n.Pos(), "the variables of the range keep the last entry")
	}
	if id, ok := n.Key.(*ast.Ident); ok && !strings.HasSuffix(r.sequence(n.X), "Values") {
		l.key = r.TypesInfo.Defs[id]
	}
	l.block(n.Body, nil)
	l.calls(n.Body)
	l.reads()
	l.checkExits()
	if l.why != "" {
		r.node.add(fault{pos: l.at, what: fmt.Sprintf("the range over the map %s (line %d) shows its order: %s",
			types.ExprString(n.X), r.Fset.Position(n.Pos()).Line, l.why), instead: "range over slices.Sorted(maps.Keys(…))"})
	}
}

func (x *examiner) sequence(e ast.Expr) string {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		return x.calledName(call)
	}
	return ""
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return e == nil || ok && id.Name == "_"
}

// loop is a range over a map. Its order cannot show if its body has the same result in any order: it fills maps, counts, adds whole
// numbers, finds a least or greatest value, sets something to a constant, or deletes.
type loop struct {
	*reader
	stmt  *ast.RangeStmt
	key   types.Object
	why   string // the first thing that shows the order
	at    token.Pos
	own   map[token.Pos]bool // identifiers read by the statement that changes them, or by a comparison that finds the least
	sums  map[string]string  // accumulators, with the class of the operator
	sets  map[string]string  // variables set to a value that is the same for all entries
	vars  map[string]bool    // outer variables and fields that change
	exits []string           // values with which the loop is left
	exit  token.Pos
}

func (l *loop) show(pos token.Pos, why string, args ...any) {
	if l.why == "" {
		l.why, l.at = fmt.Sprintf(why, args...), pos
	}
}

// block looks at the statements of a block; conditions are those that guard it.
func (l *loop) block(n ast.Node, conditions []ast.Expr) {
	ast.Inspect(n, func(m ast.Node) bool {
		switch s := m.(type) {
		case *ast.IfStmt:
			if s.Init != nil {
				l.block(s.Init, conditions)
			}
			l.literals(s.Cond)
			l.block(s.Body, append(conditions[:len(conditions):len(conditions)], s.Cond))
			if s.Else != nil {
				l.block(s.Else, conditions)
			}
			return false
		case *ast.AssignStmt:
			l.assign(s, conditions)
		case *ast.IncDecStmt:
			l.sum(s.X, token.ADD, nil, s.Pos())
		case *ast.FuncLit:
			l.literals(s)
			return false
		case *ast.ReturnStmt:
			l.leave(s.Pos(), "return", s.Results)
		case *ast.BranchStmt:
			if s.Tok == token.GOTO || s.Tok == token.BREAK && l.breaks(s) {
				l.leave(s.Pos(), s.Tok.String(), nil)
			}
		}
		return true
	})
}

// literals looks at function literals, whose returns do not leave the loop.
func (l *loop) literals(n ast.Node) {
	ast.Inspect(n, func(m ast.Node) bool {
		if lit, ok := m.(*ast.FuncLit); ok {
			exits, exit := l.exits, l.exit
			l.block(lit.Body, nil)
			l.exits, l.exit = exits, exit
			return false
		}
		return true
	})
}

// breaks reports whether a break ends the loop, and not a statement in it.
func (l *loop) breaks(b *ast.BranchStmt) bool {
	if b.Label != nil {
		target := l.TypesInfo.Uses[b.Label]
		return target == nil || !within(target.Pos(), l.stmt)
	}
	inner := false
	ast.Inspect(l.stmt.Body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			inner = inner || within(b.Pos(), n)
		}
		return !inner
	})
	return !inner
}

func (l *loop) leave(pos token.Pos, how string, results []ast.Expr) {
	for _, e := range results {
		how += " " + types.ExprString(e)
		if l.varies(e) {
			l.show(e.Pos(), "it returns %s of the first entry that it comes to", types.ExprString(e))
		}
	}
	l.exits, l.exit = append(l.exits, how), pos
}

// checkExits checks an early end of the loop: it must be the same for each entry, and the loop must not accumulate values.
func (l *loop) checkExits() {
	for _, how := range l.exits {
		if how != l.exits[0] {
			l.show(l.exit, "it ends in more than one way")
		}
	}
	if len(l.exits) > 0 && len(l.sums) > 0 {
		l.show(l.exit, "it ends early, and what it has done by then depends on the order")
	}
}

// inner reports whether an object is declared in the loop.
func (l *loop) inner(obj types.Object) bool { return obj != nil && within(obj.Pos(), l.stmt) }

// varies reports whether an expression may have another value for another entry.
func (l *loop) varies(e ast.Expr) (does bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := l.TypesInfo.Uses[id].(*types.Var); ok && !v.IsField() && l.inner(v) {
				does = true
			}
		}
		return !does
	})
	return does
}

// outer returns the variable outside of the loop that an assignment to an expression changes, or nil.
func (l *loop) outer(e ast.Expr) types.Object {
	for _, m := range l.assigned(l.body, e) {
		if !l.inner(m.root) && !l.ranged(m.root) {
			return m.root
		}
		if l.inner(m.root) && (l.key == nil || m.root != l.key) {
			continue
		}
	}
	return nil
}

// ranged reports whether a variable is the map itself: each entry changes only the value that it refers to, once.
func (l *loop) ranged(obj types.Object) bool {
	for _, root := range l.refer(l.body, l.stmt.X) {
		if root == obj {
			return true
		}
	}
	return false
}

func (l *loop) assign(s *ast.AssignStmt, conditions []ast.Expr) {
	for i, to := range s.Lhs {
		if isBlank(to) {
			continue
		}
		if id, ok := to.(*ast.Ident); ok && l.TypesInfo.Defs[id] != nil {
			continue
		}
		from := s.Rhs[min(i, len(s.Rhs)-1)]
		l.change(to, from, s, conditions)
	}
}

func (l *loop) change(to, from ast.Expr, s *ast.AssignStmt, conditions []ast.Expr) {
	root := l.outer(to)
	if root == nil || l.fills(to, s.Tok) && !l.appends(to, from) || l.byKey(to) {
		return
	}
	text := types.ExprString(to)
	switch {
	case s.Tok != token.ASSIGN:
		l.sum(to, assigning(s.Tok), from, s.Pos())
	case l.appends(to, from):
		l.sumUp(to, "append")
		if !l.sortedAfter(text, l.stmt.End()) && !l.sortedAfter(base(to), l.stmt.End()) {
			l.show(s.Pos(), "it appends to %s, which is not sorted after it", text)
		}
	case l.places(to):
	case l.combines(to, from, s.Pos()):
	case l.finds(to, from, s, conditions):
	case l.varies(from):
		l.show(s.Pos(), "it sets %s to %s, and the last entry wins", text, types.ExprString(from))
	default:
		value := types.ExprString(from)
		if was, ok := l.sets[text]; ok && was != value {
			l.show(s.Pos(), "it sets %s to more than one value", text)
		}
		l.sets[text] = value
		l.note(to)
	}
}

// fills reports whether an element of a map or slice is set whose index depends on the entry.
func (l *loop) fills(to ast.Expr, tok token.Token) bool {
	at, ok := ast.Unparen(to).(*ast.IndexExpr)
	if !ok || tok != token.ASSIGN {
		return false
	}
	_, isMap := coreOf(l.TypesInfo.TypeOf(at.X)).(*types.Map)
	return isMap && l.varies(at.Index)
}

// byKey reports whether an element is set whose index, or the index of the value around it, is the key of the entry.
func (l *loop) byKey(to ast.Expr) bool {
	for {
		switch e := ast.Unparen(to).(type) {
		case *ast.IndexExpr:
			if id, ok := bare(l.TypesInfo, e.Index).(*ast.Ident); ok && l.key != nil && l.TypesInfo.Uses[id] == l.key {
				return true
			}
			to = e.X
		case *ast.SelectorExpr:
			to = e.X
		case *ast.StarExpr:
			to = e.X
		default:
			return false
		}
	}
}

// places reports whether an element of a slice that is sorted after the loop is set.
func (l *loop) places(to ast.Expr) bool {
	at, ok := ast.Unparen(to).(*ast.IndexExpr)
	if !ok || !l.sortedAfter(types.ExprString(at.X), l.stmt.End()) {
		return false
	}
	l.allow(at.Index)
	l.sumUp(at.X, "append")
	return true
}

func (l *loop) appends(to, from ast.Expr) bool {
	call, ok := ast.Unparen(from).(*ast.CallExpr)
	return ok && isBuiltin(l.TypesInfo, call, "append") && types.ExprString(call.Args[0]) == types.ExprString(to)
}

// base returns the text of the map or slice of an element.
func base(e ast.Expr) string {
	if at, ok := ast.Unparen(e).(*ast.IndexExpr); ok {
		return types.ExprString(at.X)
	}
	return types.ExprString(e)
}

// note remembers that an outer variable changes, and that this statement may read it.
func (l *loop) note(to ast.Expr) {
	l.own[to.Pos()] = true
	l.vars[types.ExprString(to)] = true
}

func (l *loop) sumUp(to ast.Expr, class string) {
	text := types.ExprString(to)
	if was, ok := l.sums[text]; ok && was != class {
		l.show(to.Pos(), "it changes %s in more than one way", text)
	}
	l.sums[text] = class
	l.note(to)
}

// assigning returns the operator of an assignment.
func assigning(tok token.Token) token.Token { return tok - token.ADD_ASSIGN + token.ADD }

// sum looks at x++ and x += y: whole numbers have the same sum in any order, texts and floats do not.
func (l *loop) sum(to ast.Expr, op token.Token, from ast.Expr, pos token.Pos) {
	if l.outer(to) == nil || l.byKey(to) {
		return
	}
	class := ""
	switch op {
	case token.ADD, token.SUB:
		class = "+"
	case token.MUL, token.AND, token.OR, token.XOR, token.AND_NOT:
		class = op.String()
	}
	switch {
	case class != "" && isInteger(l.TypesInfo.TypeOf(to)):
		l.sumUp(to, class)
	case from == nil:
		l.sumUp(to, class+"1")
	case !l.varies(from):
		l.sumUp(to, op.String()+types.ExprString(from)) // the same for each entry
	default:
		l.show(pos, "it combines the values of %s, which depend on their order", types.ExprString(to))
	}
}

func isInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// combines looks at x = x + y, x = x || y, x = min(x, y) and their like.
func (l *loop) combines(to, from ast.Expr, pos token.Pos) bool {
	text := types.ExprString(to)
	isSelf := func(e ast.Expr) bool {
		if types.ExprString(ast.Unparen(e)) != text {
			return false
		}
		l.own[ast.Unparen(e).Pos()] = true
		return true
	}
	switch e := ast.Unparen(from).(type) {
	case *ast.BinaryExpr:
		if !isSelf(e.X) && (e.Op == token.SUB || !isSelf(e.Y)) {
			return false
		}
		if e.Op == token.LAND || e.Op == token.LOR {
			l.sumUp(to, e.Op.String())
			return true
		}
		other := e.Y
		if same(e.Y, to) {
			other = e.X
		}
		l.sum(to, e.Op, other, pos)
		return true
	case *ast.CallExpr:
		for _, name := range []string{"min", "max"} {
			if isBuiltin(l.TypesInfo, e, name) {
				for _, arg := range e.Args {
					if isSelf(arg) {
						l.sumUp(to, name)
						return true
					}
				}
			}
		}
	}
	return false
}

// finds reports whether an assignment finds a least or greatest value. It is guarded by a comparison of the variable with
// its new value, or by one of keys, which are never equal, so that everything may be set beside it.
func (l *loop) finds(to, from ast.Expr, s *ast.AssignStmt, conditions []ast.Expr) (is bool) {
	for _, cond := range conditions {
		ast.Inspect(cond, func(n ast.Node) bool {
			a, b, ok := compared(n)
			if !ok {
				return true
			}
			if same(a, to) && same(b, from) || same(b, to) && same(a, from) || l.isLeastKey(a, b, s) || l.isLeastKey(b, a, s) {
				is = true
			}
			return true
		})
		if is {
			l.allow(cond)
			l.sums[types.ExprString(to)] = "least"
			l.note(to)
			return true
		}
	}
	return false
}

func same(a, b ast.Expr) bool {
	return types.ExprString(ast.Unparen(a)) == types.ExprString(ast.Unparen(b))
}

// compared returns the sides of a comparison.
func compared(n ast.Node) (a, b ast.Expr, ok bool) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		switch n.Op {
		case token.LSS, token.GTR, token.LEQ, token.GEQ:
			return n.X, n.Y, true
		}
	case *ast.CallExpr:
		sel, ok := n.Fun.(*ast.SelectorExpr)
		if ok && len(n.Args) == 1 && (sel.Sel.Name == "Before" || sel.Sel.Name == "After" || sel.Sel.Name == "Less") {
			return sel.X, n.Args[0], true
		}
	}
	return nil, nil, false
}

// isLeastKey reports whether a is the key of the entry and b a variable that the block of the assignment sets to the key.
func (l *loop) isLeastKey(a, b ast.Expr, s *ast.AssignStmt) (is bool) {
	id, ok := ast.Unparen(a).(*ast.Ident)
	if !ok || l.key == nil || l.TypesInfo.Uses[id] != l.key {
		return false
	}
	ast.Inspect(l.stmt.Body, func(n ast.Node) bool {
		block, ok := n.(*ast.BlockStmt)
		if !ok || !within(s.Pos(), block) {
			return true
		}
		for _, stmt := range block.List {
			if other, ok := stmt.(*ast.AssignStmt); ok && len(other.Lhs) == len(other.Rhs) {
				for i := range other.Lhs {
					is = is || same(other.Lhs[i], b) && same(other.Rhs[i], a)
				}
			}
		}
		return true
	})
	return is
}

// allow lets a comparison read the variable that it sets.
func (l *loop) allow(cond ast.Expr) {
	ast.Inspect(cond, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			l.own[id.Pos()] = true
		}
		return true
	})
}

// reads finds reads of variables that change while the loop runs: they depend on the entries before.
func (l *loop) reads() {
	ast.Inspect(l.stmt.Body, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok || l.own[n.Pos()] {
			return true
		}
		switch e := e.(type) {
		case *ast.Ident:
			if l.inner(l.TypesInfo.Uses[e]) {
				return true
			}
		case *ast.SelectorExpr:
		default:
			return true
		}
		if text := types.ExprString(e); l.vars[text] && !l.isAppended(e) {
			l.show(e.Pos(), "it reads %s, which the entries before have changed", text)
		}
		return true
	})
}

// isAppended reports whether an expression is an argument of append whose result is assigned to it.
func (l *loop) isAppended(e ast.Expr) (is bool) {
	ast.Inspect(l.stmt.Body, func(n ast.Node) bool {
		if s, ok := n.(*ast.AssignStmt); ok && len(s.Lhs) == 1 && l.appends(s.Lhs[0], s.Rhs[0]) {
			is = is || s.Rhs[0].(*ast.CallExpr).Args[0].Pos() == e.Pos()
		}
		return !is
	})
	return is
}

// calls finds calls that change something outside of the loop, one entry after the other.
func (l *loop) calls(body ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ExprStmt:
			if call, ok := n.X.(*ast.CallExpr); ok && l.isUnknown(call) {
				l.show(n.Pos(), "it calls %s for each entry", types.ExprString(call.Fun))
			}
		case *ast.CallExpr:
			if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok && l.yields(l.TypesInfo.Uses[id]) {
				l.show(n.Pos(), "it passes each entry to %s", id.Name)
			}
			l.call(n)
		}
		return true
	})
}

// yields reports whether a variable is the parameter of an iterator, that is of a function without results.
func (l *loop) yields(obj types.Object) (does bool) {
	if _, ok := obj.(*types.Var); !ok || !isSignature(obj.Type()) {
		return false
	}
	isIterator := func(sig *types.Signature) bool {
		return sig.Params().Len() == 1 && sig.Results().Len() == 0 && sig.Params().At(0) == obj
	}
	if f := l.body.fn; f != nil && isIterator(f.Signature()) {
		return true
	}
	ast.Inspect(l.body.syntax, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok {
			if sig, ok := typeOfCall(l.TypesInfo.TypeOf(lit)); ok && isIterator(sig) {
				does = true
			}
		}
		return !does
	})
	return does
}

func (l *loop) call(n *ast.CallExpr) {
	if isBuiltin(l.TypesInfo, n, "panic") && l.varies(n.Args[0]) {
		l.show(n.Pos(), "it panics with the first entry that it comes to")
	}
	for _, m := range l.changedBy(l.body, n) {
		if !m.fills && !l.inner(m.root) && !l.ranged(m.root) {
			l.show(n.Pos(), "it calls %s, which changes %s, for each entry", types.ExprString(n.Fun), m.root.Name())
		}
	}
}

// isUnknown reports whether a call without a used result calls a function value, which may do anything in the order of the
// entries.
func (l *loop) isUnknown(call *ast.CallExpr) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	_, ok = l.TypesInfo.Uses[id].(*types.Var)
	return ok
}

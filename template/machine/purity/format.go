package purity

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"
)

// formats maps the functions that format to the index of their format; those without a format, to -1 minus the index of the first value.
var formats = map[string]int{
	"fmt.Sprintf": 0, "fmt.Errorf": 0, "fmt.Fprintf": 1, "fmt.Appendf": 1,
	"fmt.Sprint": -1, "fmt.Sprintln": -1, "fmt.Fprint": -2, "fmt.Fprintln": -2, "fmt.Append": -2, "fmt.Appendln": -2,
}

// formatted finds addresses that are printed.
func (r *reader) formatted(n *ast.CallExpr) {
	name := r.calledName(n)
	at, ok := formats[name]
	if !ok || n.Ellipsis.IsValid() {
		return
	}
	if at < 0 {
		for _, arg := range n.Args[min(-at-1, len(n.Args)):] {
			r.printed(name, arg, 'v')
		}
		return
	}
	if at >= len(n.Args) {
		return
	}
	values := n.Args[at+1:]
	verbs := make([]byte, len(values))
	if tv := r.TypesInfo.Types[n.Args[at]]; tv.Value != nil && tv.Value.Kind() == constant.String {
		verbsOf(constant.StringVal(tv.Value), verbs)
	}
	for i, arg := range values {
		r.printed(name, arg, verbs[i])
	}
}

func (r *reader) printed(name string, arg ast.Expr, verb byte) {
	t := r.TypesInfo.TypeOf(arg)
	if t == nil || verb == 'T' || !(verb == 'p' && refers(t, nil)) && !showsAddress(t, 0, true, nil) {
		return
	}
	what := name + " of " + types.ExprString(arg) + ", a " + types.TypeString(t, types.RelativeTo(r.Pkg)) + ","
	if verb == 'p' {
		what = name + ` with "%p"`
	}
	r.node.add(fault{pos: arg.Pos(), what: what + " prints an address", instead: "print what it points to"})
}

// verbsOf finds the verb that formats each value; a value without a verb is printed, too.
func verbsOf(format string, verbs []byte) {
	next := 0
	for {
		_, rest, ok := strings.Cut(format, "%")
		if !ok {
			return
		}
		i := 0
		for i < len(rest) && strings.IndexByte("+-# 0123456789.[]*", rest[i]) >= 0 {
			switch rest[i] {
			case '*':
				next++
			case '[':
				n := 0
				for j := i + 1; j < len(rest) && rest[j] >= '0' && rest[j] <= '9' && n < len(verbs); j++ {
					n = 10*n + int(rest[j]-'0')
				}
				next = max(n-1, 0)
			}
			i++
		}
		if i == len(rest) {
			return
		}
		if rest[i] != '%' {
			if next < len(verbs) && (verbs[next] == 0 || verbs[next] == 'T') {
				verbs[next] = rest[i]
			}
			next++
		}
		format = rest[i+1:]
	}
}

// showsAddress reports whether package fmt prints an address of a value of a type. It follows only the outermost pointer, and calls
// the methods of values that it can reach by exported fields.
func showsAddress(t types.Type, depth int, exported bool, seen []types.Type) bool {
	if slices.Contains(seen, t) {
		return false
	}
	seen = append(seen, t)
	if exported && (has(t, "Error") || has(t, "String") || has(t, "Format")) {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Chan, *types.Signature:
		return true
	case *types.Pointer:
		switch u.Elem().Underlying().(type) {
		case *types.Struct, *types.Array, *types.Slice, *types.Map:
			return depth > 0 || showsAddress(u.Elem(), 1, exported, seen)
		}
		_, isParam := types.Unalias(u.Elem()).(*types.TypeParam)
		return !isParam
	case *types.Struct:
		for f := range u.Fields() {
			if showsAddress(f.Type(), depth+1, exported && f.Exported(), seen) {
				return true
			}
		}
	case *types.Slice:
		return showsAddress(u.Elem(), depth+1, exported, seen)
	case *types.Array:
		return showsAddress(u.Elem(), depth+1, exported, seen)
	case *types.Map:
		return showsAddress(u.Key(), depth+1, exported, seen) || showsAddress(u.Elem(), depth+1, exported, seen)
	}
	return false
}

// has reports whether a value of a type has a method.
func has(t types.Type, name string) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, false, nil, name)
	_, ok := obj.(*types.Func)
	return ok
}

package sluice_test

import (
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// asksKinds reports whether a source has a switch with cases for several kinds of events.
func asksKinds(s source) (asks bool) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		if sw, ok := n.(*ast.SwitchStmt); ok {
			asks = asks || kindsIn(sw) > 1
		}
		return true
	})
	return asks
}

// kindsIn counts the cases of a switch that are kinds of events.
func kindsIn(sw *ast.SwitchStmt) (n int) {
	for _, clause := range sw.Body.List {
		for _, e := range clause.(*ast.CaseClause).List {
			if sel, ok := e.(*ast.SelectorExpr); ok && selects(sel, "journal", sel.Sel.Name) {
				n++
			}
		}
	}
	return n
}

// asksBindings reports whether a source distinguishes the bindings of operations, or the operations that the engine carries out itself.
func asksBindings(s source) (asks bool) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		if selects(n, "plan", "Sleep", "Wait", "Value", "Fail") {
			asks = true
		}
		if b, ok := n.(*ast.BinaryExpr); ok && named(b.Y, "nil") {
			sel, ok := b.X.(*ast.SelectorExpr)
			asks = asks || ok && slices.Contains([]string{"HTTP", "Sleep", "Wait", "Fail"}, sel.Sel.Name)
		}
		if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains([]string{"HTTP", "Command", "Workflow", "Sleep", "Wait"}, sel.Sel.Name) {
			of, ok := sel.X.(*ast.SelectorExpr)
			asks = asks || ok && of.Sel.Name == "Binding"
		}
		return true
	})
	return asks
}

// checklist returns the packages and files that a checklist of CONTRIBUTING.md names.
func checklist(t *testing.T, begin string) (names []string) {
	_, text, ok := strings.Cut(read(t, "CONTRIBUTING.md"), begin)
	require.True(t, ok, begin)
	text, _, _ = strings.Cut(text, "\nTo add ")
	for _, name := range regexp.MustCompile("`([^` ]+)`").FindAllStringSubmatch(text, -1) {
		names = append(names, name[1])
	}
	return names
}

// The checklists name every package with code for several kinds of events, or for bindings: a forgotten package would ignore a new kind
// or binding.
func TestChecklistsNameThePackagesThatAsk(t *testing.T) {
	for begin, asks := range map[string]func(source) bool{"\nTo add an **event**": asksKinds, "\nTo add a **binding**": asksBindings} {
		places := map[string]bool{}
		for _, s := range sources(t, false) {
			if p := s.pkg.path(); !strings.HasPrefix(p, "examples/") && asks(s) {
				places[p] = true
			}
		}
		require.Greater(t, len(places), 5)
		list := checklist(t, begin)
		for _, p := range slices.Sorted(maps.Keys(places)) {
			if !slices.Contains(list, p) {
				t.Errorf("%q in CONTRIBUTING.md lacks %s", strings.TrimSpace(begin), p)
			}
		}
	}
}

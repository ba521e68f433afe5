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

// bindings are the fields of template.Binding, and opKinds the kinds of operations that the engine carries out itself.
var (
	bindings = []string{"Command", "HTTP", "Sleep", "Wait", "Workflow", "Value", "Fail"}
	opKinds  = []string{"Call", "Sleep", "Wait", "Value", "Fail"}
)

// asksKinds reports whether a source has a switch with cases of several kinds of events.
func asksKinds(s source) (asks bool) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		if sw, ok := n.(*ast.SwitchStmt); ok {
			asks = asks || casesOf(sw, "journal", nil) > 1
		}
		return true
	})
	return asks
}

// casesOf counts the cases of a switch that are names of a package, of those given; nil: of all.
func casesOf(sw *ast.SwitchStmt, pkg string, names []string) (n int) {
	for _, clause := range sw.Body.List {
		for _, e := range clause.(*ast.CaseClause).List {
			if sel, ok := e.(*ast.SelectorExpr); ok && selects(sel, pkg, sel.Sel.Name) && (names == nil || slices.Contains(names, sel.Sel.Name)) {
				n++
			}
		}
	}
	return n
}

// asksBindings reports whether a function of a source asks several bindings of one operation whether they are there, or which kind of
// operation it is.
func asksBindings(s source) (asks bool) {
	for _, d := range s.file.Decls {
		fields := map[string]map[string]bool{}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if of := written(n.X); of != "" && slices.Contains(bindings, n.Sel.Name) {
					if fields[of] == nil {
						fields[of] = map[string]bool{}
					}
					fields[of][n.Sel.Name] = true
				}
			case *ast.SwitchStmt:
				asks = asks || casesOf(n, "plan", opKinds) > 1
			}
			return true
		})
		for _, names := range fields {
			asks = asks || len(names) > 2
		}
	}
	return asks
}

// written returns a chain of names as it is written, with dots; "" for another expression.
func written(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return written(e.X) + "." + e.Sel.Name
	}
	return ""
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

// What asks for kinds of events, or for bindings, and nobody thinks of, takes a new one for nothing.
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

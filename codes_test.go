package sluice_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// noCodes holds packages that make up failures, and constants that are named like codes but are not codes.
var noCodes = []string{"coordinator/explore", "reactive/journal/journaltest", "examples/"}

// codeName matches constants that are codes of errors. Those of playbooks are the reasons of a run's end, and kinds of errors.
var (
	codeName   = regexp.MustCompile(`^Code[A-Z]|^codeInternal$`)
	reasonName = regexp.MustCompile(`^(Code|Reason|Kind)[A-Z]`)
)

// failureMakers holds the functions whose first argument is a code.
var failureMakers = []string{"failure", "NewFailure"}

// codesOf adds the codes in a file: constants, codes in literals of errors, and the table of the codes of commands.
func codesOf(p pkg, f *ast.File, codes map[string]bool) {
	named := codeName
	if strings.HasPrefix(p.path(), "reactive/net") {
		named = reasonName
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if i < len(n.Values) && named.MatchString(name.Name) {
					addCode(codes, n.Values[i])
				}
				if p.path() == "coordinator/api" && name.Name == "codes" {
					addFirst(codes, n.Values[i])
				}
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Code" {
				addCode(codes, n.Value)
			}
		case *ast.CallExpr:
			if slices.Contains(failureMakers, callee(n)) && len(n.Args) > 0 {
				addCode(codes, n.Args[0])
			}
		}
		return true
	})
}

func callee(n *ast.CallExpr) string {
	switch f := n.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// addCode adds a literal code. In a code that ends with a status, NNN stands for the status.
func addCode(codes map[string]bool, v ast.Expr) {
	switch v := v.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(v.Value); err == nil && v.Kind == token.STRING && text != "" {
			codes[text] = true
		}
	case *ast.BinaryExpr:
		if lit, ok := v.X.(*ast.BasicLit); ok {
			text, _ := strconv.Unquote(lit.Value)
			codes[text+"NNN"] = true
		}
	}
}

// addFirst adds the first text of each row of a table.
func addFirst(codes map[string]bool, table ast.Expr) {
	for _, row := range table.(*ast.CompositeLit).Elts {
		addCode(codes, row.(*ast.CompositeLit).Elts[0])
	}
}

func TestTheTableOfErrorsHasTheCodesOfTheSource(t *testing.T) {
	codes := map[string]bool{}
	for _, p := range house(t) {
		if slices.ContainsFunc(noCodes, func(prefix string) bool { return strings.HasPrefix(p.path(), prefix) }) {
			continue
		}
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			codesOf(p, f, codes)
		}
	}
	_, text, ok := strings.Cut(read(t, "docs/errors.md"), "\n## Codes of calls\n")
	require.True(t, ok)
	table := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Za-z_]+)` \\|").FindAllStringSubmatch(text, -1) {
		require.False(t, table[row[1]], "two rows have %s", row[1])
		table[row[1]] = true
	}
	require.Equal(t, slices.Sorted(maps.Keys(codes)), slices.Sorted(maps.Keys(table)))
}

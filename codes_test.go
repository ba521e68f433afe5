package sluice_test

import (
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// noCodes holds packages that invent failures, and constants that are named like codes but are not codes.
var noCodes = []string{"coordinator/explore", "reactive/journal/journaltest", "examples/"}

// codeName matches the names of constants that are codes of errors. In playbooks the codes are the reasons of a run's end and the kinds of
// errors: see reasonName.
var (
	codeName   = regexp.MustCompile(`^[cC]ode[A-Z]`)
	reasonName = regexp.MustCompile(`^([cC]ode|Reason|Kind)[A-Z]`)
)

// makers holds, for each function with a string parameter named code, the index of that parameter. The keys are the names of exported
// functions, and the package and name of other functions.
type makers map[string]int

// add adds the functions that a file declares.
func (m makers) add(p pkg, f *ast.File) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		place := 0
		for _, field := range fn.Type.Params.List {
			for _, name := range field.Names {
				if name.Name == "code" && named(field.Type, "string") {
					m[calledIn(p, fn.Name.Name)] = place
				}
				place++
			}
		}
	}
}

// calledIn returns the key in makers of the function that a package calls name.
func calledIn(p pkg, name string) string {
	if ast.IsExported(name) {
		return name
	}
	return p.path() + "." + name
}

// codesOf adds the codes in a file: constants, codes in literals of errors, codes that are assigned to a field Code or passed to makers,
// and the table of the codes of commands.
func codesOf(p pkg, f *ast.File, makers makers, codes map[string]bool) {
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
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if field, ok := to.(*ast.SelectorExpr); ok && field.Sel.Name == "Code" && len(n.Rhs) == len(n.Lhs) {
					addCode(codes, n.Rhs[i])
				}
			}
		case *ast.CallExpr:
			if place, ok := makers[calledIn(p, callee(n))]; ok && place < len(n.Args) && !isSentence(n.Args[place]) {
				addCode(codes, n.Args[place])
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

// isSentence reports whether v is a text of several words, as in a call of a method that has the name of a maker.
func isSentence(v ast.Expr) bool {
	lit, ok := v.(*ast.BasicLit)
	return ok && strings.Contains(lit.Value, " ")
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

// allCodes returns the codes of the source.
func allCodes(list []source) map[string]bool {
	makers, codes := makers{}, map[string]bool{}
	for _, s := range list {
		makers.add(s.pkg, s.file)
	}
	for _, s := range list {
		if !slices.ContainsFunc(noCodes, func(prefix string) bool { return strings.HasPrefix(s.pkg.path(), prefix) }) {
			codesOf(s.pkg, s.file, makers, codes)
		}
	}
	return codes
}

func TestTheTableOfErrorsHasTheCodesOfTheSource(t *testing.T) {
	codes := allCodes(sources(t, false))
	_, text, ok := strings.Cut(read(t, "docs/errors.md"), "\n## Codes of calls\n")
	require.True(t, ok)
	table := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Za-z_]+)` \\|").FindAllStringSubmatch(text, -1) {
		require.False(t, table[row[1]], "two rows have %s", row[1])
		table[row[1]] = true
	}
	require.Equal(t, slices.Sorted(maps.Keys(codes)), slices.Sorted(maps.Keys(table)))
}

// The codes of the source are complete, for every way to write a code.
func TestCodesAreSeenHoweverTheyAreWritten(t *testing.T) {
	const text = `package planted
const CodeA = "a"
const codeB = "b"
func problem(place int, code string) {}
func Refuse(code, format string) {}
func use(f *failure) {
	_ = failure{Code: "c"}
	f.Code = "d"
	problem(1, "e")
	other.Refuse("f", "no")
	_ = fmt.Sprint("none")
}
`
	require.ElementsMatch(t, []string{"a", "b", "c", "d", "e", "f"}, slices.Collect(maps.Keys(allCodes([]source{planted(t, "planted", text)}))))
}

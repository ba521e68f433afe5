package purity_test

import (
	"fmt"
	"go/ast"
	"go/types"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/sluiceflow/sluice/template/machine/purity"
)

// diagnosed fails a test for diagnostics only: facts have a form of their own, and are seen in the diagnostics of other packages.
type diagnosed struct{ *testing.T }

func (d diagnosed) Errorf(format string, args ...any) {
	if len(args) < 2 || args[1] != "fact" {
		d.T.Errorf(format, args...)
	}
}

// The comments of testdata have each impurity, its place, and the calls that reach it. Nothing is found in packages alike and shop.
func TestImpuritiesAreFoundAndWhatLooksLikeThemIsNot(t *testing.T) {
	results := analysistest.Run(diagnosed{t}, analysistest.TestData(), purity.Analyzer, "planted", "alike", "shop")
	require.Len(t, results, 3)
	planted, alike := results[0], results[1]

	found := map[string]bool{}
	for _, d := range planted.Diagnostics {
		if m := regexp.MustCompile(`^(?:machine|the migration from version|what is given to \w+:) "([^"]+)" is impure`).FindStringSubmatch(d.Message); m != nil {
			found[m[1]] = true
		}
	}
	machines := defined(planted.Pass)
	require.GreaterOrEqual(t, len(machines), 90)
	for _, name := range machines {
		if name != "field" && name != "service" { // defined by methods, and reported where those are called
			require.True(t, found[name], "machine %q is impure", name)
		}
	}
	hasForm(t, planted.Diagnostics)
	require.Empty(t, alike.Diagnostics)
	require.Empty(t, results[2].Diagnostics)
	require.GreaterOrEqual(t, len(defined(alike.Pass)), 60)
}

// form is the form of every message: the machine, its impurity, the place, the calls that reach it, and the advice.
var form = regexp.MustCompile(`^[^;]+ is impure: .+ at [\w/]+\.go:\d+:\d+(, reached by way of (\w[\w. ]* \([\w/]+\.go:\d+:\d+\)(, |; ))+|; ).{10,}$`)

func hasForm(t *testing.T, diagnostics []analysis.Diagnostic) {
	chains := 0
	for _, d := range diagnostics {
		if m := form.FindStringSubmatch(d.Message); m == nil {
			require.Contains(t, d.Message, "is used as a value")
		} else if m[2] != "" {
			chains++
		}
	}
	require.Greater(t, chains, 20)
}

// defined returns the names of the machines that a package defines, each once.
func defined(pass *analysis.Pass) (names []string) {
	seen := map[string]bool{}
	for _, file := range pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 2 {
				return true
			}
			t, lit := pass.TypesInfo.TypeOf(call), call.Args[0]
			b, isLit := lit.(*ast.BasicLit)
			if p, ok := t.(*types.Pointer); !ok || !isLit || p.Elem().String() != "github.com/sluiceflow/sluice/template/flow/machine.Definition" {
				return true
			}
			if name, err := strconv.Unquote(b.Value); err == nil && !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
			return true
		})
	}
	return names
}

// collected keeps the complaints of a test about a package without expectations.
type collected struct {
	*testing.T
	lines []string
}

func (c *collected) Errorf(format string, args ...any) {
	if len(args) < 2 || args[1] != "fact" {
		c.lines = append(c.lines, fmt.Sprintf(format, args...))
	}
}

func TestADirectiveNeedsAReason(t *testing.T) {
	c := &collected{T: t}
	analysistest.Run(c, analysistest.TestData(), purity.Analyzer, "unexplained")
	require.Len(t, c.lines, 2)
	require.Contains(t, c.lines[0], "//sluice:pure needs a reason")
	require.Contains(t, c.lines[1], `machine "trusted" is impure: os.TempDir depends on the operating system`)
}

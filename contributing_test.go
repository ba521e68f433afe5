package sluice_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive"
)

// fuzzTargets returns the fuzz targets of the source, in the form of the table.
func fuzzTargets(t *testing.T) (targets []string) {
	for _, p := range house(t) {
		for _, name := range append(slices.Clone(p.TestGoFiles), p.XTestGoFiles...) {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Fuzz") {
					targets = append(targets, p.path()+" "+fn.Name.Name)
				}
			}
		}
	}
	slices.Sort(targets)
	return targets
}

func TestTheTableOfFuzzTargetsIsComplete(t *testing.T) {
	var table []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z/.]+)` \\| `(Fuzz[A-Za-z]+)` \\| .{20,} \\|$").FindAllStringSubmatch(read(t, "CONTRIBUTING.md"), -1) {
		table = append(table, row[1]+" "+row[2])
	}
	slices.Sort(table)
	require.Equal(t, fuzzTargets(t), table)
}

func TestContributingNamesPackagesThatExist(t *testing.T) {
	_, text, ok := strings.Cut(read(t, "CONTRIBUTING.md"), "\n## Where things go\n")
	require.True(t, ok)
	text, _, _ = strings.Cut(text, "\n## ")
	names := regexp.MustCompile("`((?:template|reactive|coordinator|cmd|schema|signals|dag)(?:/[a-z]+)*)`").FindAllStringSubmatch(text, -1)
	require.Greater(t, len(names), 15)
	for _, name := range names {
		require.DirExists(t, name[1])
	}
}

func TestContributingHasEveryStatus(t *testing.T) {
	_, text, ok := strings.Cut(read(t, "CONTRIBUTING.md"), "\n## Statuses\n")
	require.True(t, ok)
	for s := reactive.Idle; s <= reactive.Skipped; s++ {
		require.Contains(t, text, s.String())
	}
	for _, s := range []reactive.RunStatus{reactive.RunRunning, reactive.RunWaiting, reactive.RunPaused, reactive.RunCompleted, reactive.RunFailed,
		reactive.RunPartial, reactive.RunAborted, reactive.RunDeadlineExceeded, reactive.RunStepTimeout} {
		require.Contains(t, text, "`"+string(s)+"`")
	}
}

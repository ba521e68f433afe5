package sluice_test

import (
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/template/document"
)

// noLimits holds constants that are named like limits but do not bound inputs, each with its purpose.
var noLimits = map[string]string{
	// defaults of a struct that the table has
	"call.CodeMax": "operation.CodeMax", "call.MessageMax": "operation.MessageMax",
	"limits.ActorMax": "coordinator.ActorMax", "limits.valueBytesMax": "Limits.ValueBytesMax", "limits.depthMax": "Limits.DepthMax", "document.BytesMax": "Limits.Bytes",

	// caches
	"doctor.plansMax": "a cache", "explore.liveMax": "a cache", "signals.retainMax": "a cache",
	"signals.slabMax": "a page of memory",

	// work of one turn
	"decide.intentsMax": "the rest is decided by the next step", "decide.workMax": "the rest is decided by the next step", "decide.bytesMax": "the rest is decided by the next step", "decoded.nodesMax": "others are decoded again", "disk.commitMaxRequests": "the rest is in the next commit",
	"disk.commitMaxBytes": "the rest is in the next commit",

	// parts that are shown
	"explain.valueMax": "an explanation", "queries.namedMax": "an explanation", "inspect.awaitedMax": "a suggestion",
	"find.namedMax": "an error", "api.previewMax": "a status", "cli.ShortMax": "a table", "view.streamLinesMax": "a summary",
	"view.failuresShownMax": "a summary", "runs.listLimit": "a default of a flag", "progress.itemsMax": "a view", "progress.itemLinesMax": "a view", "progress.cellsMax": "a view", "progress.failuresMax": "a view",
	"plan.joinEdgesMax": "a graph, which shows more in another way", "callgraph.MeetMax": "a graph, which shows more in another way",

	// formats
	"trie.leafMax": "the form of a trie", "trie.countMax": "counts that can be added",
	"journal.maxFields": "a record's form", "journal.startMaxConcurrency": "the number of a field", "journal.startMapItemsMax": "the number of a field",
	"journal.startInstancesMax": "the number of a field", "journal.startContextMax": "the number of a field", "journal.startEventWorkMax": "the number of a field", "signals.bankShapesMax": "bits of a number", "playbook.bitsMax": "bits of a set",
	"playbook.halfMax": "bits of a set", "jinja.mantissaMax": "digits that a float has", "keychain.escapeMax": "bytes of an escape",
	"keychain.viewsMax": "escapes within each other that are undone", "dag.fieldsMax": "more than an object of the form has",
	"control.reachMax": "longer paths are reached in another way", "value.exactMax": "larger numbers are made in another way",
}

// fields returns the numbers of a struct of limits, by name.
func fields(prefix string, limits any) map[string]int64 {
	all := map[string]int64{}
	v := reflect.ValueOf(limits)
	for i := range v.NumField() {
		all[prefix+v.Type().Field(i).Name] = v.Field(i).Int()
	}
	return all
}

// limitName matches the names of limits.
var limitName = regexp.MustCompile(`^[Mm]ax[A-Z]|Max([A-Z]|$)|Limit$`)

// isNumber reports whether a type is numeric.
func isNumber(typ types.Type) bool {
	basic, ok := typ.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsNumeric != 0
}

// limitsOf returns the numbers of a package that are named like limits. It reports variables: a table cannot have numbers that change.
func limitsOf(t *testing.T, c *checker, p pkg) map[string]int64 {
	name := p.Name
	if name == "main" {
		name = path.Base(p.path())
	}
	all := map[string]int64{}
	scope := c.check(p).Scope()
	for _, id := range scope.Names() {
		object := scope.Lookup(id)
		if !limitName.MatchString(id) || !isNumber(object.Type()) {
			continue
		}
		limit, ok := object.(*types.Const)
		if !ok {
			if _, variable := object.(*types.Var); variable {
				t.Errorf("%s.%s is named like a limit, and is not a constant", name, id)
			}
			continue
		}
		number, exact := constant.Int64Val(constant.ToInt(limit.Val()))
		require.True(t, exact, "%s.%s is not a number", name, id)
		all[name+"."+id] = number
	}
	return all
}

// checker evaluates constants. It does not load other modules.
type checker struct {
	t       *testing.T
	files   *token.FileSet
	library types.Importer
	house   map[string]pkg
	known   map[string]*types.Package
}

func newChecker(t *testing.T) *checker {
	files := token.NewFileSet()
	c := &checker{t, files, importer.ForCompiler(files, "source", nil), map[string]pkg{}, map[string]*types.Package{}}
	for _, p := range house(t) {
		c.house[p.ImportPath] = p
	}
	return c
}

// Import implements types.Importer.
func (c *checker) Import(name string) (*types.Package, error) {
	if p, ok := c.house[name]; ok {
		return c.check(p), nil
	}
	if name == "time" || name == "math" {
		return c.library.Import(name)
	}
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

func (c *checker) check(p pkg) *types.Package {
	if known := c.known[p.ImportPath]; known != nil {
		return known
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(c.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		require.NoError(c.t, err)
		files = append(files, f)
	}
	config := types.Config{Importer: c, IgnoreFuncBodies: true, FakeImportC: true, Error: func(error) {}}
	known, _ := config.Check(p.ImportPath, c.files, files, nil) // ignore errors about other modules
	c.known[p.ImportPath] = known
	return known
}

func TestTheTableOfLimitsIsComplete(t *testing.T) {
	code, c := map[string]int64{}, newChecker(t)
	unused := map[string]bool{}
	for name := range noLimits {
		unused[name] = true
	}
	for _, p := range house(t) {
		for name, most := range limitsOf(t, c, p) {
			if noLimits[name] == "" {
				require.NotContains(t, code, name, "two constants have this name")
				code[name] = most
			}
			delete(unused, name)
		}
	}
	require.Empty(t, unused, "these constants do not exist")
	for prefix, limits := range map[string]any{
		"coordinator.Limits.": coordinator.DefaultLimits(), "document.Limits.": document.DefaultLimits(),
	} {
		for name, most := range fields(prefix, limits) {
			code[name] = most
		}
	}
	table := map[string]int64{}
	for name, cell := range rows(t, "[0-9]+", 5) {
		most, err := strconv.ParseInt(cell, 10, 64)
		require.NoError(t, err)
		table[name] = most
	}
	require.Equal(t, code, table)
}

// rows returns the rows of docs/limits.md with a number of cells and a second cell that matches second: the second cell by the name in
// the first.
func rows(t *testing.T, second string, cells int) map[string]string {
	table := map[string]string{}
	row := regexp.MustCompile("(?m)^\\| `([a-zA-Z.]+)` \\| (" + second + ") \\|" + strings.Repeat(` [^|]+ \|`, cells-2) + "$")
	for _, found := range row.FindAllStringSubmatch(read(t, "docs/limits.md"), -1) {
		require.NotContains(t, table, found[1], "two rows have this name")
		table[found[1]] = found[2]
	}
	return table
}

// noTimes holds constants that are named like times but are not bounds, each with its purpose.
var noTimes = map[string]string{
	"clock.jumpTime": "how often a clock is looked at", "control.fileTime": "how often a file is looked at",
}

// timesOf returns the constants of a package that are named like times.
func timesOf(t *testing.T, c *checker, p pkg) map[string]time.Duration {
	name := p.Name
	if name == "main" {
		name = path.Base(p.path())
	}
	all := map[string]time.Duration{}
	scope := c.check(p).Scope()
	for _, id := range scope.Names() {
		limit, ok := scope.Lookup(id).(*types.Const)
		if ok && strings.HasSuffix(id, "Time") && limit.Type().String() == "time.Duration" {
			n, exact := constant.Int64Val(limit.Val())
			require.True(t, exact, "%s.%s", name, id)
			all[name+"."+id] = time.Duration(n)
		}
	}
	return all
}

func TestTheTableOfTimesIsComplete(t *testing.T) {
	code, table, c := map[string]time.Duration{}, map[string]time.Duration{}, newChecker(t)
	for _, p := range house(t) {
		maps.Copy(code, timesOf(t, c, p))
	}
	for name := range noTimes {
		require.Contains(t, code, name, "the constant does not exist")
		delete(code, name)
	}
	for name, cell := range rows(t, "[0-9]+[a-z]+", 4) {
		d, err := time.ParseDuration(cell)
		require.NoError(t, err)
		table[name] = d
	}
	require.Equal(t, code, table)
}

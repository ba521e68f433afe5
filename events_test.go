package sluice_test

import (
	"go/ast"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// rowsOf returns the rows of the first table of a section of docs/events.md, each a list of cells.
func rowsOf(t *testing.T, section string) (rows [][]string) {
	_, text, ok := strings.Cut(read(t, "docs/events.md"), "\n## "+section+"\n")
	require.True(t, ok)
	_, text, ok = strings.Cut(text, "|\n|---")
	require.True(t, ok)
	table, _, _ := strings.Cut(text, "\n\n")
	for line := range strings.Lines(table) {
		if cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | "); strings.Contains(cells[0], "`") {
			rows = append(rows, cells)
		}
	}
	return rows
}

var inCode = regexp.MustCompile("`([a-z_.]+)`")

// codesIn returns the texts of a cell that are marked as code.
func codesIn(cell string) (texts []string) {
	for _, match := range inCode.FindAllStringSubmatch(cell, -1) {
		texts = append(texts, match[1])
	}
	return texts
}

// members returns the names of an event's members in JSON.
func members() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[api.Event]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func TestTheTableOfEventsHasTheTypesOfTheSource(t *testing.T) {
	rows := rowsOf(t, "Types")
	require.Len(t, rows, len(kindsOf(t)))
	for _, row := range rows {
		require.Len(t, row, 4, row)
		typ, err := journal.ParseType(codesIn(row[0])[0])
		require.NoError(t, err)
		var writers []string
		for _, w := range typ.Writers() {
			writers = append(writers, string(w))
		}
		slices.Sort(writers)
		if writers == nil {
			writers = []string{"–"}
		}
		require.Equal(t, strings.Join(writers, ", "), row[1], typ)
		for _, name := range codesIn(row[2]) {
			require.Contains(t, members(), name, typ)
		}
	}
}

func TestTheTableOfMembersHasThoseOfAnEvent(t *testing.T) {
	var names []string
	for _, row := range rowsOf(t, "Members") {
		names = append(names, codesIn(row[0])...)
	}
	require.ElementsMatch(t, members(), names)
}

func TestTheTableOfChangesHasTheViewsOfTheSource(t *testing.T) {
	var names, views []string
	for _, row := range rowsOf(t, "Changes of a net") {
		names = append(names, codesIn(row[0])...)
	}
	for _, s := range sources(t, false) {
		if s.name != "reactive/routed/view.go" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && named(v.Type, "ViewName") {
				text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
				require.NoError(t, err)
				views = append(views, text)
			}
			return true
		})
	}
	require.ElementsMatch(t, views, names)
}

package jinja_test

import (
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/expr/jinja"
)

// The package comment lists all callables and no others.
func TestThePackageCommentListsWhatIsThere(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	require.NoError(t, err)
	_, text, _ := strings.Cut(file.Doc.Text(), "# Language\n")
	text, _, _ = strings.Cut(text, "\n# ")
	word := regexp.MustCompile(`[a-z_][a-z_0-9]*`)
	for what, names := range jinja.Names() {
		_, part, ok := strings.Cut(text, "\t"+what+"s ")
		require.True(t, ok, what)
		part = regexp.MustCompile(`(?m)^\t[a-z]+s  .*`).Split(part, 2)[0]
		listed := word.FindAllString(part, -1)
		for _, name := range names {
			if word.MatchString(name) && what != "method" {
				require.Contains(t, listed, name, "the package comment has no %s %s", what, name)
			}
		}
		for _, name := range listed {
			if what == "filter" || what == "function" {
				require.Contains(t, names, name, "there is no %s %s", what, name)
			}
		}
	}
}

// Every callable occurs in a line of testdata/jinja2 or of a test, which has its result.
func TestEverythingThatIsCalledIsTested(t *testing.T) {
	var all strings.Builder
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, f := range files {
		if strings.HasSuffix(f.Name(), "_test.go") {
			text, err := os.ReadFile(f.Name())
			require.NoError(t, err)
			all.Write(text)
		}
	}
	for _, name := range []string{"cases", "more"} {
		text, err := os.ReadFile("testdata/jinja2/" + name + ".jsonl")
		require.NoError(t, err)
		all.Write(text)
	}
	called := map[string]*regexp.Regexp{
		"filter": regexp.MustCompile(`\|\s*([a-z_0-9]+)`), "test": regexp.MustCompile(`is (?:not )?([a-z]+)|'(==|!=|<|<=|>|>=|[a-z]+)'(?:, ?[^)]*)?\)`),
		"method": regexp.MustCompile(`\.([a-z_]+)\(`), "function": regexp.MustCompile(`([a-z]+)\(`),
	}
	for what, names := range jinja.Names() {
		met := map[string]bool{}
		for _, m := range called[what].FindAllStringSubmatch(all.String(), -1) {
			met[strings.Join(m[1:], "")] = true
		}
		for _, name := range names {
			if !met[name] && !slices.Contains([]string{"==", "!=", "<", "<=", ">="}, name) { // they are eq and its like
				t.Errorf("%s %s is tested nowhere", what, name)
			}
		}
	}
}

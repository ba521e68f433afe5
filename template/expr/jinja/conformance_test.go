package jinja_test

import (
	"bufio"
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/expr/jinja"
	"github.com/sluiceflow/sluice/template/value"
)

// verdict is a line of testdata/jinja2: a template, with its result in Jinja2.
type verdict struct {
	Template string
	Value    json.RawMessage
	Error    string // syntax, runtime
}

// Templates have the same results here as in Jinja2, except for those that the package comment lists.
func TestAgreesWithJinja2(t *testing.T) {
	data, err := os.ReadFile("testdata/jinja2/context.json")
	require.NoError(t, err)
	context, err := value.ParseJSON(data)
	require.NoError(t, err)
	names := env(context.(map[string]any))
	listed := differences(t)
	met := map[string]bool{}
	files, err := filepath.Glob("testdata/jinja2/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		agreed := 0
		for _, v := range verdicts(t, file) {
			got, agrees := v.agrees(t, names)
			differs := slices.Contains(listed, v.Template)
			met[v.Template] = true
			switch {
			case agrees && differs:
				t.Errorf("%s agrees with Jinja2, but the package comment says that it differs", v.Template)
			case agrees:
				agreed++
			case !differs:
				t.Errorf("%s gives %s, want %s%s", v.Template, got, v.Value, v.Error)
			}
		}
		require.Positive(t, agreed)
		t.Logf("%s: %d agree", file, agreed)
	}
	for _, template := range listed {
		require.True(t, met[template], "the package comment lists %q, of which Jinja2's verdict is not known", template)
	}
	t.Logf("%d differ, as the package comment says", len(listed))
}

// agrees reports whether the result here agrees with the line. A template that fails in Jinja2 when it is evaluated may be
// refused here earlier.
func (v verdict) agrees(t *testing.T, names env) (got string, ok bool) {
	template, err := jinja.Compile(v.Template)
	if err != nil {
		return err.Error(), v.Error != ""
	}
	x, err := template.Eval(names)
	if err != nil {
		return err.Error(), v.Error == "runtime"
	}
	text, err := value.JSON(x)
	require.NoError(t, err)
	if v.Error != "" {
		return string(text), false
	}
	want, err := value.ParseJSON(v.Value)
	require.NoError(t, err, v.Template)
	return string(text), value.Equal(want, x)
}

func verdicts(t *testing.T, file string) (list []verdict) {
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var v verdict
		require.NoError(t, json.Unmarshal(lines.Bytes(), &v))
		list = append(list, v)
	}
	return list
}

// differences are the templates that the package comment lists: its indented lines from the heading on, up to the next one.
// Those in quotes are Go strings.
func differences(t *testing.T) (list []string) {
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	require.NoError(t, err)
	_, text, ok := strings.Cut(file.Doc.Text(), "# Differences from Jinja2\n")
	require.True(t, ok)
	text, _, _ = strings.Cut(text, "\n# ")
	for line := range strings.SplitSeq(text, "\n") {
		template, ok := strings.CutPrefix(line, "\t")
		if !ok {
			continue
		}
		if strings.HasPrefix(template, `"`) {
			template, err = strconv.Unquote(template)
			require.NoError(t, err)
		}
		list = append(list, template)
	}
	require.NotEmpty(t, list)
	return list
}

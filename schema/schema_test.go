package schema

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/document"
)

var update = flag.Bool("update", false, "write schema/*.json and the key references of docs/")

// published compares a file with the generated text.
func published(t *testing.T, file string, want []byte) {
	if *update {
		require.NoError(t, os.WriteFile(file, want, 0o644))
	}
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got), "%s is not up to date: go test ./schema -update", file)
}

func TestSchemasAndReferencesArePublished(t *testing.T) {
	for _, k := range Kinds() {
		published(t, k.file+".json", k.JSON())
		require.NotContains(t, string(k.JSON()), "](", "a link is relative to no page")
		published(t, filepath.Join("..", "docs", k.file+".md"), []byte(k.Markdown()))
	}
}

func TestKindsAreFoundByName(t *testing.T) {
	for _, k := range Kinds() {
		require.Same(t, k, Find(k.Name))
	}
	require.Nil(t, Find("workflow"))
}

var cache = map[*Kind]*jsonschema.Schema{}

// compiled returns the JSON Schema of a kind.
func compiled(t testing.TB, k *Kind) *jsonschema.Schema {
	if s := cache[k]; s != nil {
		return s
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(k.JSON()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource(k.URL(), v))
	s, err := c.Compile(k.URL())
	require.NoError(t, err)
	cache[k] = s
	return s
}

// Every shape has a name of its own, because only names distinguish definitions.
func TestShapesHaveNamesOfTheirOwn(t *testing.T) {
	names := map[string]*Shape{}
	for s := range references() {
		require.Nil(t, names[s.name], s.name)
		names[s.name] = s
		require.NotEmpty(t, s.text, s.name)
	}
}

// Examples and defaults are valid values of their keys.
func TestExamplesAndDefaultsAreValuesOfTheirKeys(t *testing.T) {
	for s := range references() {
		for _, k := range s.keys {
			what := s.name + "." + k.name
			require.NotEmpty(t, k.text, what)
			require.False(t, k.needed && k.fallback != nil, what)
			require.True(t, k.needed || k.fallback != nil || k.without != "", "%s does not say what it means to leave it out", what)
			schema := compiled(t, &Kind{Name: "key", file: "key", root: &Shape{name: "key", text: "key", keys: []Key{k}}})
			nodes, err := document.Parse(what, []byte("x: "+k.written()), document.Limits{})
			require.NoError(t, err, what)
			require.NoError(t, schema.Validate(map[string]any{k.name: nodes[0].Get("x").Value()}), what)
			require.Equal(t, []any{nodes[0].Get("x").Value()}, k.examples(), what)
			if k.fallback != nil {
				require.NoError(t, schema.Validate(map[string]any{k.name: k.fallback}), what)
			}
		}
	}
}

// Editors find the schema of every example, except the minimal one.
func TestExamplesNameTheirSchemas(t *testing.T) {
	named := map[string]bool{}
	for _, s := range samples(t) {
		if !strings.HasPrefix(s.file, "../examples/") || s.file == "../examples/hello.yaml" || named[s.file] {
			continue
		}
		named[s.file] = true
		text, err := os.ReadFile(s.file)
		require.NoError(t, err)
		line, _, _ := strings.Cut(string(text), "\n")
		path, ok := strings.CutPrefix(line, "# yaml-language-server: $schema=")
		require.True(t, ok, "%s begins with no modeline", s.file)
		require.Equal(t, "../schema/"+s.kind.file+".json", filepath.Join(filepath.Dir(s.file), path))
	}
	require.Greater(t, len(named), 20)
}

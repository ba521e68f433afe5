package document_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// values generates the values of JSON.
func values() *rapid.Generator[any] {
	text := rapid.StringOf(rapid.RuneFrom([]rune("ab :#-{}[],\"'\\\n\té𝄞&*!|>%@`0")))
	scalar := rapid.OneOf(
		rapid.Just[any](nil), rapid.Map(rapid.Bool(), toAny), rapid.Map(rapid.Int64(), toAny), rapid.Map(text, toAny),
		rapid.Map(rapid.Custom(func(t *rapid.T) float64 { return rapid.Float64Range(-1e6, 1e6).Draw(t, "f") + .5 }), toAny),
	)
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		if depth == 0 {
			return scalar
		}
		inner := rapid.Deferred(func() *rapid.Generator[any] { return value(depth - 1) })
		return rapid.OneOf(scalar,
			rapid.Map(rapid.SliceOfN(inner, 0, 4), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(text, inner, 0, 4), func(m map[string]any) any { return m }))
	}
	return value(3)
}

func toAny[T any](v T) any { return v }

// JSON is YAML, so both readers must return the same value.
func TestJSONReadsTheSameAsJSONAndAsYAML(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values().Draw(t, "v")
		text, err := json.Marshal(v)
		require.NoError(t, err)
		asJSON, err := document.Parse("f.json", text, document.Limits{})
		require.NoError(t, err)
		// With the marker of the beginning of a document, the text is YAML.
		asYAML, err := document.Parse("f.yaml", append([]byte("--- "), text...), document.Limits{})
		require.NoError(t, err, "%s", text)

		want := normal(v)
		require.Equal(t, want, asJSON[0].Value())
		if v != nil {
			require.Equal(t, want, asYAML[0].Value(), "%s", text)
		}
	})
}

// normal converts whole floats to integers, as the model has them.
func normal(v any) any {
	switch v := v.(type) {
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	case []any:
		for i := range v {
			v[i] = normal(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = normal(v[k])
		}
	}
	return v
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"a: 1\nb: [c, {d: e}]\n", "---\n- a\n---\n- |\n  b\n- >-\n  c\n", "{\"a\": [1.5, null, true]}", "a: &x b\nc: *x\n",
		"? a\n: b\n", "- - - a\n", "a: \"\\u00e9\"\n", "[[[[[[", "{{ a }}", "a: 'b''c'\r\nd:\r\n  - e\r\n", "%YAML 1.2\n---\n", "\ufeffa: b",
		"!!x", "&a", "*a", "- ? b", "a: |2\n  x\n", "<<: a", "a:\n- b\nc: d\n", "10000000000000000000.0", "\"a\": b\n'c': d\n", "a: # c\n  # d\n  b: c\n",
	} {
		f.Add(seed)
	}
	limits := document.Limits{Bytes: 1 << 16, Depth: 32}
	f.Fuzz(func(t *testing.T, text string) {
		nodes, err := document.Parse("f.yaml", []byte(text), limits)
		if err == nil && len(nodes) == 0 {
			t.Fatal("neither a document nor an error")
		}
		lines := strings.Count(text, "\n") + strings.Count(text, "\r") + 2
		for _, n := range nodes {
			walk(n, func(n *document.Node) {
				if n.Pos.Line < 1 || n.Pos.Line > lines || n.Pos.Col < 1 {
					t.Fatalf("%s stands at %v in a text of %d lines", n.Pos.Path, n.Pos, lines)
				}
			})
			if err != nil {
				continue
			}
			again, err := value.JSON(n.Value()) // encoding/json writes 1e19 as an integer, which would be refused
			require.NoError(t, err)
			back, err := document.Parse("f.json", again, document.Limits{Depth: 32, Bytes: 1 << 20})
			require.NoError(t, err)
			require.Equal(t, n.Value(), back[0].Value())
		}
	})
}

// TestATextMeansTheSameInBrackets: a text without quotes has the same meaning in a list on a line of its own, and in brackets
// within braces.
func TestATextMeansTheSameInBrackets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-c0-9é][a-c0-9é:/. -]{0,8}[a-c0-9é]`).Filter(func(s string) bool {
			return !strings.Contains(s, ": ") && !strings.Contains(s, "  ")
		}).Draw(t, "text")
		block, err := document.Parse("f.yaml", []byte("k:\n  - "+text+"\n  - "+text+"\n"), document.Limits{})
		require.NoError(t, err)
		flow, err := document.Parse("f.yaml", []byte("{k: ["+text+", "+text+"]}"), document.Limits{})
		if strings.Contains(text, ":- ") && err != nil {
			t.Skip("the scanner refuses a list in a list in brackets")
		}
		require.NoError(t, err, text)
		require.Equal(t, block[0].Value(), flow[0].Value(), text)
	})
}

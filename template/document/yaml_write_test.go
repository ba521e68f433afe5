package document_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template/document"
)

// yaml returns the text of a value that can be written.
func yaml(t require.TestingT, v any, first ...string) string {
	text, err := document.AppendYAML(nil, v, first...)
	require.NoError(t, err)
	return string(text)
}

func TestYAMLOfScalars(t *testing.T) {
	for _, tt := range []struct {
		v    any
		want string
	}{
		{nil, "null"}, {true, "true"}, {int64(-42), "-42"}, {2.5, "2.5"}, {1e300, "1.0e+300"}, {1.5e-9, "1.5e-09"},
		{"word", "word"}, {"two words", "two words"}, {"a-b_c.d/e+f@g", "a-b_c.d/e+f@g"}, {"/bin/sh", "/bin/sh"}, {"../a", "../a"}, {"...", `"..."`}, {".a", ".a"}, {"PT1.5S", "PT1.5S"},
		{"", `""`}, {"true", `"true"`}, {"null", `"null"`}, {"~", `"~"`}, {"No", `"No"`}, {"on", `"on"`}, {"1", `"1"`}, {".5", `".5"`},
		{".inf", `".inf"`}, {"2026-01-01", `"2026-01-01"`}, {"-x", `"-x"`}, {"a: b", `"a: b"`}, {"a #b", `"a #b"`}, {"a ", `"a "`},
		{"{{ input }}", `"{{ input }}"`}, {`say "hi" \ bye`, `"say \"hi\" \\ bye"`}, {"tab\tend", `"tab\tend"`}, {"cr\r", `"cr\u000d"`},
		{"é𝄞", `"é𝄞"`}, {"\u2028\ufeff\x7f\x00", `"\u2028\ufeff\u007f\u0000"`}, {"one\n", `"one\n"`}, {"a\nb", `"a\nb"`},
		{[]any{}, "[]"}, {map[string]any{}, "{}"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			require.Equal(t, tt.want+"\n", yaml(t, tt.v))
		})
	}
}

func TestYAMLOfCollections(t *testing.T) {
	long := make([]any, 20)
	for i := range long {
		long[i] = "an item"
	}
	for _, tt := range []struct {
		name string
		v    any
		want string
	}{
		{"a mapping", map[string]any{"b": int64(1), "a": map[string]any{"c": nil, "on": "x"}}, "a:\n  c: null\n  \"on\": x\nb: 1\n"},
		{"keys that come first", map[string]any{"a": int64(1), "name": "me", "kind": "k", "z": map[string]any{"kind": "k", "a": "a"}},
			"kind: k\nname: me\na: 1\nz:\n  kind: k\n  a: a\n"},
		{"a short list", map[string]any{"a": []any{"x", int64(1), "y: z", nil}}, "a: [x, 1, \"y: z\", null]\n"},
		{"a long list", map[string]any{"a": long}, "a:\n" + strings.Repeat("  - an item\n", 20)},
		{"lists in lists", []any{[]any{"a"}, []any{[]any{"b"}, "c"}, []any{}}, "- [a]\n-\n  - [b]\n  - c\n- []\n"},
		{"mappings in lists", []any{map[string]any{"a": int64(1), "b": []any{map[string]any{"c": "d"}}}, map[string]any{}},
			"- a: 1\n  b:\n    - c: d\n- {}\n"},
		{"blocks", map[string]any{"a": "x\n  y\n\nz\n", "b": []any{"p\nq"}}, "a: |\n  x\n    y\n\n  z\nb:\n  - |-\n    p\n    q\n"},
		{"texts that are no blocks", map[string]any{"a": " x\ny", "b": "x \ny", "c": "\nx\ny", "d": "x\n\n", "e": "x\r\ny"},
			"a: \" x\\ny\"\nb: \"x \\ny\"\nc: \"\\nx\\ny\"\nd: \"x\\n\\n\"\ne: \"x\\u000d\\ny\"\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, yaml(t, tt.v, "kind", "name"))
		})
	}
}

func TestYAMLRefusesWhatADocumentCannotHold(t *testing.T) {
	for _, tt := range []struct {
		name string
		v    any
		want string
	}{
		{"another type", map[string]any{"a": []any{nil, int32(1)}}, `write YAML: "a": [1]: a int32 cannot be written`},
		{"no number", []any{math.NaN()}, "write YAML: [0]: NaN is not a number that can be written"},
		{"endless", math.Inf(-1), "write YAML: -Inf is not a number that can be written"},
		{"no text", map[string]any{"a": "\xff"}, "is not UTF-8"},
		{"no key", map[string]any{"\xff": nil}, "is not UTF-8"},
		{"no block", map[string]any{"a": "a\n\xff"}, "is not UTF-8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			kept, err := document.AppendYAML([]byte("before"), tt.v)
			require.ErrorContains(t, err, tt.want)
			require.Equal(t, "before", string(kept))
		})
	}
}

// A written value reads back. Its text is in block style, and the documents before it are unchanged.
func TestYAMLReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := normal(values().Draw(t, "v"))
		text := yaml(t, v, "a", "b")
		require.Equal(t, text, yaml(t, v, "a", "b"))
		nodes, err := document.Parse("f.yaml", []byte("---\n"+text), document.Limits{})
		require.NoError(t, err, "%s", text)
		if v != nil {
			require.Equal(t, v, nodes[0].Value(), "%s", text)
		}
	})
}

func TestYAMLThatNestsWithoutEndIsRefused(t *testing.T) {
	nest := func(levels int, inside any) any {
		for i := range levels {
			if inside = any([]any{inside}); i%2 == 0 {
				inside = map[string]any{"k": inside.([]any)[0]}
			}
		}
		return inside
	}
	object, list := map[string]any{}, []any{nil}
	object["itself"], list[0] = object, list
	for _, v := range []any{object, list, nest(129, int64(1)), nest(100_000, int64(1)), nest(3, object)} {
		_, err := document.AppendYAML(nil, v)
		require.ErrorIs(t, err, document.ErrLimit)
	}
	text := yaml(t, nest(128, int64(1)))
	nodes, err := document.Parse("f.yaml", []byte(text), document.Limits{})
	require.NoError(t, err)
	require.Equal(t, nest(128, int64(1)), nodes[0].Value())
}

func FuzzAppendYAML(f *testing.F) {
	for _, seed := range []string{"a\nb", "#!/bin/sh\n\tset -e\n", "---\n...\n", "a: b\n- c", "é\u2028", "'\"\\", "x\n  \ny", "? a\n: b", "|\n>\n", "a\n\n\nb\n", "..."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v := map[string]any{"k": text, "l": []any{text, map[string]any{"m": text}}, text: "v"}
		out, err := document.AppendYAML(nil, v)
		if err != nil {
			t.Skip(err)
		}
		nodes, err := document.Parse("f.yaml", out, document.Limits{})
		require.NoError(t, err, "%s", out)
		require.Equal(t, any(v), nodes[0].Value(), "%s", out)
	})
}

func ExampleAppendYAML() {
	text, err := document.AppendYAML(nil, map[string]any{
		"kind": "Workflow", "name": "hello",
		"steps":      []any{map[string]any{"operation": "greet", "needs": []any{"a", "b"}}},
		"operations": map[string]any{"greet": map[string]any{"command": map[string]any{"shell": "set -e\necho hello\n"}}},
	}, "kind", "name")
	fmt.Printf("%s%v\n", text, err)
	// Output:
	// kind: Workflow
	// name: hello
	// operations:
	//   greet:
	//     command:
	//       shell: |
	//         set -e
	//         echo hello
	// steps:
	//   - needs: [a, b]
	//     operation: greet
	// <nil>
}

func BenchmarkAppendYAML(b *testing.B) {
	for _, steps := range []int{10, 1_000} {
		b.Run(fmt.Sprintf("steps=%d", steps), func(b *testing.B) {
			list := make([]any, steps)
			for i := range list {
				list[i] = map[string]any{"id": fmt.Sprint("step-", i), "operation": "sleep", "input": "PT1S", "needs": []any{"a", "b"}}
			}
			v := map[string]any{"kind": "Workflow", "steps": list}
			require.Equal(b, 4*steps+2, strings.Count(yaml(b, v), "\n"))
			var out []byte
			b.ReportAllocs()
			for b.Loop() {
				out, _ = document.AppendYAML(out[:0], v, "kind", "id")
			}
			b.SetBytes(int64(len(out)))
		})
	}
}

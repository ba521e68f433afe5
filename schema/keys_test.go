package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

// place is the place of a shape in a sample: keys and indexes from the root.
type place struct {
	sample
	path  []any
	other []string // keys that would select another shape for the mapping
}

func (s *Shape) visit(v any, at place, yield func(*Shape, map[string]any, place)) {
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	yield(s, m, at)
	for name, inner := range m {
		below := place{sample: at.sample, path: append(slices.Clone(at.path), name)}
		i := slices.IndexFunc(s.keys, func(k Key) bool { return k.name == name })
		switch {
		case i >= 0 && s.keys[i].of.unless != nil && s.keys[i].of.unless.looks(m):
		case i >= 0:
			s.keys[i].of.visit(inner, below, yield)
		case s.others != nil:
			s.others.visit(inner, below, yield)
		}
	}
}

func (t *Type) visit(v any, at place, yield func(*Shape, map[string]any, place)) {
	m, isMapping := v.(map[string]any)
	l, isList := v.([]any)
	for _, c := range t.choices {
		c.visit(v, at, yield)
	}
	switch {
	case t.shape != nil:
		t.shape.visit(v, at, yield)
	case isList && t.items != nil:
		for i, item := range l {
			t.items.visit(item, place{sample: at.sample, path: append(slices.Clone(at.path), i)}, yield)
		}
	case isMapping && t.values != nil:
		for key, value := range m {
			t.values.visit(value, place{sample: at.sample, path: append(slices.Clone(at.path), key)}, yield)
		}
	case isMapping && t.cases != nil:
		for _, c := range t.cases {
			at.other = append(slices.Clone(at.other), c.key)
		}
		for _, c := range t.cases {
			if c.holds(m) {
				c.is.visit(v, at, yield)
				return
			}
		}
	}
}

func (c oneCase) holds(m map[string]any) bool {
	v, ok := m[c.key]
	return c.key == "" || ok && (c.texts == nil || slices.Contains(c.texts, v))
}

// places returns one place for each shape.
func places(t *testing.T) map[*Shape]place {
	found := map[*Shape]place{}
	// Workflows within scenarios come last, because they also exist by themselves.
	ordered := slices.SortedStableFunc(slices.Values(samples(t)), func(a, b sample) int {
		return cmp.Compare(slices.Index(Kinds(), a.kind), slices.Index(Kinds(), b.kind))
	})
	for _, s := range ordered {
		s.kind.root.visit(s.node.Value(), place{sample: s}, func(shape *Shape, _ map[string]any, at place) {
			if _, ok := found[shape]; !ok {
				found[shape] = at
			}
		})
	}
	for s := range references() {
		require.Contains(t, found, s, "no document has a %s: write one into testdata", s.name)
	}
	return found
}

// The readers know every described key: they may refuse its example, but not report an unknown key.
func TestTheReadersKnowEveryKey(t *testing.T) {
	for s, at := range places(t) {
		for _, k := range s.keys {
			nodes, err := document.Parse("example", []byte("x: "+k.written()), document.Limits{})
			require.NoError(t, err)
			for _, f := range faults(t, at, map[string]any{k.name: nodes[0].Get("x").Value()}) {
				assert.False(t, noKey.MatchString(f.Msg) && f.Text == k.name, "%s.%s: %s", s.name, k.name, f)
			}
		}
	}
}

// faults returns the faults that a reader reports in a sample with more keys at a place.
func faults(t *testing.T, at place, keys map[string]any) document.Errors {
	nodes, err := document.Parse("probe.json", probe(t, at, keys), document.Limits{})
	require.NoError(t, err)
	faults, _ := errors.AsType[document.Errors](read(t, at.kind, nodes[0]))
	return faults
}

// keyForm matches possible keys.
var keyForm = regexp.MustCompile(`^[a-z][A-Za-z0-9_]*$`)

// wordsOfReaders returns all texts in the source of the readers that may be keys.
func wordsOfReaders(t *testing.T) []string {
	words := map[string]bool{"unheard_of": true}
	for _, folder := range []string{"../template", "../coordinator/scenario"} {
		require.NoError(t, filepath.WalkDir(folder, func(file string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || strings.Contains(file, "/expr/") {
				return err
			}
			source, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			ast.Inspect(source, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if text, err := strconv.Unquote(lit.Value); err == nil && keyForm.MatchString(text) {
						words[text] = true
					}
				}
				return true
			})
			return err
		}))
	}
	for s := range references() {
		for _, k := range s.keys {
			words[k.name] = true
		}
	}
	return sortedKeys(words)
}

// noKey matches refusals of a key. A noop refuses some keys without naming them, and an effect refuses bindings that it cannot
// have.
var noKey = regexp.MustCompile(`^unknown key|^a noop takes no|^an effect cannot have the binding|cannot be combined with (sequential|parallel|conditional|map)$`)

// The readers refuse every other word as a key: they know no undescribed key.
func TestTheReadersKnowNoOtherKey(t *testing.T) {
	words := wordsOfReaders(t)
	require.Greater(t, len(words), 300)
	for s, at := range places(t) {
		if s.others != nil {
			continue
		}
		unknown := map[string]any{}
		for _, word := range words {
			if !slices.Contains(at.other, word) && !hasKey(s.keys, word) && !(s == noopTool && (word == "args" || hasKey(callKeys(), word))) {
				unknown[word] = nil
			}
		}
		refused := map[string]bool{}
		for _, f := range faults(t, at, unknown) {
			if noKey.MatchString(f.Msg) {
				refused[f.Text] = true
			}
		}
		for word := range unknown {
			assert.True(t, refused[word], "the reader of %s (%s %s %v) knows %s", s.name, at.file, at.node.Pos, at.path, word)
		}
	}
}

// removed represents a removed key.
var removed = new(int)

// probe returns a sample with further keys at a place.
func probe(t *testing.T, at place, keys map[string]any) []byte {
	text, err := json.Marshal(at.node.Value())
	require.NoError(t, err)
	var root any
	require.NoError(t, json.Unmarshal(text, &root))
	v := root
	for _, step := range at.path {
		switch step := step.(type) {
		case string:
			v = v.(map[string]any)[step]
		case int:
			v = v.([]any)[step]
		default:
			panic(fmt.Sprint(step))
		}
	}
	maps.Copy(v.(map[string]any), keys)
	maps.DeleteFunc(v.(map[string]any), func(_ string, v any) bool { return v == removed })
	text, err = json.Marshal(root)
	require.NoError(t, err)
	return text
}

// A default applies when its key is missing: writing the default explicitly does not change the canonical document of a workflow.
func TestDefaultsAreThoseOfTheReaders(t *testing.T) {
	compared := 0
	for s, at := range places(t) {
		if at.kind != &workflowKind {
			continue
		}
		for _, k := range s.keys {
			if k.fallback == nil {
				continue
			}
			without := hash(t, probe(t, at, map[string]any{k.name: removed}))
			require.Equal(t, without, hash(t, probe(t, at, map[string]any{k.name: k.fallback})), "%s.%s", s.name, k.name)
			compared++
		}
	}
	require.Greater(t, compared, 10)
}

func hash(t *testing.T, text []byte) string {
	w, err := template.Parse("w.json", text)
	require.NoError(t, err, "%s", text)
	hash, err := w.Hash()
	require.NoError(t, err)
	return hash
}

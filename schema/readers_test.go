package schema

import (
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/scenario"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/kinds"
)

// sample is a document of the project whose kind has a schema.
type sample struct {
	file string
	kind *Kind
	node *document.Node
}

var accepted []sample // by the readers

// samples returns all documents of the project that the readers accept, including those inside scenarios.
func samples(t testing.TB) []sample {
	if accepted == nil {
		for _, s := range written(t) {
			if read(t, s.kind, s.node) == nil {
				accepted = append(accepted, s)
			}
		}
	}
	return accepted
}

func written(t testing.TB) []sample {
	var all []sample
	require.NoError(t, filepath.WalkDir("..", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(file)) {
			return err
		}
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		nodes, err := document.Parse(file, data, document.Limits{})
		if err != nil {
			return nil // it is there to be refused
		}
		for _, n := range nodes {
			if k := kindOf(n); k != nil {
				all = append(all, sample{file, k, n})
			}
			if w := n.Get("workflow"); kindOf(n) == &scenarioKind && w != nil && kindOf(w) != nil {
				all = append(all, sample{file, kindOf(w), w})
			}
		}
		return nil
	}))
	return all
}

func kindOf(n *document.Node) *Kind {
	if n.Kind != document.Mapping {
		return nil
	}
	if n.Get("kind") == nil && (n.Get("participants") != nil || n.Get("capabilities") != nil) {
		return &directoryKind
	}
	if v := n.Get("kind"); v != nil {
		text, _ := v.Text()
		return Find(text)
	}
	return nil
}

// read reads a document with the project's readers.
func read(t testing.TB, k *Kind, n *document.Node) error {
	switch k {
	case &directoryKind:
		_, err := template.ParseDirectory(n)
		return err
	case &scenarioKind:
		return readScenario(t, n)
	}
	w, err := kinds.ParseNode(n)
	if w == nil {
		return err
	}
	_, checkErr := template.Check(w, template.Known{Operation: func(string) bool { return true }})
	return document.Join(err, checkErr)
}

// folder is the folder of scenario files: their reader reads files.
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "schema"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// readScenario reads a scenario, and its inline workflow unless the scenario expects a refusal.
func readScenario(t testing.TB, n *document.Node) error {
	data, err := json.Marshal(n.Value())
	require.NoError(t, err)
	file := filepath.Join(folder, "scenario.json")
	require.NoError(t, os.WriteFile(file, data, 0o600))
	_, err = scenario.Load(file)
	w := n.Get("workflow")
	if w == nil || w.Kind != document.Mapping || n.Get("expect") != nil && n.Get("expect").Get("invalid") != nil {
		return err
	}
	return document.Join(err, read(t, &workflowKind, w))
}

func TestDocumentsThatAreAcceptedAreValid(t *testing.T) {
	valid := map[*Kind]int{}
	for _, s := range samples(t) {
		require.NoError(t, compiled(t, s.kind).Validate(s.node.Value()), "%s %s", s.file, s.node.Pos)
		valid[s.kind]++
	}
	for _, k := range Kinds() {
		require.Positive(t, valid[k], k.Name)
	}
	require.Greater(t, valid[&workflowKind], 100)
	require.Greater(t, valid[&playbookKind], 50)
	require.Greater(t, valid[&scenarioKind], 150)
}

// ofShape matches refusals of keys and of kinds of values, but not of their contents.
var ofShape = regexp.MustCompile(`unknown key|must be (a|an) [a-zA-Z ]+, not (a|an|null)|(kind|name|steps|step|at|code) is missing`)

// ofInput matches refusals of keys in the input of a built-in tool. The schema of the tool allows them.
var ofInput = regexp.MustCompile(`\.(input|args)\.[^ ]+: unknown key`)

// ofType matches refusals of parts of the types of a world. The schema leaves them to the reader.
var ofType = regexp.MustCompile(`must be (a mapping from names to types|a type such as)|\.map\.[^ ]+: unknown key`)

func refusedForShape(err error) bool {
	for line := range strings.Lines(err.Error()) {
		if ofShape.MatchString(line) && !ofInput.MatchString(line) && !ofType.MatchString(line) {
			return true
		}
	}
	return false
}

// Mutants of the documents of the project are valid if the readers accept them, and invalid if the readers refuse a key or a kind
// of value. The test makes one mutant of each document, or ten with SLUICE_EXHAUSTIVE.
func TestMutantsAreValidAsTheReadersSay(t *testing.T) {
	times := 1
	if os.Getenv("SLUICE_EXHAUSTIVE") != "" {
		times = 10
	}
	random := rand.New(rand.NewPCG(1, 2))
	schemas := map[*Kind]interface{ Validate(any) error }{}
	for _, k := range Kinds() {
		schemas[k] = compiled(t, k)
	}
	accepted, refused := 0, 0
	for _, s := range samples(t) {
		for range times {
			text, err := json.Marshal(s.node.Value())
			require.NoError(t, err)
			var v any
			require.NoError(t, json.Unmarshal(text, &v))
			mutate(random, v)
			text, err = json.Marshal(v)
			require.NoError(t, err)
			nodes, err := document.Parse("mutant.json", text, document.Limits{})
			require.NoError(t, err)
			invalid := schemas[s.kind].Validate(nodes[0].Value())
			switch err := read(t, s.kind, nodes[0]); {
			case err == nil:
				accepted++
				assert.NoError(t, invalid, "%s: %s", s.file, text)
			case refusedForShape(err):
				refused++
				assert.Error(t, invalid, "%s: %s\n%v", s.file, text, err)
			}
		}
	}
	t.Logf("%d mutants were accepted, %d refused for their shape", accepted, refused)
	require.Greater(t, accepted, 100)
	require.Greater(t, refused, 100)
}

// mutate changes one place of a value: it adds a key, or replaces the value by a value of another kind.
func mutate(random *rand.Rand, v any) {
	var places []func()
	var visit func(v any)
	sorts := []any{nil, true, 7, 1.5, "mutant", []any{}, []any{"mutant"}, map[string]any{}, map[string]any{"mutant": 1}}
	visit = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			places = append(places, func() { v["unheard_of"] = sorts[random.IntN(len(sorts))] })
			for _, key := range sortedKeys(v) {
				places = append(places, func() { v[key] = sorts[random.IntN(len(sorts))] }, func() { delete(v, key) })
				visit(v[key])
			}
		case []any:
			for i := range v {
				places = append(places, func() { v[i] = sorts[random.IntN(len(sorts))] })
				visit(v[i])
			}
		}
	}
	visit(v)
	places[random.IntN(len(places))]()
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

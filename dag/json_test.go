package dag_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/dag"
)

func TestAttributesAreValidatedInTwoStepsBothWays(t *testing.T) {
	tests := []struct {
		name  string
		json  string
		attrs dag.Attributes
		want  error  // nil: both ways agree
		text  string // of the error when reading
	}{
		{"sequential", `{"edgeType":"sequential","dataFlow":false}`, sequential, nil, ""},
		{"data", `{"edgeType":"data","dataFlow":true}`, dag.Attributes{Type: dag.Data, DataFlow: true}, nil, ""},
		{"conditional", `{"edgeType":"conditional","condition":"x > 1","dataFlow":false}`, when("x > 1"), nil, ""},
		{"negated", `{"edgeType":"conditional","condition":"x","negated":true,"dataFlow":false}`, when("!x"), nil, ""},
		{"nested guards", `{"edgeType":"conditional","guards":[{"condition":"x"},{"condition":"y","negated":true}],"dataFlow":false}`,
			when("x", "!y"), nil, ""},
		{"triggered", `{"edgeType":"triggered"}`, triggered, nil, ""},
		{"depends_on", `{"edgeType":"depends_on"}`, dependsOn, nil, ""},

		{"type missing", `{"dataFlow":false}`, dag.Attributes{}, dag.ErrEdgeType, "edgeType: dag: bad edge type: missing"},
		{"type missing counts before the rest", `{"nonsense":1}`, dag.Attributes{Guards: []dag.Guard{{}}}, dag.ErrEdgeType, "missing"},
		{"type unknown", `{"edgeType":"sequentiel"}`, dag.Attributes{Type: 99}, dag.ErrEdgeType, `"sequentiel" is none of ["sequential"`},
		{"condition on a sequential edge", `{"edgeType":"sequential","condition":"x","dataFlow":false}`,
			dag.Attributes{Type: dag.Sequential, Guards: when("x").Guards}, dag.ErrAttributes, "condition: dag: bad edge attributes: sequential edge"},
		{"conditional without a condition", `{"edgeType":"conditional","dataFlow":false}`, when(), dag.ErrAttributes, "needs a condition"},
		{"empty condition", `{"edgeType":"conditional","condition":"","dataFlow":false}`, when(""), dag.ErrAttributes, "condition: "},
		{"empty nested condition", `{"edgeType":"conditional","guards":[{"condition":"x"},{"condition":""}],"dataFlow":false}`,
			when("x", ""), dag.ErrAttributes, "guards[1].condition: "},
		{"data edge without data flow", `{"edgeType":"data","dataFlow":false}`, dag.Attributes{Type: dag.Data}, dag.ErrAttributes, "dataFlow: "},
		{"data flow between calls", `{"edgeType":"triggered","dataFlow":true}`,
			dag.Attributes{Type: dag.Triggered, DataFlow: true}, dag.ErrAttributes, "dataFlow: "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			encoded, errOut := json.Marshal(test.attrs)
			var decoded dag.Attributes
			errIn := json.Unmarshal([]byte(" "+test.json+" "), &decoded)
			if test.want == nil {
				require.NoError(t, errors.Join(errOut, errIn))
				require.JSONEq(t, test.json, string(encoded))
				require.Equal(t, test.attrs, decoded)
				return
			}
			require.ErrorIs(t, errOut, test.want)
			require.ErrorIs(t, errIn, test.want)
			require.ErrorContains(t, errIn, test.text)
			var field *dag.FieldError
			require.ErrorAs(t, errIn, &field)
		})
	}
	require.ErrorContains(t, when("\xff").Check(), "not valid UTF-8", "JSON cannot say this, Go can")
}

func TestParseSaysWhichFieldIsWrong(t *testing.T) {
	const nodes = `"nodes":[{"key":"a"},{"key":"b"}]`
	edges := func(edges string) string { return `{"kind":"template",` + nodes + `,"edges":[` + edges + `]}` }
	const attrs = `"attributes":{"edgeType":"sequential","dataFlow":false}`
	tests := []struct {
		name, data string
		want       error
		text       string
	}{
		{"no JSON", `{"kind":]`, nil, "at byte 9"},
		{"something behind it", edges("") + "]", nil, "at byte"},
		{"cut off", `{"kind":"call"`, nil, "unexpected end"},
		{"not UTF-8", "\"\xff\"", dag.ErrFormat, "not valid UTF-8"},
		{"not an object", `[]`, dag.ErrFormat, "not an object"},
		{"unknown field", `{"kind":"call","nodes":[],"edges":[],"more":1}`, dag.ErrFormat, "more: "},
		{"field twice", `{"kind":"call","kind":"call"}`, dag.ErrFormat, "kind: dag: not the JSON form of a graph: given twice"},
		{"field twice, once with an escape", `{"kind":"call","k\u0069nd":"call"}`, dag.ErrFormat, "given twice"},
		{"too many fields", `{` + manyFields(17) + `}`, dag.ErrFormat, "more than 16 fields"},
		{"kind missing", `{"nodes":[],"edges":[]}`, dag.ErrFormat, "kind: "},
		{"kind unknown", `{"kind":"tree","nodes":[],"edges":[]}`, dag.ErrFormat, `"tree" is none of ["template" "call"]`},
		{"nodes missing", `{"kind":"call","edges":[]}`, dag.ErrFormat, "nodes: dag: not the JSON form of a graph: missing"},
		{"edges not an array", `{"kind":"call","nodes":[],"edges":{}}`, dag.ErrFormat, "edges: dag: not the JSON form of a graph: not an array"},
		{"node not an object", `{"kind":"call","nodes":[1],"edges":[]}`, dag.ErrFormat, "nodes[0]: "},
		{"node with an unknown field", `{"kind":"call","nodes":[{"Key":"a"}],"edges":[]}`, dag.ErrFormat, "nodes[0].Key: "},
		{"node without a key", `{"kind":"call","nodes":[{}],"edges":[]}`, dag.ErrFormat, "nodes[0].key: "},
		{"key not a string", `{"kind":"call","nodes":[{"key":1}],"edges":[]}`, dag.ErrFormat, "nodes[0].key: dag: not the JSON form of a graph: not a string"},
		{"empty key", `{"kind":"call","nodes":[{"key":""}],"edges":[]}`, dag.ErrKey, "nodes[0].key: "},
		{"key taken", `{"kind":"call","nodes":[{"key":"a"},{"key":"a"}],"edges":[]}`, dag.ErrDuplicateNode, "nodes[1].key: "},
		{"attributes that are not read", `{"kind":"call","nodes":[{"key":"a","attributes":{}}],"edges":[]}`, dag.ErrFormat, "nodes[0].attributes: "},
		{"edge with an unknown field", edges(`{"from":"a"}`), dag.ErrFormat, "edges[0].from: "},
		{"edge without a source", edges(`{"target":"b",` + attrs + `}`), dag.ErrFormat, "edges[0].source: "},
		{"edge to nowhere", edges(`{"source":"a","target":"z",` + attrs + `}`), dag.ErrUnknownNode, `edges[0].target: dag: unknown node: "z"`},
		{"edge without attributes", edges(`{"source":"a","target":"b"}`), dag.ErrFormat, "edges[0].attributes: "},
		{"attributes not an object", edges(`{"source":"a","target":"b","attributes":[]}`), dag.ErrFormat, "edges[0].attributes: "},
		{"no edge type", edges(`{"source":"a","target":"b","attributes":{}}`), dag.ErrEdgeType, "edges[0].attributes.edgeType: "},
		{"edge type not a string", edges(`{"source":"a","target":"b","attributes":{"edgeType":1}}`), dag.ErrFormat, "edges[0].attributes.edgeType: "},
		{"edge type of another kind", edges(`{"source":"a","target":"b","attributes":{"edgeType":"triggered"}}`), dag.ErrEdgeType,
			"edges[0].attributes.edgeType: dag: bad edge type: a template graph has no triggered edges"},
		{"no dataFlow", edges(`{"source":"a","target":"b","attributes":{"edgeType":"sequential"}}`), dag.ErrFormat, "edges[0].attributes.dataFlow: "},
		{"dataFlow not a flag", edges(`{"source":"a","target":"b","attributes":{"edgeType":"sequential","dataFlow":"yes"}}`), dag.ErrFormat, "neither true nor false"},
		{"negated alone", edges(`{"source":"a","target":"b","attributes":{"edgeType":"conditional","negated":true,"dataFlow":false}}`),
			dag.ErrFormat, "edges[0].attributes.condition: "},
		{"two forms of guards", edges(`{"source":"a","target":"b","attributes":{"edgeType":"conditional","condition":"x","guards":[],"dataFlow":false}}`),
			dag.ErrAttributes, "edges[0].attributes.guards: "},
		{"guards not an array", edges(`{"source":"a","target":"b","attributes":{"edgeType":"conditional","guards":1,"dataFlow":false}}`),
			dag.ErrFormat, "edges[0].attributes.guards: "},
		{"guard with an unknown field", edges(`{"source":"a","target":"b","attributes":{"edgeType":"conditional","guards":[{"if":"x"}],"dataFlow":false}}`),
			dag.ErrFormat, "edges[0].attributes.guards[0].if: "},
		{"key of another edge", edges(`{"key":"b->a","source":"a","target":"b",` + attrs + `}`), dag.ErrFormat,
			`edges[0].key: dag: not the JSON form of a graph: "b->a", but this edge is "a->b"`},
		{"edge key not a string", edges(`{"key":null,"source":"a","target":"b",` + attrs + `}`), dag.ErrFormat, "edges[0].key: "},
		{"edge twice", edges(strings.Repeat(`{"source":"a","target":"b",`+attrs+`},`, 2) + `{"source":"b","target":"b",` + attrs + `}`),
			dag.ErrDuplicateEdge, "edge a->b: dag: duplicate edge: given twice"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g, err := dag.Parse([]byte(test.data), nil)
			require.Nil(t, g)
			require.ErrorContains(t, err, test.text)
			if test.want != nil {
				require.ErrorIs(t, err, test.want)
			}
		})
	}
}

func manyFields(n int) string {
	var fields []string
	for i := range n {
		fields = append(fields, fmt.Sprintf(`"f%d":0`, i))
	}
	return strings.Join(fields, ",")
}

func TestParseReportsEveryWrongElement(t *testing.T) {
	_, err := dag.Parse([]byte(`{"kind":"call","nodes":[{"key":""},{"key":"a"}],"edges":[{"source":"a"},{"source":"x"}]}`), nil)
	for _, path := range []string{"nodes[0].key", "edges[0].target", "edges[1].source"} {
		require.ErrorContains(t, err, path)
	}
}

func TestNodeAttributesTravelThroughJSON(t *testing.T) {
	g := chain(t, "a b c", "a-b", "b-c")
	type status struct {
		Status string `json:"status"`
	}
	var buf bytes.Buffer
	require.NoError(t, g.WriteJSON(&buf, func(id int32) any {
		if id == 1 {
			return nil
		}
		return status{fmt.Sprintf("s%d -> \"x\"", id)}
	}))
	got := map[int32]string{}
	again, err := dag.Parse(buf.Bytes(), func(id int32, object []byte) error {
		var s status
		defer func() { got[id] = s.Status }()
		return json.Unmarshal(object, &s)
	})
	require.NoError(t, err)
	requireSame(t, g, again)
	require.Equal(t, map[int32]string{0: `s0 -> "x"`, 2: `s2 -> "x"`}, got)

	stop := errors.New("stop")
	_, err = dag.Parse(buf.Bytes(), func(int32, []byte) error { return stop })
	require.ErrorIs(t, err, stop)
	require.ErrorContains(t, err, "nodes[2].attributes")
	_, err = dag.Parse([]byte(`{"kind":"call","nodes":[{"key":"a","attributes":7}],"edges":[]}`), func(int32, []byte) error { return nil })
	require.ErrorContains(t, err, "nodes[0].attributes: dag: not the JSON form of a graph: not an object")
	require.ErrorContains(t, g.WriteJSON(&buf, func(int32) any { return 7 }), `attributes of node "a": int is not a JSON object`)
	require.ErrorContains(t, g.WriteJSON(&buf, func(int32) any { return func() {} }), `attributes of node "a"`)
}

func TestJSONIsTheSameWhateverTheOrderOfEdges(t *testing.T) {
	first, err := json.Marshal(chain(t, "a b c", "a-b", "b-c", "a-c"))
	require.NoError(t, err)
	second, err := json.Marshal(chain(t, "a b c", "a-c", "b-c", "a-b"))
	require.NoError(t, err)
	require.Equal(t, string(first), string(second))
}

func TestStrangeTextSurvivesJSON(t *testing.T) {
	strange := "quote\" slash\\ tab\t zero\x00 del\x7f <&> é \u2028 😀"
	b := dag.NewBuilder(dag.TemplateGraph)
	b.AddEdge(b.AddNode(strange), b.AddNode("b"), when(strange))
	g, err := b.Build()
	require.NoError(t, err)
	var buf bytes.Buffer
	require.NoError(t, g.WriteJSON(&buf, nil))
	requireSame(t, g, parse(t, buf.Bytes()))
}

func TestWritersReportTheErrorOfWhatTheyWriteTo(t *testing.T) {
	g := chain(t, "a b", "a-b")
	require.ErrorIs(t, g.WriteJSON(brokenWriter{}, nil), errBroken)
	require.ErrorIs(t, g.WriteDOT(brokenWriter{}, dag.Drawing{}), errBroken)
	require.ErrorIs(t, g.WriteMermaid(brokenWriter{}, dag.Drawing{}), errBroken)
}

var errBroken = errors.New("broken")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

// FuzzParse checks that an accepted document is a valid graph, and that Parse accepts its encoding and returns an equal graph.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"kind":"call","nodes":[{"key":"a"},{"key":"b","attributes":{"n":[1,"]"]}}],` +
		`"edges":[{"key":"a->b:depends_on","source":"a","target":"b","attributes":{"edgeType":"depends_on"}}]}`))
	f.Add([]byte(`{"edges":[{"target":"a","source":"a\u002d>","attributes":{"guards":[{"condition":"x"},{"negated":true,"condition":"\"]"}],` +
		`"edgeType":"conditional","dataFlow":true}}],"nodes":[{"key":"a"},{"key":"a->"}],"kind":"template"}`))
	f.Add([]byte(`{"kind":"template","nodes":[],"edges":[]}`))
	f.Add([]byte(`{"kind":"template","nodes":[{"key":"\ud800"}],"edges":[{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := dag.Parse(data, func(_ int32, object []byte) error {
			if !json.Valid(object) || object[0] != '{' {
				t.Fatalf("attributes %q", object)
			}
			return nil
		})
		if err != nil {
			require.Nil(t, g)
			return
		}
		require.NoError(t, g.Check())
		var first, second bytes.Buffer
		require.NoError(t, g.WriteJSON(&first, nil))
		again := parse(t, first.Bytes())
		requireSame(t, g, again)
		require.NoError(t, again.WriteJSON(&second, nil))
		require.Equal(t, first.String(), second.String())
		for e := range g.Edges() {
			found, ok := g.EdgeByKey(g.EdgeKey(e))
			require.True(t, ok && found.From == e.From && found.To == e.To && found.Attrs.Type == e.Attrs.Type)
		}
	})
}

// FuzzBuild reads bytes as a program: each instruction is two nodes and a type. Every program builds a valid graph.
func FuzzBuild(f *testing.F) {
	f.Add([]byte{3, 0, 1, 0, 1, 2, 1, 2, 0, 2})
	f.Add([]byte{1, 0, 0, 0})
	f.Add([]byte{200, 5, 4, 0, 4, 3, 0, 3, 5, 1})
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) == 0 {
			return
		}
		n := int(program[0]) + 1
		b := dag.NewBuilder(dag.TemplateGraph)
		for i := range n {
			b.AddNode(fmt.Sprint(i))
		}
		attrs := []dag.Attributes{sequential, when("x"), {Type: dag.Data, DataFlow: true}}
		for in := range slices.Chunk(program[1:], 3) {
			if len(in) == 3 {
				b.AddEdge(int32(int(in[0])%n), int32(int(in[1])%n), attrs[int(in[2])%len(attrs)])
			}
		}
		g, err := b.Build()
		require.NoError(t, err)
		require.NoError(t, g.Check())
		require.Equal(t, g.CheckAcyclic() != nil, len(g.Cycles()) > 0)
	})
}

func BenchmarkJSON(b *testing.B) {
	g := layered(100_000, false)
	var buf bytes.Buffer
	if err := g.WriteJSON(&buf, nil); err != nil {
		b.Fatal(err)
	}
	requireSame(b, g, parse(b, buf.Bytes()))
	b.Run("write", func(b *testing.B) {
		b.SetBytes(int64(buf.Len()))
		b.ReportAllocs()
		for b.Loop() {
			buf.Reset()
			if err := g.WriteJSON(&buf, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parse", func(b *testing.B) {
		b.SetBytes(int64(buf.Len()))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := dag.Parse(buf.Bytes(), nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

package dag_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/dag"
)

var (
	triggered = dag.Attributes{Type: dag.Triggered}
	dependsOn = dag.Attributes{Type: dag.DependsOn}
)

// when returns a conditional edge under the conditions; one that starts with "!" is negated.
func when(conditions ...string) dag.Attributes {
	a := dag.Attributes{Type: dag.Conditional}
	for _, condition := range conditions {
		text, negated := strings.CutPrefix(condition, "!")
		a.Guards = append(a.Guards, dag.Guard{Condition: text, Negated: negated})
	}
	return a
}

// chain builds a template graph from "a b c" (nodes) and "a-b" (sequential edges), in that order.
func chain(t require.TestingT, nodes string, edges ...string) *dag.Graph {
	b := dag.NewBuilder(dag.TemplateGraph)
	for key := range strings.FieldsSeq(nodes) {
		b.AddNode(key)
	}
	for _, edge := range edges {
		source, target, _ := strings.Cut(edge, "-")
		from, okFrom := b.Node(source)
		to, okTo := b.Node(target)
		require.True(t, okFrom && okTo, edge)
		b.AddEdge(from, to, sequential)
	}
	g, err := b.Build()
	require.NoError(t, err)
	require.NoError(t, g.Check())
	return g
}

func keys(g *dag.Graph, ids []int32) string {
	var text []string
	for _, id := range ids {
		text = append(text, g.Key(id))
	}
	return strings.Join(text, " ")
}

func TestBuildReportsWhatWasAddedWrongly(t *testing.T) {
	tests := []struct {
		name string
		kind dag.Kind
		add  func(b *dag.Builder)
		want error
		text string
	}{
		{"empty key", dag.TemplateGraph, func(b *dag.Builder) { b.AddNode("") }, dag.ErrKey, "empty"},
		{"key that is not UTF-8", dag.TemplateGraph, func(b *dag.Builder) { b.AddNode("\xff") }, dag.ErrKey, `"\xff"`},
		{"key too long", dag.TemplateGraph, func(b *dag.Builder) { b.AddNode(strings.Repeat("k", dag.KeyBytesMax+1)) },
			dag.ErrKey, "has 65536 bytes"},
		{"key taken", dag.TemplateGraph, func(b *dag.Builder) { b.AddNode("a") }, dag.ErrDuplicateNode, `"a"`},
		{"edge to a node that is not there", dag.TemplateGraph, func(b *dag.Builder) { b.AddEdge(0, 2, sequential) },
			dag.ErrUnknownNode, "edge a->(node 2): dag: unknown node: id 2"},
		{"edge from a node that is not there", dag.TemplateGraph, func(b *dag.Builder) { b.AddEdge(-2, 0, sequential) },
			dag.ErrUnknownNode, "id -2"},
		{"edge without a type", dag.TemplateGraph, func(b *dag.Builder) { b.AddEdge(0, 1, dag.Attributes{}) },
			dag.ErrEdgeType, "edge a->b: edgeType: dag: bad edge type: missing"},
		{"edge of an unknown type", dag.TemplateGraph, func(b *dag.Builder) { b.AddEdge(0, 1, dag.Attributes{Type: 77}) },
			dag.ErrEdgeType, "edge type(77)"},
		{"edge of another kind of graph", dag.CallGraph, func(b *dag.Builder) { b.AddEdge(0, 1, sequential) },
			dag.ErrEdgeType, "a call graph has no sequential edges"},
		{"attributes the type has not", dag.TemplateGraph, func(b *dag.Builder) { b.AddEdge(0, 1, when()) },
			dag.ErrAttributes, "edge a->b:conditional: condition: dag: bad edge attributes: conditional edge needs a condition"},
		{"same edge with another flag", dag.TemplateGraph, func(b *dag.Builder) {
			b.AddEdge(0, 1, sequential)
			b.AddEdge(0, 1, dag.Attributes{Type: dag.Sequential, DataFlow: true})
		}, dag.ErrDuplicateEdge, "edge a->b: dag: duplicate edge"},
		{"same edge with other guards", dag.TemplateGraph, func(b *dag.Builder) {
			b.AddEdge(0, 1, when("x"))
			b.AddEdge(0, 1, when("!x"))
		}, dag.ErrDuplicateEdge, "edge a->b:conditional"},
		{"too many nodes", dag.TemplateGraph, func(b *dag.Builder) { b.SetLimits(2, 9, 99); b.AddNode("c") },
			dag.ErrTooLarge, "more than 2 nodes"},
		{"too many bytes of keys", dag.TemplateGraph, func(b *dag.Builder) { b.SetLimits(9, 9, 4); b.AddNode("ccc") },
			dag.ErrTooLarge, "more than 4 bytes of keys"},
		{"too many edges", dag.TemplateGraph, func(b *dag.Builder) { b.SetLimits(9, 0, 99); b.AddEdge(0, 1, sequential) },
			dag.ErrTooLarge, "more than 0 edges"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := dag.NewBuilder(test.kind)
			b.AddNode("a")
			b.AddNode("b")
			test.add(b)
			g, err := b.Build()
			require.Nil(t, g)
			require.ErrorIs(t, err, test.want)
			require.ErrorContains(t, err, test.text)
		})
	}
}

func TestBuildReportsEverythingAtOnceUpToALimit(t *testing.T) {
	b := dag.NewBuilder(dag.TemplateGraph)
	b.AddNode("")
	a := b.AddNode("a")
	require.Equal(t, a, b.AddNode("a"), "AddNode returns the node of a taken key")
	b.AddEdge(a, a, dag.Attributes{})
	_, err := b.Build()
	require.ErrorIs(t, err, dag.ErrKey)
	require.ErrorIs(t, err, dag.ErrDuplicateNode)
	require.ErrorIs(t, err, dag.ErrEdgeType)

	for range 100 {
		b.AddNode("")
	}
	_, err = b.Build()
	require.Equal(t, 65, strings.Count(err.Error(), "\n")+1)
	require.ErrorContains(t, err, "and 36 more")
}

func TestEdgesOfARefusedNodeAreNotReportedAgain(t *testing.T) {
	b := dag.NewBuilder(dag.TemplateGraph)
	bad, good := b.AddNode(""), b.AddNode("a")
	require.Equal(t, int32(-1), bad)
	b.AddEdge(bad, good, sequential)
	b.AddEdge(good, bad, sequential)
	_, err := b.Build()
	require.EqualError(t, err, "dag: bad node key: empty")
}

func TestAddingAnEdgeAgainChangesNothing(t *testing.T) {
	b := dag.NewBuilder(dag.TemplateGraph)
	from, to := b.AddNode("a"), b.AddNode("b")
	for range 3 {
		b.AddEdge(from, to, when("x", "!y"))
		b.AddEdge(from, to, sequential)
	}
	g, err := b.Build()
	require.NoError(t, err)
	require.Equal(t, 2, g.EdgeCount())
}

func TestBuilderIsEmptyAfterBuild(t *testing.T) {
	b := dag.NewBuilder(dag.CallGraph)
	b.AddEdge(b.AddNode("a"), b.AddNode("b"), triggered)
	first, err := b.Build()
	require.NoError(t, err)
	require.Equal(t, int32(0), b.AddNode("z"))
	second, err := b.Build()
	require.NoError(t, err)
	require.Equal(t, 1, second.NodeCount())
	require.Equal(t, dag.CallGraph, second.Kind())
	require.Equal(t, 2, first.NodeCount())
	require.True(t, first.Has("a") && !first.Has("z"))
}

func TestGraphKeepsNothingOfTheCaller(t *testing.T) {
	b := dag.NewBuilder(dag.TemplateGraph)
	attrs := when("x")
	b.AddEdge(b.AddNode("a"), b.AddNode("b"), attrs)
	attrs.Guards[0].Condition = "changed"
	g, err := b.Build()
	require.NoError(t, err)
	require.Equal(t, []dag.Edge{{From: 0, To: 1, Attrs: when("x")}}, slices.Collect(g.Edges()))
}

func TestNewBuilderRefusesAnUnknownKind(t *testing.T) {
	require.PanicsWithValue(t, "dag: NewBuilder of unknown kind(0)", func() { dag.NewBuilder(0) })
}

func TestGrowChangesNothingButRoom(t *testing.T) {
	for _, nodes := range []int{0, 1, 7, 1000} {
		b := dag.NewBuilder(dag.TemplateGraph)
		b.AddNode("first")
		b.Grow(nodes, nodes)
		for i := range 500 {
			b.AddEdge(0, b.AddNode(fmt.Sprint("node ", i)), sequential)
		}
		g, err := b.Build()
		require.NoError(t, err)
		require.NoError(t, g.Check())
		require.Equal(t, 501, g.NodeCount())
		require.Equal(t, 500, g.OutDegree(0))
	}
}

func TestAGraphWithoutNodesCanBeRead(t *testing.T) {
	g := chain(t, "")
	require.False(t, g.Has("a"))
	require.NoError(t, g.CheckAcyclic())
	require.Empty(t, slices.Collect(g.Order()))
	require.Empty(t, slices.Collect(g.Edges()))
	require.Zero(t, g.RankCount())
	require.NoError(t, parse(t, []byte(`{"kind":"call","nodes":[],"edges":[]}`)).Check())
}

func TestNamesOfKindsAndTypes(t *testing.T) {
	require.Equal(t, "template call kind(9)", fmt.Sprint(dag.TemplateGraph, dag.CallGraph, dag.Kind(9)))
	require.Equal(t, dag.Sequential, dag.TemplateGraph.Primary())
	require.Equal(t, dag.Triggered, dag.CallGraph.Primary())
	require.Equal(t, dag.Kind(0), dag.EdgeType(0).Kind())
	for kind, types := range typesOf {
		for _, typ := range types {
			require.Equal(t, kind, typ.Kind(), typ)
		}
	}
}

package dag_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/dag"
)

func TestOrderBreaksTiesByInsertion(t *testing.T) {
	tests := []struct {
		name, nodes, edges, want string
	}{
		{"no edges", "c a b", "", "c a b"},
		{"insertion order is topological", "a b c d", "a-b a-c b-d c-d", "a b c d"},
		{"one edge points back", "a b c d", "c-b", "a c b d"},
		{"a node freed early goes before later roots", "z b c a", "a-z c-b", "c b a z"},
		{"chain inserted backwards", "d c b a", "a-b b-c c-d", "a b c d"},
		{"self loop has no place", "a b", "a-a", "b"},
		{"behind a cycle there is no place", "a b c d", "a-b b-a b-c", "d"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g := chain(t, test.nodes, strings.Fields(test.edges)...)
			require.Equal(t, test.want, keys(g, slices.Collect(g.Order())))
		})
	}
}

func TestRankIsTheLongestPathFromARoot(t *testing.T) {
	for name, nodes := range map[string]string{"forward": "a b c d e", "backward": "e d c b a"} {
		t.Run(name, func(t *testing.T) {
			g := chain(t, nodes, "a-b", "b-c", "a-c", "c-d", "a-d")
			var ranks []int32
			for key := range strings.FieldsSeq("a b c d e") {
				id, _ := g.Node(key)
				ranks = append(ranks, g.Rank(id))
			}
			require.Equal(t, []int32{0, 1, 2, 3, 0}, ranks)
			require.Equal(t, 4, g.RankCount())
		})
	}
}

func TestCyclesGivesOneReadableWitnessAComponent(t *testing.T) {
	tests := []struct {
		name, nodes, edges, want string
	}{
		{"none", "a b", "a-b", ""},
		{"two nodes", "a b", "a-b b-a", "cycle: a -> b -> a"},
		{"itself", "a", "a-a", "cycle: a -> a"},
		{"starts at the node inserted first", "x c a b", "a-b b-c c-a x-a", "cycle: c -> a -> b -> c"},
		{"the shortest through that node", "a b c d", "a-b b-c c-d d-a c-a b-b", "cycle: a -> b -> c -> a"},
		{"two components, one behind the other", "a b c d", "a-b b-a b-c c-d d-c", "cycle: a -> b -> a\ncycle: c -> d -> c"},
		{"two cycles in one component", "a b c", "a-b b-a b-c c-b", "cycle: a -> b -> a"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g := chain(t, test.nodes, strings.Fields(test.edges)...)
			err := g.CheckAcyclic()
			if test.want == "" {
				require.NoError(t, err)
				require.Nil(t, g.Cycles())
				return
			}
			require.EqualError(t, err, test.want)
			var cycles *dag.CycleError
			require.ErrorAs(t, err, &cycles)
			require.Len(t, cycles.Cycles, len(g.Cycles()))
		})
	}
}

// The search must not recurse: the stack would grow with the depth of the graph.
func TestACycleThroughAllNodesIsFound(t *testing.T) {
	const n = 100_000
	b := dag.NewBuilder(dag.TemplateGraph)
	b.Grow(n, n)
	key := make([]byte, 3)
	for i := range n {
		key[0], key[1], key[2] = byte(i%100)+1, byte(i/100%100)+1, byte(i/10_000)+1
		b.AddNode(string(key))
	}
	for i := range int32(n) {
		b.AddEdge(i, (i+1)%n, sequential)
	}
	g, err := b.Build()
	require.NoError(t, err)
	cycles := g.Cycles()
	require.Len(t, cycles, 1)
	require.Len(t, cycles[0], n)
}

func TestEdgesOfSeveralTypesJoinTwoNodes(t *testing.T) {
	b := dag.NewBuilder(dag.CallGraph)
	parent, child := b.AddNode("p"), b.AddNode("c")
	b.AddEdge(parent, child, dependsOn)
	b.AddEdge(parent, child, triggered)
	g, err := b.Build()
	require.NoError(t, err)
	require.Equal(t, 2, g.OutDegree(parent))
	require.Equal(t, []int32{child}, slices.Collect(g.Out(parent)), "a neighbour once")
	var names []string
	for e := range g.Edges() {
		names = append(names, g.EdgeKey(e))
	}
	require.Equal(t, []string{"p->c", "p->c:depends_on"}, names)
}

func TestEdgeKeysQuoteWhatWouldBeMisread(t *testing.T) {
	tests := []struct{ source, target, want string }{
		{"a", "b", "a->b:data"},
		{"ns:a", "ns:b", "ns:a->ns:b:data"},
		{"a->b", "c", `"a->b"->c:data`},
		{"a", "b->c", "a->b->c:data"},
		{"a-", ">b", "a-->>b:data"},
		{"a", "b:data", `a->"b:data":data`},
		{"a", "b:triggered", `a->"b:triggered":data`},
		{`"a"`, `"b`, `"\"a\""->"\"b":data`},
	}
	for _, test := range tests {
		t.Run(test.want, func(t *testing.T) {
			b := dag.NewBuilder(dag.TemplateGraph)
			b.AddEdge(b.AddNode(test.source), b.AddNode(test.target), dag.Attributes{Type: dag.Data, DataFlow: true})
			g, err := b.Build()
			require.NoError(t, err)
			e, ok := g.EdgeByKey(test.want)
			require.True(t, ok)
			require.Equal(t, test.want, g.EdgeKey(e))
		})
	}
}

func TestEdgeByKeyRefusesWhatIsNoKey(t *testing.T) {
	g := chain(t, "a b", "a-b")
	for _, key := range []string{"", "a", "a->", "->b", "a->b:data", "a->b:nonsense", "a->b:sequential", "b->a", `"a"->b`,
		`a->"b"`, `"a`, `"a"b->b`, `a->"b`, "a->c", `"\q"->b`} {
		_, ok := g.EdgeByKey(key)
		require.False(t, ok, key)
	}
	_, ok := g.EdgeByKey("a->b")
	require.True(t, ok)
}

func TestLineageEndsOnCallsThatMadeEachOther(t *testing.T) {
	b := dag.NewBuilder(dag.CallGraph)
	p, q, v := b.AddNode("p"), b.AddNode("q"), b.AddNode("v")
	b.AddEdge(p, q, triggered)
	b.AddEdge(q, p, triggered)
	b.AddEdge(p, v, triggered)
	g, err := b.Build()
	require.NoError(t, err)
	require.Equal(t, "p q", keys(g, slices.Collect(g.Lineage(v))))
	require.Equal(t, "q", keys(g, slices.Collect(g.Lineage(p))))
}

func TestIteratorsStopWhenTheLoopDoes(t *testing.T) {
	b := dag.NewBuilder(dag.CallGraph)
	for _, key := range []string{"a", "b", "c", "d"} {
		b.AddNode(key)
	}
	for _, e := range [][2]int32{{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 3}} {
		b.AddEdge(e[0], e[1], triggered)
	}
	g, err := b.Build()
	require.NoError(t, err)
	none := func(int32) bool { return false }
	for name, seq := range map[string]iter.Seq[int32]{
		"order": g.Order(), "roots": g.Filter(func(int32) bool { return true }), "out": g.Out(0), "in": g.In(3),
		"descendants": g.Descendants(0), "ancestors": g.Ancestors(3), "children": g.Children(0), "lineage": g.Lineage(3),
	} {
		require.Equal(t, 1, firstOf(seq), name)
	}
	for name, seq := range map[string]iter.Seq[dag.Edge]{
		"edges": g.Edges(), "out edges": g.OutEdges(0), "in edges": g.InEdges(3), "bypass": g.Bypass(none),
	} {
		require.Equal(t, 1, firstOf(seq), name)
	}
	count := 0
	for range g.Nodes() {
		count++
		break
	}
	require.Equal(t, 1, count)
}

func firstOf[T any](seq iter.Seq[T]) (count int) {
	for range seq {
		count++
		break
	}
	return count
}

func TestBypassExpandsAJoinLazily(t *testing.T) {
	const wide = 300
	b := dag.NewBuilder(dag.TemplateGraph)
	join := b.AddNode("join")
	for i := range int32(2 * wide) {
		v := b.AddNode(strings.Repeat("n", int(i)+1))
		if i < wide {
			b.AddEdge(v, join, sequential)
		} else {
			b.AddEdge(join, v, when("x"))
		}
	}
	g, err := b.Build()
	require.NoError(t, err)
	count := 0
	for e := range g.Bypass(func(v int32) bool { return v == join }) {
		require.Equal(t, when("x"), e.Attrs, "the edges into the step count")
		count++
	}
	require.Equal(t, wide*wide, count)
}

func TestBypassPrefersTheDirectEdgeThenTheFirstHiddenNode(t *testing.T) {
	b := dag.NewBuilder(dag.TemplateGraph)
	first, second, from, to := b.AddNode("h1"), b.AddNode("h2"), b.AddNode("from"), b.AddNode("to")
	for _, hidden := range []int32{second, first} {
		b.AddEdge(from, hidden, sequential)
		b.AddEdge(hidden, to, when(fmt.Sprint("way ", hidden)))
	}
	hidden := func(v int32) bool { return v <= second }
	indirect, err := b.Build()
	require.NoError(t, err)
	require.Equal(t, []dag.Edge{{From: from, To: to, Attrs: when("way 0")}}, slices.Collect(indirect.Bypass(hidden)))

	for _, key := range []string{"h1", "h2", "from", "to"} {
		b.AddNode(key)
	}
	for e := range indirect.Edges() {
		b.AddEdge(e.From, e.To, e.Attrs)
	}
	b.AddEdge(from, to, when("direct"))
	direct, err := b.Build()
	require.NoError(t, err)
	require.Equal(t, []dag.Edge{{From: from, To: to, Attrs: when("direct")}}, slices.Collect(direct.Bypass(hidden)))
}

package dominikbraun_test

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"testing"

	"github.com/dominikbraun/graph"
	"github.com/dominikbraun/graph/draw"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/dag"
	"github.com/sluiceflow/sluice/dag/dominikbraun"
)

// build makes a graph of the nodes "0" to "n-1" and the given edges.
func build(t require.TestingT, n int, edges ...[2]int32) *dag.Graph {
	b := dag.NewBuilder(dag.TemplateGraph)
	for i := range n {
		b.AddNode(fmt.Sprint(i))
	}
	for _, e := range edges {
		b.AddEdge(e[0], e[1], dag.Attributes{Type: dag.Sequential})
	}
	g, err := b.Build()
	require.NoError(t, err)
	return g
}

var diamond = [][2]int32{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {0, 3}, {3, 4}}

func TestAlgorithmsOfTheLibraryRunOnTheGraph(t *testing.T) {
	h := dominikbraun.New(build(t, 5, diamond...))
	require.True(t, h.Traits().IsDirected && h.Traits().IsAcyclic)

	order, err := h.Order()
	require.NoError(t, err)
	size, err := h.Size()
	require.NoError(t, err)
	require.Equal(t, []int{5, 6}, []int{order, size})

	path, err := graph.ShortestPath(h, "0", "4")
	require.NoError(t, err)
	require.Equal(t, []dominikbraun.Key{"0", "3", "4"}, path)

	paths, err := graph.AllPathsBetween(h, "0", "3")
	require.NoError(t, err)
	require.Len(t, paths, 3)

	reduced, err := graph.TransitiveReduction(h)
	require.NoError(t, err)
	_, err = reduced.Edge("0", "3")
	require.ErrorIs(t, err, graph.ErrEdgeNotFound)
	_, err = reduced.Edge("3", "4")
	require.NoError(t, err)

	var seen []dominikbraun.Key
	require.NoError(t, graph.BFS(h, "1", func(k dominikbraun.Key) bool { seen = append(seen, k); return false }))
	require.Equal(t, []dominikbraun.Key{"1", "3", "4"}, seen)

	cycle, err := graph.CreatesCycle(h, "4", "0")
	require.NoError(t, err)
	require.True(t, cycle)
}

func TestOrderComponentsAndCycleQuestionsAgreeWithTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "nodes")
		id := rapid.Int32Range(0, int32(n-1))
		var edges [][2]int32
		for range rapid.IntRange(0, 2*n).Draw(t, "edges") {
			if from, to := id.Draw(t, "from"), id.Draw(t, "to"); from != to {
				edges = append(edges, [2]int32{from, to})
			}
		}
		g := build(t, n, edges...)
		h := dominikbraun.New(g)

		order, err := graph.StableTopologicalSort(h, func(a, b dominikbraun.Key) bool { return a < b })
		require.Equal(t, g.CheckAcyclic() == nil, err == nil)
		require.Equal(t, err == nil, h.Traits().IsAcyclic)
		if err == nil {
			position := map[dominikbraun.Key]int{}
			for i, key := range order {
				position[key] = i
			}
			for e := range g.Edges() {
				require.Less(t, position[dominikbraun.Key(g.Key(e.From))], position[dominikbraun.Key(g.Key(e.To))])
			}
		}
		components, err := graph.StronglyConnectedComponents(h)
		require.NoError(t, err)
		var cyclic, firsts []string
		for _, component := range components {
			if len(component) > 1 {
				cyclic = append(cyclic, string(slices.Min(component)))
			}
		}
		for _, cycle := range g.Cycles() {
			firsts = append(firsts, g.Key(cycle[0]))
		}
		slices.Sort(cyclic)
		require.Equal(t, firsts, cyclic)

		from, to := id.Draw(t, "question from"), id.Draw(t, "question to")
		cycle, err := graph.CreatesCycle(h, dominikbraun.Key(g.Key(from)), dominikbraun.Key(g.Key(to)))
		require.NoError(t, err)
		require.Equal(t, from == to || g.Reaches(to, from), cycle)
	})
}

func TestParallelEdgesAreOneWithAllOfThemAsData(t *testing.T) {
	b := dag.NewBuilder(dag.TemplateGraph)
	from, to := b.AddNode("a"), b.AddNode("b")
	b.AddEdge(from, to, dag.Attributes{Type: dag.Sequential})
	b.AddEdge(from, to, dag.Attributes{Type: dag.Conditional, Guards: []dag.Guard{{Condition: `x == "1"`}}})
	g, err := b.Build()
	require.NoError(t, err)
	h := dominikbraun.New(g)

	edges, err := h.Edges()
	require.NoError(t, err)
	require.Len(t, edges, 1)
	edge, err := h.Edge("a", "b")
	require.NoError(t, err)
	require.Equal(t, slices.Collect(g.Edges()), edge.Properties.Data)
	require.Equal(t, edges[0].Properties, edge.Properties)
	require.Equal(t, map[string]string{"label": `if x == \"1\"`}, edge.Properties.Attributes)
}

func TestWhatWouldChangeTheGraphIsRefused(t *testing.T) {
	h := dominikbraun.New(build(t, 3, [2]int32{0, 1}))
	require.ErrorIs(t, h.AddVertex("9"), dominikbraun.ErrReadOnly)
	require.ErrorIs(t, h.RemoveVertex("2"), dominikbraun.ErrReadOnly)
	require.ErrorIs(t, h.AddEdge("1", "2"), dominikbraun.ErrReadOnly)
	require.ErrorIs(t, h.UpdateEdge("0", "1", graph.EdgeAttribute("label", "x")), dominikbraun.ErrReadOnly)
	require.ErrorIs(t, h.RemoveEdge("0", "1"), dominikbraun.ErrReadOnly)

	edge, err := h.Edge("0", "1")
	require.NoError(t, err)
	require.Empty(t, edge.Properties.Attributes, "options write to a copy")
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	h := dominikbraun.New(build(t, 2, [2]int32{0, 1}))
	_, err := h.Vertex("2")
	require.ErrorIs(t, err, graph.ErrVertexNotFound)
	_, err = h.Edge("0", "2")
	require.ErrorIs(t, err, graph.ErrEdgeNotFound)
	_, err = h.Edge("1", "0")
	require.ErrorIs(t, err, graph.ErrEdgeNotFound)
	_, err = graph.CreatesCycle(h, "0", "2")
	require.ErrorIs(t, err, graph.ErrVertexNotFound)
}

func TestACloneCanBeChanged(t *testing.T) {
	clone, err := dominikbraun.New(build(t, 2, [2]int32{0, 1})).Clone()
	require.NoError(t, err)
	require.NoError(t, clone.AddVertex("new"))
	require.NoError(t, clone.AddEdge("1", "new"))
	path, err := graph.ShortestPath(clone, "0", "new")
	require.NoError(t, err)
	require.Equal(t, []dominikbraun.Key{"0", "1", "new"}, path)
}

func TestDOTOfTheLibraryShowsKeysWithQuotes(t *testing.T) {
	b := dag.NewBuilder(dag.TemplateGraph)
	b.AddEdge(b.AddNode(`say "hi"\`), b.AddNode("b"), dag.Attributes{Type: dag.Conditional, Guards: []dag.Guard{{Condition: `x == "1"`}}})
	g, err := b.Build()
	require.NoError(t, err)
	var buf bytes.Buffer
	require.NoError(t, draw.DOT(dominikbraun.New(g), &buf))
	require.Contains(t, buf.String(), `"say \"hi\"\\" [ label="say \"hi\"\\",`)
	require.Contains(t, buf.String(), `"say \"hi\"\\" -> "b" [ label="if x == \"1\"",`)

	dot, err := exec.LookPath("dot")
	if errors.Is(err, exec.ErrNotFound) {
		return
	}
	cmd := exec.Command(dot, "-Tcanon")
	cmd.Stdin = &buf
	require.NoError(t, cmd.Run())
}

func ExampleNew() {
	b := dag.NewBuilder(dag.TemplateGraph)
	split, left, right, join := b.AddNode("split"), b.AddNode("left"), b.AddNode("right"), b.AddNode("join")
	for _, e := range [][2]int32{{split, left}, {split, right}, {left, join}, {right, join}, {split, join}} {
		b.AddEdge(e[0], e[1], dag.Attributes{Type: dag.Sequential})
	}
	g, _ := b.Build()
	fmt.Println(graph.ShortestPath(dominikbraun.New(g), "split", "join"))
	// Output: [split join] <nil>
}

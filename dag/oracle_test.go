package dag_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/dag"
)

// naive is a graph as a list of edges. Every method visits all edges.
type naive struct {
	kind  dag.Kind
	keys  []string
	edges []dag.Edge // by (from, to, type), without duplicates
}

var (
	typesOf = map[dag.Kind][]dag.EdgeType{
		dag.TemplateGraph: {dag.Sequential, dag.Conditional, dag.Data},
		dag.CallGraph:     {dag.Triggered, dag.DependsOn},
	}
	conditions = []string{"a", "b > 1", `c == "x"`, "ä"}
)

func drawAttributes(t *rapid.T, kind dag.Kind) dag.Attributes {
	a := dag.Attributes{Type: rapid.SampledFrom(typesOf[kind]).Draw(t, "type")}
	switch a.Type {
	case dag.Conditional:
		a.Guards = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) dag.Guard {
			return dag.Guard{Condition: rapid.SampledFrom(conditions).Draw(t, "condition"), Negated: rapid.Bool().Draw(t, "negated")}
		}), 1, 3).Draw(t, "guards")
		a.DataFlow = rapid.Bool().Draw(t, "dataFlow")
	case dag.Data:
		a.DataFlow = true
	case dag.Sequential:
		a.DataFlow = rapid.Bool().Draw(t, "dataFlow")
	}
	return a
}

// drawGraph builds the same graph twice, once with edges in random order and once sorted.
func drawGraph(t *rapid.T) (*dag.Graph, *naive) {
	kind := rapid.SampledFrom([]dag.Kind{dag.TemplateGraph, dag.CallGraph}).Draw(t, "kind")
	keys := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z:"\->é]{1,4}`), 0, 12, rapid.ID).Draw(t, "keys")
	o := &naive{kind: kind, keys: keys}
	b := dag.NewBuilder(kind)
	for _, key := range keys {
		b.AddNode(key)
	}
	if n := len(keys); n > 0 {
		id := rapid.Int32Range(0, int32(n-1))
		// Half of the graphs only point forward or back, so that cycles do not hide the rest.
		oneWay := rapid.SampledFrom([]int{-1, 0, 0, 1}).Draw(t, "oneWay")
		for range rapid.IntRange(0, 3*n).Draw(t, "edges") {
			e := dag.Edge{From: id.Draw(t, "from"), To: id.Draw(t, "to"), Attrs: drawAttributes(t, kind)}
			if oneWay != 0 && cmp.Compare(e.From, e.To) != oneWay {
				continue
			}
			if at := slices.IndexFunc(o.edges, func(x dag.Edge) bool { return compareEdges(x, e) == 0 }); at >= 0 {
				e = o.edges[at] // adding the same edge again is allowed
			} else {
				o.edges = append(o.edges, e)
			}
			b.AddEdge(e.From, e.To, e.Attrs)
		}
	}
	slices.SortFunc(o.edges, compareEdges)
	g, err := b.Build()
	require.NoError(t, err)
	require.NoError(t, g.Check())
	return g, o
}

func compareEdges(a, b dag.Edge) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Attrs.Type, b.Attrs.Type))
}

func (o *naive) only(keep func(dag.Edge) bool) []dag.Edge {
	var kept []dag.Edge
	for _, e := range o.edges {
		if keep(e) {
			kept = append(kept, e)
		}
	}
	return kept
}

// reach returns, for every pair, whether a path of at least one edge leads from the first to the second.
func (o *naive) reach() map[[2]int32]bool {
	reach := map[[2]int32]bool{}
	for _, e := range o.edges {
		reach[[2]int32{e.From, e.To}] = true
	}
	n := int32(len(o.keys))
	for k := range n {
		for i := range n {
			for j := range n {
				if reach[[2]int32{i, k}] && reach[[2]int32{k, j}] {
					reach[[2]int32{i, j}] = true
				}
			}
		}
	}
	return reach
}

// order repeatedly takes the first node whose predecessors are all taken.
func (o *naive) order() []int32 {
	var order []int32
	for {
		next := int32(-1)
		for v := int32(len(o.keys)) - 1; v >= 0; v-- {
			missing := o.only(func(e dag.Edge) bool { return e.To == v && !slices.Contains(order, e.From) })
			if !slices.Contains(order, v) && len(missing) == 0 {
				next = v
			}
		}
		if next < 0 {
			return order
		}
		order = append(order, next)
	}
}

// rank tries all paths.
func (o *naive) rank(v int32) int32 {
	rank := int32(0)
	for _, e := range o.edges {
		if e.To == v {
			rank = max(rank, o.rank(e.From)+1)
		}
	}
	return rank
}

func TestReadsAgreeWithAListOfEdges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, o := drawGraph(t)
		require.Equal(t, o.kind, g.Kind())
		require.Equal(t, len(o.keys), g.NodeCount())
		require.Equal(t, len(o.edges), g.EdgeCount())
		require.Equal(t, o.edges, slices.Collect(g.Edges()))
		for v, key := range g.Nodes() {
			require.Equal(t, o.keys[v], key)
			id, ok := g.Node(key)
			require.True(t, ok && id == v && g.Has(key))

			out := o.only(func(e dag.Edge) bool { return e.From == v })
			in := o.only(func(e dag.Edge) bool { return e.To == v })
			require.Equal(t, out, slices.Collect(g.OutEdges(v)))
			require.Equal(t, in, slices.Collect(g.InEdges(v)))
			require.Equal(t, len(out), g.OutDegree(v))
			require.Equal(t, len(in), g.InDegree(v))
			require.Equal(t, ends(out, func(e dag.Edge) int32 { return e.To }), slices.Collect(g.Out(v)))
			require.Equal(t, ends(in, func(e dag.Edge) int32 { return e.From }), slices.Collect(g.In(v)))
		}
		for from := range g.Nodes() {
			for to := range g.Nodes() {
				between := o.only(func(e dag.Edge) bool { return e.From == from && e.To == to })
				require.Equal(t, len(between) > 0, g.HasEdge(from, to))
				for _, typ := range append(typesOf[dag.TemplateGraph], typesOf[dag.CallGraph]...) {
					at := slices.IndexFunc(between, func(e dag.Edge) bool { return e.Attrs.Type == typ })
					e, ok := g.Edge(from, to, typ)
					require.Equal(t, at >= 0, ok)
					if ok {
						require.Equal(t, between[at], e)
					}
				}
			}
		}
	})
}

// ends returns the distinct ends of sorted edges.
func ends(edges []dag.Edge, end func(dag.Edge) int32) []int32 {
	var ids []int32
	for _, e := range edges {
		ids = append(ids, end(e))
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func TestTraversalsAgreeWithAllPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, o := drawGraph(t)
		reach := o.reach()
		for v := range g.Nodes() {
			var descendants, ancestors []int32
			for w := range g.Nodes() {
				require.Equal(t, reach[[2]int32{v, w}], g.Reaches(v, w), "%d to %d", v, w)
				if reach[[2]int32{v, w}] {
					descendants = append(descendants, w)
				}
				if reach[[2]int32{w, v}] {
					ancestors = append(ancestors, w)
				}
			}
			require.Equal(t, descendants, slices.Collect(g.Descendants(v)))
			require.Equal(t, ancestors, slices.Collect(g.Ancestors(v)))
		}
		noneIn := func(v int32) bool { return len(o.only(func(e dag.Edge) bool { return e.To == v })) == 0 }
		noneOut := func(v int32) bool { return len(o.only(func(e dag.Edge) bool { return e.From == v })) == 0 }
		require.Equal(t, slices.Collect(g.Filter(noneIn)), slices.Collect(g.Roots()))
		require.Equal(t, slices.Collect(g.Filter(noneOut)), slices.Collect(g.Leaves()))
	})
}

func TestOrderAndRankAgreeWithTheirDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, o := drawGraph(t)
		order := o.order()
		require.Equal(t, order, slices.Collect(g.Order()))
		ranks := map[int32]bool{}
		for v := range g.Nodes() {
			want := int32(-1)
			if slices.Contains(order, v) {
				want = o.rank(v)
				ranks[want] = true
			}
			require.Equal(t, want, g.Rank(v))
		}
		require.Equal(t, len(ranks), g.RankCount())
	})
}

func TestEveryCyclicComponentHasOneShortestWitness(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, o := drawGraph(t)
		reach := o.reach()
		same := func(v, w int32) bool { return reach[[2]int32{v, w}] && reach[[2]int32{w, v}] }

		var firsts []int32 // of each component with a cycle, the node inserted first
		for v := range g.Nodes() {
			if same(v, v) && !slices.ContainsFunc(firsts, func(first int32) bool { return same(first, v) }) {
				firsts = append(firsts, v)
			}
		}
		cycles := g.Cycles()
		require.Len(t, cycles, len(firsts))
		for i, cycle := range cycles {
			require.Equal(t, firsts[i], cycle[0])
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(cycle))), len(cycle), "a node twice")
			for j, v := range cycle {
				require.True(t, g.HasEdge(v, cycle[(j+1)%len(cycle)]))
			}
			require.Len(t, cycle, o.girth(cycle[0]))
		}
		require.Equal(t, len(cycles) == 0, g.CheckAcyclic() == nil)
	})
}

// girth returns the length of the shortest cycle through v: the first power of the edges that leads back.
func (o *naive) girth(v int32) int {
	at := map[int32]bool{v: true}
	for length := 1; ; length++ {
		next := map[int32]bool{}
		for _, e := range o.edges {
			if at[e.From] {
				next[e.To] = true
			}
		}
		if next[v] {
			return length
		}
		at = next
	}
}

func TestLineageAndChildrenFollowTriggeredEdgesOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, o := drawGraph(t)
		triggered := o.only(func(e dag.Edge) bool { return e.Attrs.Type == dag.Triggered })
		for v := range g.Nodes() {
			var children, lineage []int32
			for _, e := range triggered {
				if e.From == v {
					children = append(children, e.To)
				}
			}
			seen := map[int32]bool{v: true}
			for at := v; ; {
				up := slices.IndexFunc(triggered, func(e dag.Edge) bool { return e.To == at })
				if up < 0 || seen[triggered[up].From] {
					break
				}
				at = triggered[up].From
				seen[at] = true
				lineage = append(lineage, at)
			}
			require.Equal(t, children, slices.Collect(g.Children(v)))
			require.Equal(t, lineage, slices.Collect(g.Lineage(v)))
		}
	})
}

func TestJSONRoundTripKeepsEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, _ := drawGraph(t)
		data, err := json.Marshal(g)
		require.NoError(t, err)
		requireSame(t, g, parse(t, data))
	})
}

func TestEdgeKeysNameExactlyOneEdge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, _ := drawGraph(t)
		keys := map[string]bool{}
		for e := range g.Edges() {
			key := g.EdgeKey(e)
			require.False(t, keys[key], "two edges are %s", key)
			keys[key] = true
			found, ok := g.EdgeByKey(key)
			require.True(t, ok, key)
			require.Equal(t, e, found)
		}
	})
}

func TestBypassYieldsExactlyTheWaysThroughHiddenNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, o := drawGraph(t)
		hide := map[int32]bool{}
		for v := range g.Nodes() {
			hide[v] = rapid.Bool().Draw(t, fmt.Sprintf("hide %d", v))
		}
		want := map[string]bool{}
		for v := range g.Nodes() {
			if !hide[v] {
				for _, e := range o.waysOut(v, hide) {
					want[fmt.Sprint(v, e.To, e.Attrs.Type)] = true
				}
			}
		}
		edges := slices.Collect(g.Bypass(func(v int32) bool { return hide[v] }))
		got := map[string]bool{}
		for _, e := range edges {
			got[fmt.Sprint(e.From, e.To, e.Attrs.Type)] = true
			if direct, ok := g.Edge(e.From, e.To, e.Attrs.Type); ok {
				require.Equal(t, direct, e, "a direct edge counts first")
			}
		}
		require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)))
		require.True(t, slices.IsSortedFunc(edges, compareEdges))

		rest := g.Without(func(v int32) bool { return hide[v] })
		require.NoError(t, rest.Check())
		require.Equal(t, len(got), rest.EdgeCount())
		for e := range rest.Edges() {
			from, _ := g.Node(rest.Key(e.From))
			to, _ := g.Node(rest.Key(e.To))
			require.Contains(t, edges, dag.Edge{From: from, To: to, Attrs: e.Attrs})
		}
	})
}

// waysOut returns the last edges of all paths from v through hidden nodes.
func (o *naive) waysOut(v int32, hide map[int32]bool) []dag.Edge {
	at, last := map[int32]bool{v: true}, []dag.Edge(nil)
	for range o.keys {
		for _, e := range o.edges {
			if at[e.From] && hide[e.To] {
				at[e.To] = true
			}
		}
	}
	for _, e := range o.edges {
		if at[e.From] && !hide[e.To] {
			last = append(last, e)
		}
	}
	return last
}

func parse(t require.TestingT, data []byte) *dag.Graph {
	g, err := dag.Parse(data, nil)
	require.NoError(t, err)
	require.NoError(t, g.Check())
	return g
}

// requireSame compares graphs by their methods.
func requireSame(t require.TestingT, want, got *dag.Graph) {
	require.Equal(t, want.Kind(), got.Kind())
	require.Equal(t, maps.Collect(want.Nodes()), maps.Collect(got.Nodes()))
	require.Equal(t, slices.Collect(want.Edges()), slices.Collect(got.Edges()))
}

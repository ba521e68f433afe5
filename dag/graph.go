package dag

import (
	"iter"
	"slices"
)

// Graph is an immutable directed graph, made by a Builder or by Parse. It is safe for concurrent use.
//
// Invariants, for n nodes and m edges:
//  1. Rows: outStart and inStart have n+1 entries, begin at 0, never decrease and end at m.
//  2. Edges are strictly rising by (from, to, type); every type is one of the kind and attributes pass Check.
//  3. Both directions hold the same edges: inFrom[i] and the node i's row belongs to are the ends of edge inEdge[i],
//     and inEdge rises within a row.
//  4. guardedEdges rises strictly and lists exactly the edges whose guardedBit is set; guardSets has its length.
//  5. rank[v] is -1 for nodes on or behind a cycle, else 0 for roots and one more than the highest of its
//     predecessors' for the others.
//  6. The order holds exactly the nodes with a rank, each after its predecessors, and of the nodes that could come
//     next always the smallest id. It is stored only if it is not 0, 1, 2, … anyway (forward).
type Graph struct {
	kind Kind
	keys *keyTable

	outStart []int32    // edges of v are [outStart[v], outStart[v+1])
	outTo    []int32    // by edge
	attrs    []attrBits // by edge
	inStart  []int32
	inFrom   []int32
	inEdge   []int32

	guardedEdges []int32
	guardSets    []int32
	guards       [][]Guard

	forward   bool
	order     []int32
	rank      []int32
	rankCount int32
}

// Kind returns the kind of the graph.
func (g *Graph) Kind() Kind { return g.kind }

// NodeCount returns the number of nodes; ids are [0, NodeCount).
func (g *Graph) NodeCount() int { return g.keys.len() }

// EdgeCount returns the number of edges.
func (g *Graph) EdgeCount() int { return len(g.outTo) }

// Key returns the key of a node.
func (g *Graph) Key(id int32) string { return g.keys.key(id) }

// Node returns the id of a key.
func (g *Graph) Node(key string) (id int32, ok bool) { return g.keys.find(key) }

// Has reports whether a node has the key.
func (g *Graph) Has(key string) bool {
	_, ok := g.keys.find(key)
	return ok
}

// HasEdge reports whether an edge of any type leads from one node to the other.
func (g *Graph) HasEdge(from, to int32) bool {
	_, ok := slices.BinarySearch(g.outRow(from), to)
	return ok
}

// Edge returns the edge of a type from one node to the other.
func (g *Graph) Edge(from, to int32, t EdgeType) (Edge, bool) {
	at, ok := slices.BinarySearch(g.outRow(from), to)
	if !ok {
		return Edge{}, false
	}
	for e := g.outStart[from] + int32(at); e < g.outStart[from+1] && g.outTo[e] == to; e++ {
		if g.attrs[e].edgeType() == t {
			return g.edge(from, e), true
		}
	}
	return Edge{}, false
}

// Nodes yields every id and key in order of insertion.
func (g *Graph) Nodes() iter.Seq2[int32, string] {
	return func(yield func(int32, string) bool) {
		for v := range int32(g.NodeCount()) {
			if !yield(v, g.Key(v)) {
				return
			}
		}
	}
}

// Filter yields the nodes for which keep returns true, in order of insertion. Statuses are stored beside the graph, by id, so a
// filter by status is g.Filter(func(id int32) bool { return status[id] == want }).
func (g *Graph) Filter(keep func(id int32) bool) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for v := range int32(g.NodeCount()) {
			if keep(v) && !yield(v) {
				return
			}
		}
	}
}

// Roots yields the nodes without incoming edges, in order of insertion.
func (g *Graph) Roots() iter.Seq[int32] {
	return g.Filter(func(v int32) bool { return g.InDegree(v) == 0 })
}

// Leaves yields the nodes without outgoing edges, in order of insertion.
func (g *Graph) Leaves() iter.Seq[int32] {
	return g.Filter(func(v int32) bool { return g.OutDegree(v) == 0 })
}

// Edges yields every edge by (from, to, type).
func (g *Graph) Edges() iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		for v := range int32(g.NodeCount()) {
			for e := g.outStart[v]; e < g.outStart[v+1]; e++ {
				if !yield(g.edge(v, e)) {
					return
				}
			}
		}
	}
}

// OutEdges yields the edges that leave a node by (to, type).
func (g *Graph) OutEdges(id int32) iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		for e := g.outStart[id]; e < g.outStart[id+1]; e++ {
			if !yield(g.edge(id, e)) {
				return
			}
		}
	}
}

// InEdges yields the edges that enter a node by (from, type).
func (g *Graph) InEdges(id int32) iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		for i := g.inStart[id]; i < g.inStart[id+1]; i++ {
			if !yield(g.edge(g.inFrom[i], g.inEdge[i])) {
				return
			}
		}
	}
}

// Out yields the successors of a node by id, each once, however many edges lead there.
func (g *Graph) Out(id int32) iter.Seq[int32] { return distinct(g.outRow(id)) }

// In yields the predecessors of a node by id, each once, however many edges come from there.
func (g *Graph) In(id int32) iter.Seq[int32] { return distinct(g.inRow(id)) }

// OutDegree returns the number of edges that leave a node. It exceeds the number of nodes that Out yields if edges of two types
// lead to one node.
func (g *Graph) OutDegree(id int32) int { return int(g.outStart[id+1] - g.outStart[id]) }

// InDegree returns the number of edges that enter a node. It exceeds the number of nodes that In yields if edges of two types
// come from one node.
func (g *Graph) InDegree(id int32) int { return int(g.inStart[id+1] - g.inStart[id]) }

func (g *Graph) outRow(v int32) []int32 { return g.outTo[g.outStart[v]:g.outStart[v+1]] }

func (g *Graph) inRow(v int32) []int32 { return g.inFrom[g.inStart[v]:g.inStart[v+1]] }

// edge unpacks the edge of number e, which leaves from.
func (g *Graph) edge(from, e int32) Edge {
	bits := g.attrs[e]
	edge := Edge{From: from, To: g.outTo[e]}
	edge.Attrs.Type = bits.edgeType()
	edge.Attrs.DataFlow = bits&dataFlowBit != 0
	if bits&guardedBit != 0 {
		at, _ := slices.BinarySearch(g.guardedEdges, e)
		edge.Attrs.Guards = g.guards[g.guardSets[at]]
	}
	return edge
}

// distinct yields the values of a sorted row without repetitions.
func distinct(row []int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		last := int32(-1)
		for _, v := range row {
			if v != last && !yield(v) {
				return
			}
			last = v
		}
	}
}

package dag

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
)

// Bypass yields the edges between the nodes that are not hidden, by (from, to, type), with a direct edge for every path that
// leads only through hidden nodes. Such an edge has the attributes of the last edge of the path: the edges into a step
// record its conditions. Of several edges with the same ends and type, Bypass yields a direct one, else the one with the last
// hidden node inserted first.
//
// A compiler replaces many edges by a hidden node, which must not be shown. Bypass makes the edges while the loop runs: a join of
// 5,000 to 5,000 nodes yields 25 million edges and stores at most 5,000 at a time.
func (g *Graph) Bypass(hidden func(id int32) bool) iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		w := bypass{g: g, hidden: hidden, seenFrom: make([]int32, g.NodeCount())}
		for v := range int32(g.NodeCount()) {
			if hidden(v) {
				continue
			}
			for _, last := range w.lastEdges(v) {
				if !yield(Edge{From: v, To: last.To, Attrs: last.Attrs}) {
					return
				}
			}
		}
	}
}

// Without returns the graph without the hidden nodes, with the edges that Bypass yields. Ids are dense again, in the same
// order. O(nodes + edges of the result, sorted by node).
func (g *Graph) Without(hidden func(id int32) bool) *Graph {
	b := NewBuilder(g.kind)
	ids := make([]int32, g.NodeCount())
	for v, key := range g.Nodes() {
		if !hidden(v) {
			ids[v] = b.AddNode(key)
		}
	}
	for e := range g.Bypass(hidden) {
		b.AddEdge(ids[e.From], ids[e.To], e.Attrs)
	}
	rest, err := b.Build()
	if err != nil {
		// The keys and edges come from a valid graph, each once.
		panic(fmt.Sprintf("dag: part of a graph is no graph: %v", err))
	}
	return rest
}

// bypass walks from each visible node through the hidden ones.
type bypass struct {
	g        *Graph
	hidden   func(id int32) bool
	seenFrom []int32 // by hidden node: the visible node whose walk reached it last, plus 1
	stack    []int32
	last     []Edge
}

// lastEdges returns the last edges of all paths from v, one for each target and type. The slice is overwritten by the next
// call.
func (w *bypass) lastEdges(v int32) []Edge {
	w.last = w.last[:0]
	w.stack = append(w.stack[:0], v)
	for len(w.stack) > 0 {
		u := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		for e := range w.g.OutEdges(u) {
			switch {
			case !w.hidden(e.To):
				w.last = append(w.last, e)
			case w.seenFrom[e.To] != v+1:
				w.seenFrom[e.To] = v + 1
				w.stack = append(w.stack, e.To)
			}
		}
	}
	// The walk found the hidden nodes in its own order; sorting by hidden node makes the choice independent of that order.
	via := func(e Edge) int32 {
		if e.From == v {
			return -1 // direct
		}
		return e.From
	}
	slices.SortFunc(w.last, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.Attrs.Type, b.Attrs.Type),
			cmp.Compare(via(a), via(b)))
	})
	return slices.CompactFunc(w.last, func(a, b Edge) bool {
		return a.To == b.To && a.Attrs.Type == b.Attrs.Type
	})
}

package dag

import "iter"

// Children yields the calls that a call made, that is, the targets of its Triggered edges, by id. A graph of another
// kind has none.
func (g *Graph) Children(id int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for e := g.outStart[id]; e < g.outStart[id+1]; e++ {
			if g.attrs[e].edgeType() == Triggered && !yield(g.outTo[e]) {
				return
			}
		}
	}
}

// Parent returns the call that made a call; false if no call in the graph made it. A well-formed call graph has at
// most one parent for each call; Parent returns the first inserted of several.
func (g *Graph) Parent(id int32) (parent int32, ok bool) {
	for i := g.inStart[id]; i < g.inStart[id+1]; i++ {
		if g.attrs[g.inEdge[i]].edgeType() == Triggered {
			return g.inFrom[i], true
		}
	}
	return 0, false
}

// Lineage yields the ancestors of a call: its parent, the parent's parent and so on, up to a call without a parent. It ends
// before a repetition, so it also ends on a damaged graph in which calls made each other.
func (g *Graph) Lineage(id int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		var seen idSet // only a graph with cycles can lead back
		if !g.acyclic() {
			seen = newIDSet(g.NodeCount())
			seen.add(id)
		}
		for v, ok := g.Parent(id); ok; v, ok = g.Parent(v) {
			if seen != nil && !seen.add(v) {
				return
			}
			if !yield(v) {
				return
			}
		}
	}
}

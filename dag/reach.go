package dag

import (
	"iter"
	"math/bits"
)

// Descendants yields the nodes that a path of at least one edge leads to, in order of insertion. The node itself is
// among them only if it is on a cycle.
func (g *Graph) Descendants(id int32) iter.Seq[int32] {
	return func(yield func(int32) bool) { g.reach(id, g.outRow).each(yield) }
}

// Ancestors yields the nodes from which a path of at least one edge leads to this one, in order of insertion. The node
// itself is among them only if it is on a cycle.
func (g *Graph) Ancestors(id int32) iter.Seq[int32] {
	return func(yield func(int32) bool) { g.reach(id, g.inRow).each(yield) }
}

// Reaches reports whether a path of at least one edge leads from one node to the other.
func (g *Graph) Reaches(from, to int32) bool {
	// Ranks rise along every edge, so only nodes of a lower rank can reach a node that has a rank.
	top := g.rank[to]
	hopeless := func(v int32) bool { return top >= 0 && (g.rank[v] < 0 || g.rank[v] >= top) }
	if hopeless(from) {
		return false
	}
	seen := newIDSet(g.NodeCount())
	stack := []int32{from}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, w := range g.outRow(v) {
			if w == to {
				return true
			}
			if !hopeless(w) && seen.add(w) {
				stack = append(stack, w)
			}
		}
	}
	return false
}

// reach marks all nodes reachable from id along the rows that row returns.
func (g *Graph) reach(id int32, row func(int32) []int32) idSet {
	seen := newIDSet(g.NodeCount())
	stack := []int32{id}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, w := range row(v) {
			if seen.add(w) {
				stack = append(stack, w)
			}
		}
	}
	return seen
}

// idSet is a set of ids with one bit per id.
type idSet []uint64

func newIDSet(n int) idSet { return make(idSet, (n+63)/64) }

// add adds an id and reports whether it is new.
func (s idSet) add(id int32) bool {
	word, bit := &s[id/64], uint64(1)<<(id%64)
	added := *word&bit == 0
	*word |= bit
	return added
}

// each yields the ids in rising order.
func (s idSet) each(yield func(int32) bool) {
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			if !yield(int32(i*64 + bits.TrailingZeros64(word))) {
				return
			}
		}
	}
}

package dag

import (
	"iter"
	"math/bits"
)

// Order yields the nodes in topological order: every node after all its predecessors, and among the possible next nodes
// always the one inserted first. So nodes that were inserted in a topological order are yielded in that order. Nodes on a cycle
// or reachable from one are omitted; CheckAcyclic reports whether there are any.
func (g *Graph) Order() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for i := range int32(g.placed()) {
			v := i
			if !g.forward {
				v = g.order[i]
			}
			if !yield(v) {
				return
			}
		}
	}
}

// Rank returns the length in edges of the longest path from a root to the node, 0 for a root. Ranks increase along every
// edge, so processing nodes by rank processes them after their predecessors. It is -1 for a node on a cycle or reachable
// from one.
func (g *Graph) Rank(id int32) int32 { return g.rank[id] }

// RankCount returns one more than the highest rank, 0 for a graph without nodes.
func (g *Graph) RankCount() int { return int(g.rankCount) }

// placed returns the number of nodes that Order yields.
func (g *Graph) placed() int {
	if g.forward {
		return g.NodeCount()
	}
	return len(g.order)
}

// acyclic reports whether all nodes have a place in the order.
func (g *Graph) acyclic() bool { return g.placed() == g.NodeCount() }

// sort computes order and ranks. Templates are mostly written in a topological order; then one pass over the edges and one
// over the rows suffice, and no order is stored.
func (g *Graph) sort() {
	g.rank = make([]int32, g.NodeCount())
	if g.forward = g.pointsForward(); g.forward {
		for v := range int32(len(g.rank)) {
			for _, u := range g.inRow(v) {
				g.rank[v] = max(g.rank[v], g.rank[u]+1)
			}
		}
	} else {
		s := sorter{g: g}
		s.run()
		g.order = s.order
	}
	for _, rank := range g.rank {
		g.rankCount = max(g.rankCount, rank+1)
	}
}

// pointsForward reports whether every edge leads to a node inserted later.
func (g *Graph) pointsForward() bool {
	for v := range int32(g.NodeCount()) {
		// The row is sorted: its first entry decides.
		if row := g.outRow(v); len(row) > 0 && row[0] <= v {
			return false
		}
	}
	return true
}

// sorter is one run of Kahn's algorithm.
type sorter struct {
	g       *Graph
	waiting []int32 // by node: edges from nodes not placed yet, -1 once placed
	ready   idQueue
	order   []int32
	work    int // nodes placed and edges followed; at most NodeCount + EdgeCount
}

func (s *sorter) run() {
	g := s.g
	n := g.NodeCount()
	s.waiting = make([]int32, n)
	s.order = make([]int32, 0, n)
	s.ready = newIDQueue(n)
	for v := range int32(n) {
		if s.waiting[v] = int32(g.InDegree(v)); s.waiting[v] == 0 {
			s.ready.push(v)
		}
	}
	for v, ok := s.ready.pop(); ok; v, ok = s.ready.pop() {
		s.place(v)
	}
	for v := range g.rank {
		if s.waiting[v] >= 0 {
			g.rank[v] = -1
		}
	}
}

func (s *sorter) place(v int32) {
	s.order = append(s.order, v)
	s.waiting[v] = -1
	s.work++
	above := s.g.rank[v] + 1
	for _, w := range s.g.outRow(v) {
		s.work++
		s.g.rank[w] = max(s.g.rank[w], above)
		if s.waiting[w]--; s.waiting[w] == 0 {
			s.ready.push(w)
		}
	}
}

// idQueue is a priority queue of ids in [0, n), each at most once. It has a bit per id and, for every 64 words of a level, a
// word in the level above that records the words that are not empty, up to a single word. 16 million ids need four levels, so
// push and pop cost a few instructions; a binary heap of a million costs twenty comparisons.
//
//	levels[2]            0001
//	levels[1]            0101 0000 …             bit i: word i of the level below is not 0
//	levels[0]            0010 0000 1001 0000 …   bit i: id i is in the queue
type idQueue struct{ levels [][]uint64 }

func newIDQueue(n int) idQueue {
	var q idQueue
	for {
		n = (n + 63) / 64
		q.levels = append(q.levels, make([]uint64, max(n, 1)))
		if n <= 1 {
			return q
		}
	}
}

func (q idQueue) push(id int32) {
	i := uint32(id)
	for _, level := range q.levels {
		word := &level[i/64]
		wasEmpty := *word == 0
		*word |= 1 << (i % 64)
		if !wasEmpty {
			return // the levels above are already set
		}
		i /= 64
	}
}

// pop removes and returns the smallest id.
func (q idQueue) pop() (id int32, ok bool) {
	top := len(q.levels) - 1
	if q.levels[top][0] == 0 {
		return 0, false
	}
	i := 0
	for l := top; l >= 0; l-- {
		i = i*64 + bits.TrailingZeros64(q.levels[l][i])
	}
	id = int32(i)
	for _, level := range q.levels {
		word := &level[i/64]
		*word &^= 1 << (i % 64)
		if *word != 0 {
			break
		}
		i /= 64
	}
	return id, true
}

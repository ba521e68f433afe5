package dag

import (
	"fmt"
	"slices"
	"strings"
)

// CycleError names the cycles of a graph that should have none.
type CycleError struct {
	// Cycles has the cycles that Graph.Cycles returns, as keys: one witness per strongly connected component.
	Cycles [][]string
}

// Error returns every witness on a line of its own, along the edges: "cycle: a -> b -> a".
func (e *CycleError) Error() string {
	var text strings.Builder
	for i, cycle := range e.Cycles {
		if i > 0 {
			text.WriteByte('\n')
		}
		fmt.Fprintf(&text, "cycle: %s -> %s", strings.Join(cycle, " -> "), cycle[0])
	}
	return text.String()
}

// CheckAcyclic returns nil for a graph without cycles, at no cost, else a *CycleError.
func (g *Graph) CheckAcyclic() error {
	if g.acyclic() {
		return nil
	}
	e := &CycleError{}
	for _, cycle := range g.Cycles() {
		keys := make([]string, len(cycle))
		for i, v := range cycle {
			keys[i] = g.Key(v)
		}
		e.Cycles = append(e.Cycles, keys)
	}
	return e
}

// Cycles returns one cycle for every strongly connected component that has one, nil for an acyclic graph. A cycle starts at the
// component's node that was inserted first, lists each node once and closes with an edge from its last to its first; it is a
// shortest one through that node. Cycles are sorted by their first node.
//
// One witness per component is enough: a component of n nodes can have more than 2^n cycles, and breaking any of them means
// changing the component.
func (g *Graph) Cycles() [][]int32 {
	if g.acyclic() {
		return nil
	}
	components := findComponents(g)
	reported := make([]bool, components.count)
	search := witnessSearch{g: g, component: components.of, parent: make([]int32, g.NodeCount())}
	var cycles [][]int32
	for v := range int32(g.NodeCount()) {
		c := components.of[v]
		if c < 0 || reported[c] {
			continue
		}
		reported[c] = true
		if components.size[c] > 1 || g.HasEdge(v, v) {
			cycles = append(cycles, search.from(v))
		}
	}
	return cycles
}

// components numbers the strongly connected components of the nodes without a place in the order. The other nodes are on no
// cycle and have component -1.
type components struct {
	of    []int32 // by node
	size  []int32 // by component
	count int32
}

// tarjan is one run of Tarjan's algorithm with the recursion unrolled: a chain of a million nodes must not need a
// million stack frames.
type tarjan struct {
	g     *Graph
	out   components
	index []int32 // by node: order of discovery from 1, 0 if not discovered
	low   []int32 // by node: lowest index known to be reachable within the component
	next  []int32 // by node: next outgoing edge to visit
	path  []int32 // nodes being visited, the innermost last
	open  []int32 // discovered nodes without a component
	last  int32   // last index assigned
}

const noComponent = -1

func findComponents(g *Graph) components {
	n := g.NodeCount()
	t := tarjan{g: g, index: make([]int32, n), low: make([]int32, n), next: make([]int32, n)}
	t.out.of = make([]int32, n)
	for v := range t.out.of {
		t.out.of[v] = noComponent
	}
	for v := range int32(n) {
		if g.rank[v] < 0 && t.index[v] == 0 {
			t.visit(v)
		}
	}
	return t.out
}

// visit discovers all nodes reachable from root. The top of path corresponds to the call of a recursive version, next[v] to its
// loop variable. Nodes with a place in the order are never reached: no edge leads from a cycle to them.
func (t *tarjan) visit(root int32) {
	t.enter(root)
	for len(t.path) > 0 {
		v := t.path[len(t.path)-1]
		if t.next[v] == t.g.outStart[v+1] {
			t.leave(v)
			continue
		}
		w := t.g.outTo[t.next[v]]
		t.next[v]++
		switch {
		case t.index[w] == 0:
			t.enter(w)
		case t.out.of[w] == noComponent:
			t.low[v] = min(t.low[v], t.index[w])
		}
	}
}

func (t *tarjan) enter(v int32) {
	t.last++
	t.index[v], t.low[v], t.next[v] = t.last, t.last, t.g.outStart[v]
	t.path = append(t.path, v)
	t.open = append(t.open, v)
}

// leave closes v's component if v is its first discovered node.
func (t *tarjan) leave(v int32) {
	t.path = t.path[:len(t.path)-1]
	if len(t.path) > 0 {
		parent := t.path[len(t.path)-1]
		t.low[parent] = min(t.low[parent], t.low[v])
	}
	if t.low[v] != t.index[v] {
		return
	}
	c := t.out.count
	t.out.count++
	t.out.size = append(t.out.size, 0)
	for t.out.of[v] == noComponent {
		w := t.open[len(t.open)-1]
		t.open = t.open[:len(t.open)-1]
		t.out.of[w] = c
		t.out.size[c]++
	}
}

// witnessSearch finds shortest cycles by breadth-first search within one component at a time.
type witnessSearch struct {
	g         *Graph
	component []int32
	parent    []int32 // by node: predecessor in the search, plus 1; 0 if not reached
	queue     []int32
}

// from returns a shortest cycle through start, which must be on one. The first edge back to start that the breadth-first search
// finds closes the cycle; rows are sorted, so the result is deterministic. parent needs no reset between searches, because
// components have no common node.
func (s *witnessSearch) from(start int32) []int32 {
	s.queue = append(s.queue[:0], start)
	for i := 0; i < len(s.queue); i++ {
		v := s.queue[i]
		for _, w := range s.g.outRow(v) {
			if w == start {
				return s.path(start, v)
			}
			if s.component[w] == s.component[start] && s.parent[w] == 0 {
				s.parent[w] = v + 1
				s.queue = append(s.queue, w)
			}
		}
	}
	panic("dag: a component has no way back to its first node")
}

// path returns the path from start to end by following parents from end.
func (s *witnessSearch) path(start, end int32) []int32 {
	var path []int32
	for v := end; v != start; v = s.parent[v] - 1 {
		path = append(path, v)
	}
	path = append(path, start)
	slices.Reverse(path)
	return path
}

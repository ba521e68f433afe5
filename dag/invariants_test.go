package dag

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Check lets external tests check the invariants listed on Graph and keyTable.
func (g *Graph) Check() error {
	errs := []error{g.checkRows(), g.checkEdges(), g.checkRanks(), g.checkOrder(), g.keys.check()}
	return errors.Join(errs...)
}

// SetLimits lowers the limits of the builder.
func (b *Builder) SetLimits(nodes, edges, keyBytes int) { b.max = limits{nodes, edges, keyBytes} }

// SortWork orders g again and counts the nodes placed and the edges followed.
func SortWork(g *Graph) int {
	again := *g
	again.rank = make([]int32, g.NodeCount())
	s := sorter{g: &again}
	s.run()
	return s.work
}

func (g *Graph) checkRows() error {
	for name, start := range map[string][]int32{"out": g.outStart, "in": g.inStart} {
		if len(start) != g.NodeCount()+1 || start[0] != 0 || start[len(start)-1] != int32(g.EdgeCount()) || !slices.IsSorted(start) {
			return fmt.Errorf("invariant 1: %s rows start at %v", name, start)
		}
	}
	for v := range int32(g.NodeCount()) {
		for i := g.inStart[v]; i < g.inStart[v+1]; i++ {
			from, e := g.inFrom[i], g.inEdge[i]
			if g.outTo[e] != v || e < g.outStart[from] || e >= g.outStart[from+1] || i > g.inStart[v] && g.inEdge[i-1] >= e {
				return fmt.Errorf("invariant 3: edge %d into %d from %d", e, v, from)
			}
		}
	}
	return nil
}

func (g *Graph) checkEdges() error {
	var last *Edge
	guarded := 0
	for e := range g.Edges() {
		if last != nil && cmp.Or(cmp.Compare(last.From, e.From), cmp.Compare(last.To, e.To), cmp.Compare(last.Attrs.Type, e.Attrs.Type)) >= 0 {
			return fmt.Errorf("invariant 2: %v before %v", *last, e)
		}
		if err := g.kind.check(e.Attrs); err != nil {
			return fmt.Errorf("invariant 2: %w", err)
		}
		if len(e.Attrs.Guards) > 0 {
			guarded++
		}
		last = &e
	}
	if guarded != len(g.guardedEdges) || len(g.guardSets) != guarded || !slices.IsSorted(g.guardedEdges) {
		return fmt.Errorf("invariant 4: %d guarded edges, %v in %v", guarded, g.guardSets, g.guardedEdges)
	}
	return nil
}

func (g *Graph) checkRanks() error {
	for v := range int32(g.NodeCount()) {
		want := int32(0)
		for u := range g.In(v) {
			if g.rank[u] < 0 {
				want = -1
				break
			}
			want = max(want, g.rank[u]+1)
		}
		if g.rank[v] >= 0 && g.rank[v] != want {
			return fmt.Errorf("invariant 5: rank of %d is %d, want %d", v, g.rank[v], want)
		}
		if g.rank[v] < 0 && want >= 0 {
			return fmt.Errorf("invariant 5: %d has no rank though all its predecessors have", v)
		}
	}
	return nil
}

func (g *Graph) checkOrder() error {
	position := map[int32]int{}
	for v := range g.Order() {
		position[v] = len(position)
	}
	if len(position) != g.placed() {
		return fmt.Errorf("invariant 6: %d nodes in an order of %d", len(position), g.placed())
	}
	for v := range int32(g.NodeCount()) {
		at, ok := position[v]
		if ok != (g.rank[v] >= 0) {
			return fmt.Errorf("invariant 6: %d has rank %d and place %d", v, g.rank[v], at)
		}
		for u := range g.In(v) {
			if ok && position[u] >= at {
				return fmt.Errorf("invariant 6: %d at %d follows %d at %d", u, position[u], v, at)
			}
		}
	}
	return nil
}

func (t *keyTable) check() error {
	used := 0
	for _, s := range t.slots {
		if s != 0 {
			used++
		}
	}
	size := len(t.slots)
	if size&(size-1) != 0 || 4*used > 3*size || used != t.len() {
		return fmt.Errorf("key table invariant 1: %d of %d slots for %d keys", used, size, t.len())
	}
	for id := range int32(t.len()) {
		if found, ok := t.find(t.key(id)); !ok || found != id {
			return fmt.Errorf("key table invariant 2: key %q of %d finds %d", t.key(id), id, found)
		}
	}
	if !slices.IsSorted(t.ends) || t.len() > 0 && int(t.ends[t.len()-1]) != len(t.text) {
		return fmt.Errorf("key table invariant 3: ends %v of %d bytes", t.ends, len(t.text))
	}
	return nil
}

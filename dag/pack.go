package dag

import "fmt"

// attrBits is the type and flags of an edge in one byte. Guards are stored by the number of the edge.
//
//	bit 0-2 type   bit 3 data flow   bit 4 has guards
type attrBits uint8

const (
	typeBits    attrBits = 1<<3 - 1
	dataFlowBit attrBits = 1 << 3
	guardedBit  attrBits = 1 << 4
)

// A type that does not fit its three bits must not compile.
const _ = uint(typeBits) - uint(edgeTypeEnd-1)

func packAttrs(a Attributes) attrBits {
	bits := attrBits(a.Type)
	if a.DataFlow {
		bits |= dataFlowBit
	}
	if len(a.Guards) > 0 {
		bits |= guardedBit
	}
	return bits
}

func (a attrBits) edgeType() EdgeType { return EdgeType(a & typeBits) }

// From the order of insertion to rows, with edges written as (from to):
//
//	added     (0 2) (1 2) (0 1)       edges   0 1 2
//	by type   no change here          edges   0 1 2
//	by to     (0 1) (0 2) (1 2)       edges   2 0 1     each sort keeps the order of the one before
//	by from   (0 1) (0 2) (1 2)       edges   2 0 1     among edges that it finds equal
//	packed    outTo 1 2 2             outStart 0 2 3 3
//
// Sorting each row by comparison would be as simple, but not linear: a node with a million edges, or one edge added a million
// times, should cost the same as any other million edges.

// pack sorts the edges by (from, to, type), drops repetitions and lays them out as rows of g, both ways. Three stable
// counting sorts, least significant key first, make it linear for any input.
func (b *Builder) pack(g *Graph, strict bool) {
	n := b.keys.len()
	edges := make([]int32, len(b.from)) // numbers in order of insertion
	for i := range edges {
		edges[i] = int32(i)
	}
	buf := make([]int32, len(edges))
	edges, buf = countingSort(edges, buf, int(edgeTypeEnd), func(i int32) int32 { return int32(b.attrs[i] & typeBits) })
	edges, buf = countingSort(edges, buf, n, func(i int32) int32 { return b.to[i] })
	edges, _ = countingSort(edges, buf, n, func(i int32) int32 { return b.from[i] })

	edges = b.dropRepeated(edges, strict)
	b.packOut(g, edges)
	g.packIn()
}

// countingSort sorts ids by key(id) in [0, keys) into buf, stably, and returns the two arrays with their roles swapped.
func countingSort(ids, buf []int32, keys int, key func(int32) int32) (sorted, spare []int32) {
	next := make([]int32, keys+1)
	for _, id := range ids {
		next[key(id)+1]++
	}
	for k := range keys {
		next[k+1] += next[k]
	}
	for _, id := range ids {
		k := key(id)
		buf[next[k]] = id
		next[k]++
	}
	return buf, ids
}

// dropRepeated keeps the first of several edges with equal ends and type, and reports those with other attributes.
func (b *Builder) dropRepeated(edges []int32, strict bool) []int32 {
	kept := edges[:0]
	for _, i := range edges {
		if len(kept) == 0 || !b.sameKey(kept[len(kept)-1], i) {
			kept = append(kept, i)
			continue
		}
		if first := kept[len(kept)-1]; strict || !b.sameAttrs(first, i) {
			why := "added again with other attributes"
			if strict {
				why = "given twice"
			}
			key := b.describe(b.from[i], b.to[i], b.attrs[i].edgeType())
			b.problems.add(fmt.Errorf("edge %s: %w: %s", key, ErrDuplicateEdge, why))
		}
	}
	return kept
}

func (b *Builder) sameKey(i, j int32) bool {
	return b.from[i] == b.from[j] && b.to[i] == b.to[j] && (b.attrs[i]^b.attrs[j])&typeBits == 0
}

func (b *Builder) sameAttrs(i, j int32) bool {
	if b.attrs[i] != b.attrs[j] {
		return false
	}
	return b.attrs[i]&guardedBit == 0 || b.guardSet(i) == b.guardSet(j)
}

// packOut fills the outgoing rows and the guards of g from edges in their final order.
func (b *Builder) packOut(g *Graph, edges []int32) {
	g.outStart = make([]int32, b.keys.len()+1)
	g.outTo = make([]int32, len(edges))
	g.attrs = make([]attrBits, len(edges))
	for e, i := range edges {
		g.outStart[b.from[i]+1]++
		g.outTo[e] = b.to[i]
		g.attrs[e] = b.attrs[i]
		if b.attrs[i]&guardedBit != 0 {
			g.guardedEdges = append(g.guardedEdges, int32(e))
			g.guardSets = append(g.guardSets, b.guardSet(i))
		}
	}
	for v := range b.keys.len() {
		g.outStart[v+1] += g.outStart[v]
	}
}

// packIn fills the incoming rows from the outgoing ones. Walking those in order leaves every incoming row sorted.
func (g *Graph) packIn() {
	n := g.NodeCount()
	g.inStart = make([]int32, n+1)
	for _, to := range g.outTo {
		g.inStart[to+1]++
	}
	for v := range n {
		g.inStart[v+1] += g.inStart[v]
	}
	g.inFrom = make([]int32, len(g.outTo))
	g.inEdge = make([]int32, len(g.outTo))
	next := append([]int32(nil), g.inStart...)
	// next has the current end of each node's row. A row is full when its end is the start of the next row.
	for v := range int32(n) {
		for e := g.outStart[v]; e < g.outStart[v+1]; e++ {
			at := next[g.outTo[e]]
			next[g.outTo[e]]++
			g.inFrom[at], g.inEdge[at] = v, e
		}
	}
}

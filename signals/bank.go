package signals

import (
	"fmt"
	"math"
	"math/bits"
)

// Bank is a whole graph of counting gates in one object, for graphs in which one signal object per node is too expensive. A
// node costs 24 bytes and shares its edges with all banks of the same [Wiring]; a node that changes costs one pass over its
// out-edges, however many in-edges the targets have.
//
//	          Show(node, 7)                     edge of class c:  Table[c][old] = {0,1}
//	node ────────────────────▶ its out-edges ─▶                   Table[c][7]   = {1,2}
//	                                            target: gate 0 counts one less, gate 2 one more
//	                                            a gate flipped between zero and non-zero? ─▶ target is queued
//	Drain ──▶ queued nodes, lowest (rank, node) first ──▶ derive(node), which reads Count and may Show and Mark
//
// So a node is derived only when one of its gates flips between zero and non-zero, or when it is marked. Because edges ascend
// in rank and Drain takes the lowest rank first, a node is derived after all its inputs and once per Drain, unless derive marks
// it again.
//
// Nodes [0, Wiring.Rows()) exist from the start, node v in row v. [Bank.Add] appends further instances of a range of rows.
//
// A Bank belongs to one goroutine. It uses no clock, randomness or map order: the same calls yield the same order of derives.
//
// Invariants: (1) Count(v, g) is the number of in-edges of v, from nodes of the same block, that Table counts at gate g for the
// source's output; (2) a node marked and not yet derived is in the queue exactly once; (3) no steady-state call allocates.
type Bank struct {
	wiring  *Wiring
	derive  func(node int32)
	nodes   []bankNode
	queue   rankQueue
	shapes  []bankShape         // shapes[0] is the whole wiring
	shapeOf map[[2]int32]uint32 // [lo, hi) -> index in shapes

	draining bool
	edges    uint64
	derived  uint64
}

// bankNode is 24 bytes. state packs, from the low end: 4 bits of output, the flags below, and the node's shape.
type bankNode struct {
	count [Gates]int32
	row   int32
	state uint32
}

const (
	bankOutput = 0xf    // bits 0..3: the output shown
	bankMarked = 1 << 4 // to be derived by Drain
	bankListed = 1 << 5 // has an entry in the queue; without bankMarked the entry is skipped (see Reset)

	bankShapeShift = 8
	bankShapesMax  = 1 << (32 - bankShapeShift)
)

// bankShape is shared by all blocks over the same rows [lo, hi).
type bankShape struct {
	lo, hi  int32
	initial [][Gates]int32 // per row of the range
}

// NewBank returns a bank with one node for each row of w: all outputs 0, counts according to Table for output 0, nothing
// queued. [Bank.Drain] calls derive, which must not be nil.
func NewBank(w *Wiring, derive func(node int32)) *Bank {
	b := &Bank{wiring: w, derive: derive, shapeOf: map[[2]int32]uint32{}}
	b.Add(0, int32(w.Rows()))
	return b
}

// Count returns how many in-edges of node count towards gate (0 to Gates-1) now.
func (b *Bank) Count(node int32, gate int) int32 { return b.nodes[node].count[gate] }

// Output returns the output that node shows (0 to Outputs-1).
func (b *Bank) Output(node int32) uint8 { return uint8(b.nodes[node].state & bankOutput) }

// Row returns the row that node is an instance of.
func (b *Bank) Row(node int32) int32 { return b.nodes[node].row }

// Len returns the number of nodes, blocks included.
func (b *Bank) Len() int { return len(b.nodes) }

// Work returns the number of edges that Show has visited and of calls of derive since NewBank. Tests assert these instead of
// time.
func (b *Bank) Work() (edges, derived uint64) { return b.edges, b.derived }

// Show sets the output of node (below Outputs; higher bits are ignored). An equal output does nothing. Otherwise the counts
// of the targets are updated at once, and a target is queued if one of its gates flipped between zero and non-zero, even if
// only between two parallel edges. It takes time linear in the out-edges of node.
func (b *Bank) Show(node int32, out uint8) {
	source := &b.nodes[node]
	was, now := source.state&bankOutput, uint32(out)&bankOutput
	if was == now {
		return
	}
	source.state ^= was ^ now
	w, row, shape := b.wiring, source.row, &b.shapes[source.state>>bankShapeShift]
	from, to := w.First[row], w.First[row+1]
	b.edges += uint64(to - from)
	targets, classes := w.To[from:to], w.Class[from:to]
	for i, target := range targets {
		counted := &w.Table[classes[i]]
		lost, won := counted[was]&^counted[now], counted[now]&^counted[was]
		if lost|won != 0 && target >= shape.lo && target < shape.hi {
			b.adjust(node+target-row, lost, won)
		}
	}
}

// adjust removes one edge from the lost gates of node, adds one to the won gates, and queues node if a gate flips.
func (b *Bank) adjust(node int32, lost, won uint8) {
	target := &b.nodes[node]
	flipped := false
	for ; lost != 0; lost &= lost - 1 {
		count := &target.count[bits.TrailingZeros8(lost)&(Gates-1)]
		*count--
		flipped = flipped || *count == 0
	}
	for ; won != 0; won &= won - 1 {
		count := &target.count[bits.TrailingZeros8(won)&(Gates-1)]
		flipped = flipped || *count == 0
		*count++
	}
	if flipped {
		b.Mark(node)
	}
}

// Mark queues node for Drain. Marking a queued node does nothing. During Drain, a node of any rank may be marked, including
// lower ones and the current one: the same Drain derives it.
func (b *Bank) Mark(node int32) {
	n := &b.nodes[node]
	if n.state&bankListed == 0 {
		b.queue.push(uint32(b.wiring.Rank[n.row]), node)
	}
	n.state |= bankMarked | bankListed
}

// Drain calls derive for the queued nodes, lowest (rank, node) first, until the queue is empty. A node leaves the queue
// before it is derived, so it is derived again only if it is marked again. If derive calls Drain, that call does nothing: the
// outer Drain continues. If derive panics, the panic propagates and the remaining nodes stay queued.
func (b *Bank) Drain() {
	if b.draining {
		return
	}
	b.draining = true
	defer func() { b.draining = false }()
	for len(b.queue) > 0 {
		node := b.queue.pop()
		n := &b.nodes[node]
		marked := n.state & bankMarked
		n.state &^= bankMarked | bankListed
		if marked != 0 {
			b.derived++
			b.derive(node)
		}
	}
}

// Add appends a block: one more instance of the rows [lo, hi), with outputs 0. Node base+i has row lo+i. Blocks are
// independent: edges lead only between nodes of the same block, so a block has no edges into or out of the range, and its
// counts include only the edges inside. The first block of a range takes time linear in its edges, further ones in its rows.
// Add panics if a range is not within the rows, or for more than 2^31-1 nodes or 2^24 different ranges.
func (b *Bank) Add(lo, hi int32) (base int32) {
	if lo < 0 || hi < lo || int(hi) > b.wiring.Rows() {
		panic(fmt.Sprintf("signals: block of rows [%d, %d): there are %d", lo, hi, b.wiring.Rows()))
	}
	if len(b.nodes)+int(hi-lo) > math.MaxInt32 {
		panic("signals: bank is full")
	}
	shape := b.shape(lo, hi)
	if b.nodes == nil {
		b.nodes = make([]bankNode, 0, hi-lo) // exactly one for each row; append rounds up
	}
	base = int32(len(b.nodes))
	for i, count := range b.shapes[shape].initial {
		b.nodes = append(b.nodes, bankNode{count: count, row: lo + int32(i), state: shape << bankShapeShift})
	}
	return base
}

// shape returns the index of the shape over rows [lo, hi), creating it on first use.
func (b *Bank) shape(lo, hi int32) uint32 {
	index, ok := b.shapeOf[[2]int32{lo, hi}]
	if ok {
		return index
	}
	if len(b.shapes) == bankShapesMax {
		panic("signals: bank has too many different blocks")
	}
	initial := b.wiring.initial
	if lo > 0 || int(hi) < b.wiring.Rows() {
		initial = b.wiring.counts(lo, hi)
	}
	index = uint32(len(b.shapes))
	b.shapes = append(b.shapes, bankShape{lo: lo, hi: hi, initial: initial})
	b.shapeOf[[2]int32{lo, hi}] = index
	return index
}

// Reset returns the n nodes of the block at base to their state after Add: outputs 0, initial counts, none queued. It takes
// time linear in n. It panics unless the nodes are a whole block, because edges from the rest of the block would be counted
// wrongly.
func (b *Bank) Reset(base, n int32) {
	if n == 0 {
		return
	}
	shape := b.shapes[b.nodes[base].state>>bankShapeShift]
	if b.nodes[base].row != shape.lo || n != shape.hi-shape.lo {
		panic(fmt.Sprintf("signals: reset of nodes [%d, %d): not a whole block", base, base+n))
	}
	for i := range shape.initial {
		node := &b.nodes[base+int32(i)]
		node.count = shape.initial[i]
		// A queued node keeps its entry: Drain skips it, and a Mark before that reuses it. So neither searches the queue.
		node.state &^= bankOutput | bankMarked
	}
}

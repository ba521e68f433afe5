package playbook

import "math/bits"

// bitset is a set of bits that are propagated along arcs together. Each bit stands for one question about the graph, so many
// questions are answered at once. If questions have two parts, the upper half of the bits stands for the second parts.
type bitset [8]uint64

const (
	bitsMax   = 64 * len(bitset{})
	halfWords = len(bitset{}) / 2
	halfMax   = bitsMax / 2
)

func (b *bitset) add(i int)      { b[i/64] |= 1 << (i % 64) }
func (b *bitset) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

// firstBits returns the bits from 0 to n-1.
func firstBits(n int) (b bitset) {
	for i := range n {
		b.add(i)
	}
	return b
}

// oneBit returns the bit i.
func oneBit(i int) (b bitset) {
	b.add(i)
	return b
}

// addAll adds bits, and reports whether one of them was new.
func (b *bitset) addAll(more *bitset) bool {
	var grown uint64
	for i, w := range more {
		grown |= w &^ b[i]
		b[i] |= w
	}
	return grown != 0
}

// and returns the intersection.
func (b bitset) and(others *bitset) (out bitset) {
	for i, w := range b {
		out[i] = w & others[i]
	}
	return out
}

// without returns the difference.
func (b *bitset) without(others *bitset) (out bitset) {
	for i, w := range b {
		out[i] = w &^ others[i]
	}
	return out
}

// fold combines all bits into the first width bits: bit i of the result is set if a bit i+k*width was set. width is a power of
// two.
func (b *bitset) fold(width int) {
	for half := bitsMax / 2; half >= max(64, width); half /= 2 {
		for i := range half / 64 {
			b[i] |= b[i+half/64]
		}
		clear(b[half/64 : 2*half/64])
	}
	for half := 32; half >= width; half /= 2 {
		b[0] = (b[0] | b[0]>>half) & (1<<half - 1)
	}
}

// all yields the bits one by one, in their order.
func (b *bitset) all(yield func(i int) bool) {
	for i, w := range b {
		for ; w != 0; w &= w - 1 {
			if !yield(64*i + bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}

// arcGraph are arcs between steps, along which bits are propagated until nothing changes. Each step has a place. All arcs lead to
// later places, except those that close a cycle. So without cycles every step propagates its bits once, and each nested cycle
// may cost one more round.
type arcGraph struct {
	place []int32  // by step
	step  []int32  // by place
	first []int32  // by place, and one more: the start of its part of to
	to    []int32  // places
	in    []bitset // by place: bits that have arrived
	dirty []uint64
}

// newWays returns the ways for the arcs of each step. root is the first step.
func newWays(arcs [][]int32, root int32) *arcGraph {
	n := len(arcs)
	w := &arcGraph{
		place: make([]int32, n), step: make([]int32, n), first: make([]int32, n+1), in: make([]bitset, n), dirty: make([]uint64, (n+63)/64),
	}
	left := w.order(arcs, root, n)
	for s := range int32(n) {
		left = w.order(arcs, s, left)
	}
	for at, s := range w.step {
		w.place[s] = int32(at)
	}
	for at, s := range w.step {
		for _, to := range arcs[s] {
			w.to = append(w.to, w.place[to])
		}
		w.first[at+1] = int32(len(w.to))
	}
	return w
}

// order assigns places to the steps reachable from a step, in reverse postorder: the last of the places that are left. It
// returns the number of places left.
func (w *arcGraph) order(arcs [][]int32, from int32, left int) int {
	const seen = -1 // 0: not yet
	type visit struct{ step, next int32 }
	var path []visit
	enter := func(s int32) {
		if w.place[s] == 0 {
			w.place[s] = seen
			path = append(path, visit{step: s})
		}
	}
	for enter(from); len(path) > 0; {
		top := &path[len(path)-1]
		if int(top.next) < len(arcs[top.step]) {
			top.next++
			enter(arcs[top.step][top.next-1])
			continue
		}
		left--
		w.step[left] = top.step
		path = path[:len(path)-1]
	}
	return left
}

// clear removes all bits.
func (w *arcGraph) clear() { clear(w.in) }

// at returns the bits that have arrived at a step.
func (w *arcGraph) at(step int32) *bitset { return &w.in[w.place[step]] }

// put adds bits to a step, from which spread propagates them.
func (w *arcGraph) put(step int32, b bitset) { w.addBits(w.place[step], &b) }

func (w *arcGraph) addBits(place int32, b *bitset) {
	if w.in[place].addAll(b) {
		w.dirty[place/64] |= 1 << (place % 64)
	}
}

// spread propagates bits from step to step until nothing changes. through returns the bits that leave a step for the bits that
// have arrived there; it must be monotonic. spread returns the number of calls of through.
func (w *arcGraph) spread(through func(step int32, in *bitset) bitset) (asked int) {
	for again := true; again; {
		again = false
		for at := w.next(0); at >= 0; at = w.next(at + 1) { // bits at earlier places wait for the next round
			again = true
			asked++
			w.dirty[at/64] &^= 1 << (at % 64)
			out := through(w.step[at], &w.in[at])
			for _, to := range w.to[w.first[at]:w.first[at+1]] {
				w.addBits(to, &out)
			}
		}
	}
	return asked
}

// next returns the first place, from the given one on, at which new bits have arrived, or -1.
func (w *arcGraph) next(from int) int {
	i := from / 64
	if i >= len(w.dirty) {
		return -1
	}
	for word := w.dirty[i] >> (from % 64) << (from % 64); ; word = w.dirty[i] {
		if word != 0 {
			return 64*i + bits.TrailingZeros64(word)
		}
		if i++; i == len(w.dirty) {
			return -1
		}
	}
}

package layout

import (
	"math"
	"slices"
)

// Weights of the pulls at an item: lines between bends have the highest, so that they are straight.
const (
	weightAlone = 0.001
	weightLight = 0.01
	weightLine  = 1.0
	weightBend  = 4.0
)

// place sets the x of every item: sweeps move the items of each layer as near to their neighbours as the widths allow. The last
// sweep leads down, so that a node with one predecessor is below it.
func (l *level) place(b *building) {
	for _, layer := range l.layers {
		x := 0
		for n, i := range layer {
			if n > 0 {
				x += l.apart(b, layer[n-1], i)
			}
			l.items[i].x = x
		}
		for _, i := range layer {
			l.items[i].x -= x / 2
		}
	}
	p := pool{}
	rounds := 9
	if len(l.items) > 100_000 {
		rounds = 5
	}
	for round := range rounds {
		for n := range l.layers {
			if round%2 == 0 {
				l.align(b, &p, n, true, false)
			} else {
				l.align(b, &p, len(l.layers)-1-n, false, true)
			}
		}
	}
	l.moveToOrigin(b)
}

// apart returns the least distance between the middles of two adjacent items of a layer.
func (l *level) apart(b *building, left, right int32) int {
	x, y := &l.items[left], &l.items[right]
	gap := b.space.Nodes
	if x.kind != nodeItem && x.kind != groupItem && y.kind != nodeItem && y.kind != groupItem {
		gap = b.space.Lines
	}
	return x.w - x.w/2 + y.w/2 + gap
}

// align moves the items of a layer as near to their neighbours above, below or both as their order and widths allow.
func (l *level) align(b *building, p *pool, n int, above, below bool) {
	layer := l.layers[n]
	p.reset()
	sum := 0
	for k, i := range layer {
		if k > 0 {
			sum += l.apart(b, layer[k-1], i)
		}
		want, weight := l.wanted(i, above, below)
		p.add(want-float64(sum), weight)
	}
	sum = 0
	for k, x := range p.values() {
		i := layer[k]
		if k > 0 {
			sum += l.apart(b, layer[k-1], i)
		}
		// Rounded positions keep their distances, since those are whole.
		l.items[i].x = int(math.Floor(x+0.5)) + sum
	}
	l.work += 2*len(layer) + p.work
	p.work = 0
}

// wanted returns the position to which the neighbours of an item pull it, and the weight of the pull. Light segments pull only
// if there are no others.
func (l *level) wanted(i int32, above, below bool) (want, weight float64) {
	for _, light := range [...]bool{false, true} {
		var sum pull
		if above {
			for _, s := range l.up.of(i) {
				seg := &l.segs[s]
				sum.by(l, seg, light, i, seg.upper, seg.upperAt-seg.lowerAt)
			}
		}
		if below {
			for _, s := range l.down.of(i) {
				seg := &l.segs[s]
				sum.by(l, seg, light, i, seg.lower, seg.lowerAt-seg.upperAt)
			}
		}
		if sum.weight > 0 && light {
			return sum.want / sum.weight, weightLight
		}
		if sum.weight > 0 {
			return sum.want / sum.weight, sum.weight
		}
	}
	return float64(l.items[i].x), weightAlone
}

// pull is the sum of the pulls at an item.
type pull struct{ want, weight float64 }

func (p *pull) by(l *level, s *segment, light bool, i, other int32, at int) {
	l.work++
	if s.light != light {
		return
	}
	w := weightLine
	if l.items[i].kind == bendItem && l.items[other].kind == bendItem {
		w = weightBend
	}
	p.want += float64(w * float64(l.items[other].x+at))
	p.weight += w
}

// moveToOrigin moves the items so that the leftmost begins at 0.
func (l *level) moveToOrigin(b *building) {
	left, right := math.MaxInt, math.MinInt
	for i := range l.items {
		it := &l.items[i]
		left, right = min(left, it.x-it.w/2), max(right, it.x-it.w/2+it.w)
	}
	if len(l.items) == 0 {
		return
	}
	for i := range l.items {
		l.items[i].x -= left
	}
	l.width = right - left
}

// pool finds the rising numbers that are nearest to the added ones, by weighted squares: it pools neighbours in the wrong order
// into a block with their mean.
type pool struct {
	blocks []block
	out    []float64
	work   int
}

type block struct {
	sum, weight float64
	count       int
}

func (b *block) mean() float64 { return b.sum / b.weight }

func (p *pool) reset() { p.blocks, p.out = p.blocks[:0], p.out[:0] }

func (p *pool) add(want, weight float64) {
	p.blocks = append(p.blocks, block{float64(want * weight), weight, 1})
	for n := len(p.blocks); n > 1 && p.blocks[n-2].mean() > p.blocks[n-1].mean(); n-- {
		last, before := p.blocks[n-1], &p.blocks[n-2]
		before.sum += last.sum
		before.weight += last.weight
		before.count += last.count
		p.blocks = p.blocks[:n-1]
		p.work++
	}
}

func (p *pool) values() []float64 {
	for i := range p.blocks {
		p.out = append(p.out, slices.Repeat([]float64{p.blocks[i].mean()}, p.blocks[i].count)...)
	}
	return p.out
}

package layout

import (
	"cmp"
	"slices"
)

// order sorts the layers so that few segments cross: it sweeps down and up, and keeps the best order.
func (l *level) order() {
	best := l.countCrossings()
	kept := l.copyLayers(nil)
	worse := 0
	for sweep := 0; best > 0 && sweep < l.sweeps() && worse < 4; sweep++ {
		l.sweep(sweep%2 == 0, sweep%4 >= 2)
		if n := l.countCrossings(); n < best {
			best, worse = n, 0
			kept = l.copyLayers(kept)
			continue
		}
		worse++
	}
	l.layers = kept
	for _, layer := range l.layers {
		l.number(layer)
	}
	l.crossings = best
}

// sweeps returns the bound of sweeps, which is lower for large graphs.
func (l *level) sweeps() int {
	switch n := len(l.items) + len(l.segs); {
	case n < 20_000:
		return 32
	case n < 150_000:
		return 12
	default:
		return 6
	}
}

func (l *level) copyLayers(to [][]int32) [][]int32 {
	if to == nil {
		to = make([][]int32, len(l.layers))
	}
	for i, layer := range l.layers {
		to[i] = append(to[i][:0], layer...)
	}
	return to
}

// placed is an item that can be moved, with the mean place of its neighbours.
type placed struct {
	mean float64
	item int32
}

// sweep sorts one layer after the other by the mean places of the neighbours in the layer before. Items without such neighbours
// keep their places. Items with equal means change places if swap is set.
func (l *level) sweep(down, swap bool) {
	var movable []placed
	var places []int
	for n := 1; n < len(l.layers); n++ {
		layer := l.layers[n]
		if !down {
			layer = l.layers[len(l.layers)-1-n]
		}
		movable, places = movable[:0], places[:0]
		for at, i := range layer {
			if mean, ok := l.mean(i, down); ok {
				movable = append(movable, placed{mean, i})
				places = append(places, at)
			}
		}
		if swap {
			slices.Reverse(movable)
		}
		slices.SortStableFunc(movable, func(a, b placed) int { return cmp.Compare(a.mean, b.mean) })
		for k, m := range movable {
			layer[places[k]] = m.item
		}
		l.number(layer)
	}
}

// mean returns the mean place of the neighbours above an item, or below it.
func (l *level) mean(i int32, above bool) (float64, bool) {
	row := l.down.of(i)
	if above {
		row = l.up.of(i)
	}
	l.work += len(row) + 1
	sum := 0
	for _, s := range row {
		if above {
			sum += int(l.pos[l.segs[s].upper])
		} else {
			sum += int(l.pos[l.segs[s].lower])
		}
	}
	if len(row) == 0 {
		return 0, false
	}
	return float64(sum) / float64(len(row)), true
}

// countCrossings counts the pairs of segments that cross, between each layer and the next.
func (l *level) countCrossings() (count int) {
	var tree fenwick
	var ends []int32
	for n := 0; n+1 < len(l.layers); n++ {
		tree.reset(len(l.layers[n+1]))
		for _, i := range l.layers[n] {
			ends = ends[:0]
			for _, s := range l.down.of(i) {
				ends = append(ends, l.pos[l.segs[s].lower])
			}
			slices.Sort(ends)
			for _, at := range ends {
				count += tree.above(at) // earlier segments that end further to the right
			}
			for _, at := range ends {
				tree.add(at)
			}
			l.work += len(ends) + 1
		}
	}
	return count
}

// fenwick is a Fenwick tree: it counts the numbers above a number.
type fenwick struct {
	sums  []int
	total int
}

func (f *fenwick) reset(n int) {
	f.total = 0
	f.sums = slices.Grow(f.sums[:0], n+1)[:n+1]
	clear(f.sums)
}

func (f *fenwick) add(at int32) {
	f.total++
	for i := int(at) + 1; i < len(f.sums); i += i & -i {
		f.sums[i]++
	}
}

func (f *fenwick) above(at int32) int {
	below := 0
	for i := int(at) + 1; i > 0; i -= i & -i {
		below += f.sums[i]
	}
	return f.total - below
}

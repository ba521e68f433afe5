package layout

import (
	"cmp"
	"math"
	"slices"
)

// lay lays a level out. The levels within it must be laid out before.
func (l *level) lay(b *building) {
	for i := range l.items {
		l.items[i].w, l.items[i].h = l.sizeOf(b, i)
	}
	byKey := l.byKey()
	l.markBack(byKey)
	count := l.setLayers(byKey)
	l.makeChains()
	l.makeSegments(b)
	l.fillLayers(count)
	l.order()
	l.place(b)
	l.route(b)
}

// sizeOf returns the size of an item. The size of a group that is not collapsed depends on its content.
func (l *level) sizeOf(b *building, i int) (w, h int) {
	it := &l.items[i]
	if it.inner < 0 {
		return it.w, it.h
	}
	in := b.levels[it.inner]
	return max(it.w, in.width+in.inset.Left+in.inset.Right), max(it.h, in.height+in.inset.Top+in.inset.Bottom)
}

// byKey returns the items in their canonical order.
func (l *level) byKey() []int32 {
	order := make([]int32, len(l.items))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(x, y int32) int {
		a, b := &l.items[x], &l.items[y]
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.kind, b.kind), cmp.Compare(x, y))
	})
	return order
}

// setLayers sets the layer of each item, and returns the number of layers.
func (l *level) setLayers(byKey []int32) (count int32) {
	in, outPairs := make([]int32, len(l.items)), make([][2]int32, 0, len(l.links))
	linked := make([]bool, len(l.items))
	for _, k := range l.links {
		if linked[k.from], linked[k.to] = true, true; !k.back {
			in[k.to]++
			outPairs = append(outPairs, [2]int32{k.from, k.to})
		}
	}
	out := rowsOf(len(l.items), outPairs)
	first := int32(0)
	if len(l.inPort) > 0 {
		first = 1
	}
	var queue, sources []int32
	for _, i := range byKey {
		if l.items[i].kind != inPortItem {
			l.items[i].layer = first
		}
		if in[i] == 0 {
			queue = append(queue, i)
			sources = append(sources, i)
		}
	}
	for head := 0; head < len(queue); head++ {
		v := queue[head]
		for _, p := range out.of(v) {
			to := outPairs[p][1]
			l.items[to].layer = max(l.items[to].layer, l.items[v].layer+1)
			if in[to]--; in[to] == 0 {
				queue = append(queue, to)
			}
		}
	}
	for _, v := range sources {
		lowest := int32(math.MaxInt32)
		for _, p := range out.of(v) {
			lowest = min(lowest, l.items[outPairs[p][1]].layer)
		}
		if l.items[v].kind != inPortItem && lowest < math.MaxInt32 {
			l.items[v].layer = lowest - 1
		}
	}
	l.spreadUnlinked(byKey, linked, first)
	return l.countLayers()
}

// spreadUnlinked arranges many items without links as a square, not as a row.
func (l *level) spreadUnlinked(byKey []int32, linked []bool, first int32) {
	var alone []int32
	for _, i := range byKey {
		if !linked[i] {
			alone = append(alone, i)
		}
	}
	columns := 6
	for columns*columns < len(alone) {
		columns *= 2
	}
	for n, i := range alone {
		l.items[i].layer = first + int32(n/columns)
	}
}

// countLayers returns the number of layers. The ports below, if there are any, are the last layer.
func (l *level) countLayers() (count int32) {
	for i := range l.items {
		if l.items[i].kind != outPortItem {
			count = max(count, l.items[i].layer+1)
		}
	}
	if len(l.outPort) == 0 {
		return count
	}
	for i := range l.items {
		if l.items[i].kind == outPortItem {
			l.items[i].layer = count
		}
	}
	return count + 1
}

// fillLayers puts the items into their layers, in canonical order.
func (l *level) fillLayers(count int32) {
	sizes := make([]int, count)
	for i := range l.items {
		sizes[l.items[i].layer]++
	}
	l.layers = make([][]int32, count)
	for i, n := range sizes {
		l.layers[i] = make([]int32, 0, n)
	}
	for _, i := range l.byKey() {
		layer := &l.layers[l.items[i].layer]
		*layer = append(*layer, i)
	}
	l.pos = make([]int32, len(l.items))
	for _, layer := range l.layers {
		l.number(layer)
	}
}

func (l *level) number(layer []int32) {
	for n, i := range layer {
		l.pos[i] = int32(n)
	}
}

package layout

import (
	"cmp"
	"slices"
)

// chain is the line that the links of one source share; links that lead back share a chain by target. It has a bend in each
// layer that it passes; a chain that leads back also has bends in the layers of its ends.
type chain struct {
	item, port int32 // its source, or the target of a chain that leads back
	back       bool
	top        int32 // layer of its first bend
	bend       int32 // item of the first bend; the other bends follow
	bends      int32
	links      []int32
	track      []int // by gap, from the gap above the first bend: its position, unless it is straight
}

// at returns the bend of the chain in a layer, if there is one.
func (c *chain) at(layer int32) (int32, bool) {
	return c.bend + layer - c.top, layer >= c.top && layer < c.top+c.bends
}

// lane is a link that runs beside the picture.
type lane struct {
	link       int32
	upper, low int32 // gaps below the source and above the target; between adjacent layers, the same gap
	x          int
	y          [2]int // tracks in the gap below the source and in the gap above the target
}

// makeChains makes the chains with their bends, short ones first, up to the bound of bends. The remaining links become lanes.
func (l *level) makeChains() {
	order := make([]int32, len(l.links))
	for i := range order {
		order[i] = int32(i)
	}
	// Links of one chain follow each other.
	compare := func(x, y int32) int {
		a, b := &l.links[x], &l.links[y]
		if a.back != b.back {
			if b.back {
				return -1
			}
			return 1
		}
		if a.back {
			return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.toPort, b.toPort))
		}
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.fromPort, b.fromPort), cmp.Compare(a.source, b.source))
	}
	slices.SortStableFunc(order, compare)
	for len(order) > 0 {
		n := 1
		for n < len(order) && compare(order[0], order[n]) == 0 {
			n++
		}
		l.chains = append(l.chains, l.chainOf(order[:n]))
		order = order[n:]
	}
	slices.SortStableFunc(l.chains, func(a, b chain) int { return cmp.Compare(a.bends, b.bends) })
	size := len(l.items) + len(l.links)
	room := max(6*size, min(20*size, 500_000))
	kept := l.chains[:0]
	for _, c := range l.chains {
		if room -= int(c.bends); room < 0 {
			l.makeLanes(c)
			continue
		}
		l.addBends(&c)
		for _, k := range c.links {
			l.links[k].chain, l.links[k].lane = int32(len(kept)), -1
		}
		kept = append(kept, c)
	}
	l.chains = kept
}

func (l *level) chainOf(links []int32) chain {
	k := &l.links[links[0]]
	c := chain{item: k.from, port: k.fromPort, back: k.back, links: links}
	lowest := int32(0)
	if k.back {
		c.item, c.port = k.to, k.toPort
		for _, i := range links {
			lowest = max(lowest, l.items[l.links[i].from].layer)
		}
		c.top = l.items[c.item].layer
		c.bends = lowest - c.top + 1
		return c
	}
	for _, i := range links {
		lowest = max(lowest, l.items[l.links[i].to].layer)
	}
	c.top = l.items[c.item].layer + 1
	c.bends = lowest - c.top
	return c
}

func (l *level) addBends(c *chain) {
	c.bend = int32(len(l.items))
	c.track = make([]int, c.bends+1)
	for n := range c.bends {
		l.add(item{kind: bendItem, key: l.items[c.item].key, layer: c.top + n})
	}
}

// makeLanes makes lanes of the links of a chain.
func (l *level) makeLanes(c chain) {
	for _, k := range c.links {
		link := &l.links[k]
		link.chain, link.lane = -1, int32(len(l.lanes))
		l.lanes = append(l.lanes, lane{link: k, upper: l.items[link.from].layer + 1, low: l.items[link.to].layer})
	}
}

// segment is the part of a line between an item and one in the next layer. upperAt and lowerAt are its ends, relative to the
// middles of the items.
type segment struct {
	upper, lower     int32
	upperAt, lowerAt int
	light            bool
}

// portAt returns the position of a port of an item, relative to the item's middle.
func (l *level) portAt(b *building, i, port int32) int {
	it := &l.items[i]
	if port < 0 || it.inner < 0 {
		return 0
	}
	in := b.levels[it.inner]
	return in.inset.Left + max(0, it.w-in.inset.Left-in.inset.Right-in.width)/2 + in.items[port].x - it.w/2
}

// makeSegments lists the segments, each once.
func (l *level) makeSegments(b *building) {
	for c := range l.chains {
		l.segmentsOf(b, &l.chains[c])
	}
	slices.SortFunc(l.segs, func(x, y segment) int {
		return cmp.Or(cmp.Compare(x.upper, y.upper), cmp.Compare(x.lower, y.lower), cmp.Compare(x.upperAt, y.upperAt),
			cmp.Compare(x.lowerAt, y.lowerAt), compareLight(x.light, y.light))
	})
	l.segs = slices.CompactFunc(l.segs, func(x, y segment) bool {
		y.light = x.light
		return x == y
	})
	down, up := make([][2]int32, len(l.segs)), make([][2]int32, len(l.segs))
	for i, s := range l.segs {
		down[i], up[i] = [2]int32{s.upper, s.lower}, [2]int32{s.lower, s.upper}
	}
	l.down, l.up = rowsOf(len(l.items), down), rowsOf(len(l.items), up)
}

func (l *level) segmentsOf(b *building, c *chain) {
	for n := int32(1); n < c.bends; n++ {
		l.segs = append(l.segs, segment{upper: c.bend + n - 1, lower: c.bend + n})
	}
	if c.back {
		return
	}
	start := l.portAt(b, c.item, c.port)
	if c.bends > 0 {
		l.segs = append(l.segs, segment{upper: c.item, lower: c.bend, upperAt: start})
	}
	for _, k := range c.links {
		link := &l.links[k]
		s := segment{upper: c.item, lower: link.to, upperAt: start, lowerAt: l.portAt(b, link.to, link.toPort), light: link.light}
		if bend, ok := c.at(l.items[link.to].layer - 1); ok {
			s.upper, s.upperAt = bend, 0
		}
		l.segs = append(l.segs, s)
	}
}

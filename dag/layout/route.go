package layout

// route sets the heights of layers and the tracks of lines.
func (l *level) route(b *building) {
	l.nets = make([][]net, len(l.layers)+1)
	for c := range l.chains {
		l.netsOf(b, &l.chains[c])
	}
	for i := range l.lanes {
		l.netsOfLane(b, &l.lanes[i], i)
	}
	y := 0
	l.layerTops, l.layerHeights = make([]int, len(l.layers)), make([]int, len(l.layers))
	for gap := range l.nets {
		y += l.setGap(b, gap, y)
		if gap < len(l.layers) {
			l.layerTops[gap] = y
			l.setRow(gap)
			y += l.layerHeights[gap]
		}
	}
	l.height = y
}

// setGap sets the places of the nets of a gap, and returns its height.
func (l *level) setGap(b *building, gap, top int) int {
	l.nets[gap] = mergeNets(l.nets[gap])
	count := setTracks(l.nets[gap])
	inner := gap > 0 && gap < len(l.layers)
	if count == 0 && !inner {
		return 0
	}
	height := max(b.space.Layers, b.space.Layers+(count-2)*b.space.Lines)
	first := top + (height-max(0, count-1)*b.space.Lines)/2
	for _, n := range l.nets[gap] {
		at := first + *n.track*b.space.Lines
		*n.track = at
		for _, track := range n.others {
			*track = at
		}
	}
	return height
}

// setRow places the items of a layer in its middle, or at its top if the layer has groups, which are high.
func (l *level) setRow(n int) {
	groups := false
	for _, i := range l.layers[n] {
		l.layerHeights[n] = max(l.layerHeights[n], l.items[i].h)
		groups = groups || l.items[i].kind == groupItem
	}
	for _, i := range l.layers[n] {
		it := &l.items[i]
		if it.y = l.layerTops[n]; !groups {
			it.y += (l.layerHeights[n] - it.h) / 2
		}
	}
}

func (l *level) startOf(b *building, k *link) int {
	return l.items[k.from].x + l.portAt(b, k.from, k.fromPort)
}
func (l *level) endOf(b *building, k *link) int { return l.items[k.to].x + l.portAt(b, k.to, k.toPort) }

// netsOf adds the nets of a chain, one for each gap that it passes.
func (l *level) netsOf(b *building, c *chain) {
	nets := make([]net, len(c.track))
	for n := range nets {
		net := &nets[n]
		net.track = &c.track[n]
		if n > 0 {
			net.tops = append(net.tops, l.items[c.bend+int32(n)-1].x)
		}
		if n < int(c.bends) {
			net.bottoms = append(net.bottoms, l.items[c.bend+int32(n)].x)
		}
	}
	for i, k := range c.links {
		link := &l.links[k]
		switch {
		case c.back:
			n := l.items[link.from].layer - c.top + 1
			nets[n].tops = append(nets[n].tops, l.startOf(b, link))
			if i == 0 {
				nets[0].bottoms = append(nets[0].bottoms, l.endOf(b, link))
			}
		default:
			n := l.items[link.to].layer - c.top
			nets[n].bottoms = append(nets[n].bottoms, l.endOf(b, link))
			if i == 0 {
				nets[0].tops = append(nets[0].tops, l.startOf(b, link))
			}
		}
	}
	for n := range nets {
		l.addNet(c.top+int32(n), nets[n])
	}
}

// lanesMax bounds the lanes beside each other.
const lanesMax = 64

func (l *level) netsOfLane(b *building, way *lane, number int) {
	if number < lanesMax {
		l.width += b.space.Lines
	}
	k := &l.links[way.link]
	way.x = l.width - 1
	start, end := l.startOf(b, k), l.endOf(b, k)
	if way.upper == way.low {
		l.addNet(way.upper, net{track: &way.y[0], tops: []int{start}, bottoms: []int{end}})
		return
	}
	l.addNet(way.upper, net{track: &way.y[0], tops: []int{start, way.x}})
	l.addNet(way.low, net{track: &way.y[1], bottoms: []int{end, way.x}})
}

func (p *Picture) piecesOf(edge int) []piece { return p.pieces[p.from[edge]:p.from[edge+1]] }

// Route returns the points of an edge's line, from below its first node to the top of its second: each point is beside or below
// the one before, or above it if the edge is reversed. An edge within a collapsed group has no points. The lines of one node begin
// together.
func (p *Picture) Route(edge int) []Point {
	var line []Point
	for _, piece := range p.piecesOf(edge) {
		line = p.levels[piece.level].draw(p, line, piece.link)
	}
	return p.turned(straightened(line))
}

// draw adds the points of a link to a line.
func (l *level) draw(p *Picture, line []Point, number int32) []Point {
	k := &l.links[number]
	from, to := &l.items[k.from], &l.items[k.to]
	point := func(x, y int) { line = append(line, Point{l.left + x, l.top + y}) }
	first, last := l.endsOf(p, number)
	line = append(line, first)
	start, end := first.X-l.left, last.X-l.left
	across := func(from, to, y int) {
		if from != to {
			point(from, y)
			point(to, y)
		}
	}
	switch {
	case k.chain < 0:
		way := &l.lanes[k.lane]
		if way.upper == way.low {
			across(start, end, way.y[0])
			break
		}
		across(start, way.x, way.y[0])
		across(way.x, end, way.y[1])
	case k.back:
		c := &l.chains[k.chain]
		x := start
		for n := from.layer - c.top + 1; n > 0; n-- {
			next := l.items[c.bend+n-1].x
			across(x, next, c.track[n])
			x = next
		}
		across(x, end, c.track[0])
	default:
		c := &l.chains[k.chain]
		x := start
		for n := range to.layer - c.top {
			next := l.items[c.bend+n].x
			across(x, next, c.track[n])
			x = next
		}
		across(x, end, c.track[to.layer-c.top])
	}
	return append(line, last)
}

// endsOf returns the first and the last point of a link.
func (l *level) endsOf(p *Picture, number int32) (first, last Point) {
	k := &l.links[number]
	from, to := &l.items[k.from], &l.items[k.to]
	first = Point{l.left + from.x + l.offset(p, k.from, k.fromPort), l.top + from.y + from.h}
	last = Point{l.left + to.x + l.offset(p, k.to, k.toPort), l.top + to.y}
	return first, last
}

// offset is portAt for placed boxes.
func (l *level) offset(p *Picture, i, port int32) int {
	if it := &l.items[i]; port >= 0 && it.inner >= 0 {
		in := p.levels[it.inner]
		return in.left + in.items[port].x - l.left - it.x
	}
	return 0
}

// straightened returns a line without the points between its turns.
func straightened(line []Point) []Point {
	out := line[:0]
	for _, p := range line {
		for n := len(out); n > 0; n-- {
			if last := out[n-1]; last == p {
				out = out[:n-1]
				continue
			}
			if n < 2 || !between(out[n-2], out[n-1], p) {
				break
			}
			out = out[:n-1]
		}
		out = append(out, p)
	}
	return out
}

// between reports whether b is on the straight line from a to c along an axis.
func between(a, b, c Point) bool {
	return a.X == b.X && b.X == c.X && (a.Y <= b.Y) == (b.Y <= c.Y) || a.Y == b.Y && b.Y == c.Y && (a.X <= b.X) == (b.X <= c.X)
}

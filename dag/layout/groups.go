package layout

import (
	"cmp"
	"slices"
)

// building is the state of one Lay. It numbers nodes in their canonical order.
type building struct {
	g      *Graph
	space  Spacing
	nodes  []int32 // by number: the node
	number []int32 // by node
	shown  []int32 // by group: the outermost collapsed group that is or contains it; -1: none
	levels []*level
	level  []int32 // by group: its level; -1: no content is shown
	pieces []piece
	from   []int32
	work   int
}

// level is the content of a group, or all content outside groups. It has one item for each node and group.
type level struct {
	group   int32 // -1: no group
	outer   int32 // the level around it
	within  int32 // its item in the level around it
	items   []item
	links   []link
	inPort  map[int32]int32 // by source: port of its lines from outside
	outPort map[int32]int32 // by source: port of its lines to outside

	width, height int
	left, top     int // position of the content in the picture
	inset         Inset

	chains []chain
	lanes  []lane
	layers [][]int32 // items, from left to right
	segs   []segment
	up     rows    // segments by lower item
	down   rows    // segments by upper item
	pos    []int32 // by item: its place in its layer

	layerTops    []int
	layerHeights []int
	nets         [][]net // by gap; gap i is above layer i
	crossings    int
	work         int
}

// kind is the kind of an item.
type kind uint8

const (
	nodeItem kind = iota
	groupItem
	inPortItem
	outPortItem
	bendItem
)

// item is an element of a layer.
type item struct {
	kind  kind
	of    int32 // node number, group, or source of a port
	key   int32 // its canonical place
	layer int32
	inner int32 // level of a group's content; -1: none
	w, h  int
	x, y  int // middle of the upper side
}

// link is an edge, or a part of an edge, between two items of a level. Ports are items of inner levels.
type link struct {
	source   int32 // node number, or ^group of a collapsed group: lines of one source share their chain
	from, to int32
	fromPort int32 // -1: the middle
	toPort   int32
	light    bool
	back     bool  // it closes a cycle
	chain    int32 // its chain; -1: it has a lane
	lane     int32
}

// piece is the part of an edge in one level.
type piece struct{ level, link int32 }

func newBuilding(g *Graph) *building {
	b := &building{g: g, space: g.Spacing.withDefaults(), nodes: canonical(g.Nodes), number: make([]int32, len(g.Nodes))}
	for n, v := range b.nodes {
		b.number[v] = int32(n)
	}
	b.shown = make([]int32, len(g.Groups))
	for i := range g.Groups {
		b.shown[i] = -1
		for at := i; at >= 0; at = g.Groups[at].Parent {
			if g.Groups[at].Collapsed {
				b.shown[i] = int32(at)
			}
		}
	}
	return b
}

// makeLevels makes the levels, outer ones first, with their items and links.
func (b *building) makeLevels() {
	b.levels = []*level{{group: -1, outer: -1, inPort: map[int32]int32{}, outPort: map[int32]int32{}}}
	b.level = make([]int32, len(b.g.Groups))
	keys := b.groupKeys()
	for _, i := range b.outermostFirst() {
		b.level[i] = -1
		outer := b.levelOf(b.g.Groups[i].Parent)
		if outer < 0 || b.shown[i] >= 0 && b.shown[i] != i {
			continue
		}
		group := &b.g.Groups[i]
		box := b.g.Direction.turned(Box{Width: group.Width, Height: group.Height})
		within := b.levels[outer].add(item{kind: groupItem, of: i, key: keys[i], w: box.Width, h: box.Height})
		if b.shown[i] == i {
			continue
		}
		b.level[i] = int32(len(b.levels))
		b.levels[outer].items[within].inner = b.level[i]
		b.levels = append(b.levels, &level{group: i, outer: outer, within: within, inset: b.g.Direction.inset(group.Inset),
			inPort: map[int32]int32{}, outPort: map[int32]int32{}})
	}
	at := b.addNodes()
	b.addEdges(at)
}

func (d Direction) inset(i Inset) Inset {
	if d == Right {
		return Inset{i.Top, i.Left, i.Bottom, i.Right}
	}
	return i
}

func (b *building) levelOf(group int) int32 {
	if group < 0 {
		return 0
	}
	return b.level[group]
}

// groupKeys returns the canonical place of each group, which is the place of its first node.
func (b *building) groupKeys() []int32 {
	keys := make([]int32, len(b.g.Groups))
	for i := range keys {
		keys[i] = int32(len(b.nodes) + i)
	}
	for n, v := range b.nodes {
		for at := b.g.Nodes[v].Group; at >= 0; at = b.g.Groups[at].Parent {
			keys[at] = min(keys[at], int32(n))
		}
	}
	return keys
}

func (b *building) outermostFirst() []int32 {
	order, depth := make([]int32, len(b.g.Groups)), make([]int, len(b.g.Groups))
	for i := range order {
		order[i] = int32(i)
		for at := i; at >= 0; at = b.g.Groups[at].Parent {
			depth[i]++
		}
	}
	slices.SortStableFunc(order, func(x, y int32) int { return cmp.Compare(depth[x], depth[y]) })
	return order
}

func (l *level) add(it item) int32 {
	it.inner = -1
	l.items = append(l.items, it)
	return int32(len(l.items) - 1)
}

// end is an end of an edge: an item of a level, and the source of the line.
type end struct {
	level, item int32
	source      int32
}

// addNodes makes the items of the nodes. It returns the item of each node; nodes in a collapsed group have its item.
func (b *building) addNodes() []end {
	at := make([]end, len(b.nodes))
	items := make([]int32, len(b.g.Groups)) // of collapsed groups
	for _, l := range b.levels {
		for k := range l.items {
			items[l.items[k].of] = int32(k)
		}
	}
	for n, v := range b.nodes {
		node := &b.g.Nodes[v]
		if node.Group >= 0 && b.shown[node.Group] >= 0 {
			group := b.shown[node.Group]
			at[n] = end{b.levelOf(b.g.Groups[group].Parent), items[group], ^group}
			continue
		}
		l := b.levelOf(node.Group)
		box := b.g.Direction.turned(Box{Width: node.Width, Height: node.Height})
		at[n] = end{l, b.levels[l].add(item{kind: nodeItem, of: int32(n), key: int32(n), w: box.Width, h: box.Height}), int32(n)}
	}
	return at
}

// addEdges cuts the edges into pieces, one for each level that they pass: out of the groups around the first node, across, and into
// those around the second.
func (b *building) addEdges(at []end) {
	order := make([]int32, len(b.g.Edges))
	for i := range order {
		order[i] = int32(i)
	}
	ends := func(i int32) (from, to int32) { return b.number[b.g.Edges[i].From], b.number[b.g.Edges[i].To] }
	slices.SortStableFunc(order, func(x, y int32) int {
		xf, xt := ends(x)
		yf, yt := ends(y)
		return cmp.Or(cmp.Compare(xf, yf), cmp.Compare(xt, yt), compareLight(b.g.Edges[x].Light, b.g.Edges[y].Light))
	})
	cut := make([][]piece, len(b.g.Edges))
	total := 0
	for _, i := range order {
		from, to := ends(i)
		cut[i] = b.cut(at[from], at[to], b.g.Edges[i].Light)
		total += len(cut[i])
	}
	b.from = make([]int32, 0, len(cut)+1)
	b.pieces = make([]piece, 0, total)
	for _, pieces := range cut {
		b.from = append(b.from, int32(len(b.pieces)))
		b.pieces = append(b.pieces, pieces...)
	}
	b.from = append(b.from, int32(len(b.pieces)))
}

func compareLight(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func (b *building) cut(from, to end, light bool) []piece {
	if from.source < 0 && from == to {
		return nil // within a collapsed group
	}
	var out, in []piece
	fromPort, toPort := int32(-1), int32(-1)
	source := from.source
	for from.level != to.level {
		// Levels are numbered from outside to inside, so the higher one does not contain the other.
		if from.level > to.level {
			l := b.levels[from.level]
			port := l.port(l.outPort, outPortItem, source)
			out = append(out, piece{from.level, l.link(link{light: light, source: source, from: from.item, fromPort: fromPort, to: port, toPort: -1})})
			from.level, from.item, fromPort = l.outer, l.within, port
			continue
		}
		l := b.levels[to.level]
		port := l.port(l.inPort, inPortItem, source)
		in = append(in, piece{to.level, l.link(link{light: light, source: source, from: port, fromPort: -1, to: to.item, toPort: toPort})})
		to.level, to.item, toPort = l.outer, l.within, port
	}
	l := b.levels[from.level]
	out = append(out, piece{from.level, l.link(link{light: light, source: source, from: from.item, fromPort: fromPort, to: to.item, toPort: toPort})})
	slices.Reverse(in)
	return append(out, in...)
}

func (l *level) link(k link) int32 {
	l.links = append(l.links, k)
	return int32(len(l.links) - 1)
}

// port returns the port of a source, creating it if necessary.
func (l *level) port(ports map[int32]int32, kind kind, source int32) int32 {
	at, ok := ports[source]
	if !ok {
		at = l.add(item{kind: kind, of: source, key: source})
		ports[source] = at
	}
	return at
}

// picture collects the boxes and lines.
func (b *building) picture() *Picture {
	p := &Picture{
		Nodes: make([]Box, len(b.nodes)), Groups: make([]Box, len(b.g.Groups)), Reversed: make([]bool, len(b.g.Edges)),
		direction: b.g.Direction, levels: b.levels, pieces: b.pieces, from: b.from, Work: b.work,
	}
	whole := b.g.Direction.turned(Box{Width: b.levels[0].width, Height: b.levels[0].height})
	p.Width, p.Height = whole.Width, whole.Height
	for _, l := range b.levels {
		if l.outer >= 0 {
			around := b.levels[l.outer]
			it := &around.items[l.within]
			l.left = around.left + it.x - it.w/2 + l.inset.Left + max(0, it.w-l.inset.Left-l.inset.Right-l.width)/2
			l.top = around.top + it.y + l.inset.Top
		}
		p.Crossings += l.crossings
		p.Work += l.work
		for i := range l.items {
			it := &l.items[i]
			box := b.g.Direction.turned(Box{l.left + it.x - it.w/2, l.top + it.y, it.w, it.h})
			switch it.kind {
			case nodeItem:
				p.Nodes[b.nodes[it.of]] = box
			case groupItem:
				p.Groups[it.of] = box
			case bendItem:
				p.Bends++
			}
		}
	}
	for i, group := range b.shown {
		if group >= 0 {
			p.Groups[i] = p.Groups[group]
		}
	}
	for v, n := range b.g.Nodes {
		if n.Group >= 0 && b.shown[n.Group] >= 0 {
			p.Nodes[v] = p.Groups[n.Group]
		}
	}
	for e := range b.g.Edges {
		for _, piece := range p.piecesOf(e) {
			if p.levels[piece.level].links[piece.link].back {
				p.Reversed[e] = true
			}
		}
	}
	return p
}

// Package svg draws a graph as a standalone SVG: it has no script, fetches nothing, and is light or dark like the reader's system. It
// draws the [dag.Drawing] that package dag writes as Mermaid and DOT; package layout computes the positions. Statuses, which are
// classes of nodes, differ in the shape of a mark and in colour; a legend counts them. Keys, labels and conditions may be any text:
// it is escaped, invisible characters and those that change the direction of text are replaced by their numbers, and a text that is
// too long is cut, with the whole text in the title that readers show under the pointer.
package svg

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/sluiceflow/sluice/dag"
	"github.com/sluiceflow/sluice/dag/layout"
)

// Write writes a drawing of the graph. It does not use the styles of the drawing's classes: classes that are statuses have
// marks, and a few others have boxes of their own.
func Write(w io.Writer, g *dag.Graph, d dag.Drawing) error {
	p, err := newPicture(g, d)
	if err != nil {
		return fmt.Errorf("draw as SVG: %w", err)
	}
	// A bufio.Writer keeps its first error, so one check at the end is enough.
	out := &writer{bufio.NewWriter(w), p}
	out.all()
	return out.Flush()
}

// Sizes, in points.
const (
	margin     = 24
	headHeight = 44
	legendRow  = 24
	lineHeight = 15
	leastWidth = 280
)

// picture is a graph with the positions of all that is drawn.
type picture struct {
	title  string
	right  bool // edges lead to the right
	nodes  []*node
	lines  []*line
	frames []*frame
	where  *layout.Picture
	legend [][]entry
	width  int
	height int
}

// frame is a group of nodes.
type frame struct {
	label, whole string
	parent       int
	depth        int
	width        int
}

// line is an edge, or half of one that has a label.
type line struct {
	from, to int
	class    string // data, made, wet
	open     bool   // it leads to a label and has no head
	light    bool   // it is informational: no step waits for it
}

func newPicture(g *dag.Graph, d dag.Drawing) (*picture, error) {
	p := &picture{title: d.Title}
	in := &layout.Graph{}
	if p.right = d.Direction == dag.LeftRight; p.right {
		in.Direction = layout.Right
	}
	index := p.addNodes(g, d)
	p.addLines(g, d, index)
	for i, n := range p.nodes {
		in.Nodes = append(in.Nodes, layout.Node{ID: fmt.Sprint(i), Rank: n.rank, Width: n.width, Height: n.height, Group: n.frame})
	}
	for _, l := range p.lines {
		in.Edges = append(in.Edges, layout.Edge{From: l.from, To: l.to, Light: l.light})
	}
	for _, f := range p.frames {
		in.Groups = append(in.Groups, layout.Group{Parent: f.parent, Width: f.width, Height: 60,
			Inset: layout.Inset{Left: 14, Top: 32, Right: 14, Bottom: 16}})
	}
	var err error
	if p.where, err = layout.Lay(in); err != nil {
		return nil, err
	}
	p.width = max(leastWidth, p.where.Width+2*margin)
	p.setLegend()
	p.height = headHeight + p.where.Height + margin + len(p.legend)*legendRow + margin
	return p, nil
}

// addNodes adds the nodes that are not hidden, with their frames, and returns the index of each.
func (p *picture) addNodes(g *dag.Graph, d dag.Drawing) []int {
	index := make([]int, g.NodeCount())
	frames := map[string]int{}
	for v, key := range g.Nodes() {
		if d.Hidden != nil && d.Hidden(v) {
			continue
		}
		var look dag.Look
		if d.Node != nil {
			look = d.Node(v)
		}
		if look.Label == "" {
			look.Label = key
		}
		n := newNode(look)
		n.rank, n.frame = int(v), -1
		path := ""
		for depth, name := range look.Group[:min(len(look.Group), layout.DepthMax)] {
			path += fmt.Sprintf("%d:%s", len(name), name)
			at, ok := frames[path]
			if !ok {
				at = len(p.frames)
				frames[path] = at
				label := cutEnd(visible(name), 240, small)
				p.frames = append(p.frames, &frame{label, visible(name), n.frame, depth, widthOf(label, small) + 32})
			}
			n.frame = at
		}
		index[v] = len(p.nodes)
		p.nodes = append(p.nodes, n)
	}
	return index
}

// addLines adds the edges. The label of an edge is a node on the edge, so that it has room; edges from one node share equal
// labels.
func (p *picture) addLines(g *dag.Graph, d dag.Drawing, index []int) {
	edges := g.Edges()
	if d.Hidden != nil {
		edges = g.Bypass(d.Hidden)
	}
	labels := map[string]int{}
	for e := range edges {
		from, to := index[e.From], index[e.To]
		l := &line{from: from, to: to, class: p.classOf(from, e.Attrs.Type), light: e.Attrs.Type == dag.Data}
		if label := strings.TrimSpace(e.Attrs.Label()); e.Attrs.Type == dag.Conditional && label != "" {
			place := fmt.Sprint(from, p.common(from, to), label)
			at, ok := labels[place]
			if !ok {
				at = len(p.nodes)
				labels[place] = at
				n := newLabel(label)
				n.rank, n.frame = p.nodes[to].rank, p.common(from, to)
				p.nodes = append(p.nodes, n)
				p.lines = append(p.lines, &line{from: from, to: at, class: l.class, open: true})
			}
			l.from = at
		}
		p.lines = append(p.lines, l)
	}
}

// common returns the innermost frame around two nodes.
func (p *picture) common(a, b int) int {
	x, y := p.nodes[a].frame, p.nodes[b].frame
	for x != y {
		if y < 0 || x >= 0 && p.frames[x].depth >= p.frames[y].depth {
			x = p.frames[x].parent
			continue
		}
		y = p.frames[y].parent
	}
	return x
}

// classOf returns the class of an edge's line. The line is wet once its first node has completed.
func (p *picture) classOf(from int, t dag.EdgeType) string {
	class := map[dag.EdgeType]string{dag.Data: "data", dag.Triggered: "made"}[t]
	if p.nodes[from].class == "completed" {
		class = strings.TrimSpace(class + " wet")
	}
	return class
}

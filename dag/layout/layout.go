package layout

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Direction is the direction of edges.
type Direction uint8

// Directions.
const (
	Down Direction = iota
	Right
)

// Graph is a graph to lay out.
type Graph struct {
	// The nodes, edges and groups to lay out. Edges and nodes refer to nodes and groups by index.
	Nodes  []Node
	Edges  []Edge
	Groups []Group

	Direction    Direction // default: Down
	RefuseCycles bool      // default: edges that close cycles are reversed
	Spacing      Spacing   // zero members have defaults
}

// Node is a box. Of two nodes that could change places, the one with the lower Rank, then the lower ID, comes first.
type Node struct {
	ID            string // unique among the nodes
	Rank          int    // the lower one comes first
	Width, Height int    // of the box
	Group         int    // index of the group that it is in; -1: none
}

// Edge leads from one node to another, by index. A light edge does not pull its ends together, so that other edges are
// straighter.
type Edge struct {
	From, To int  // nodes
	Light    bool // it does not pull
}

// Group is a frame around nodes and other groups. A collapsed group is a box of the given size without content; for any other
// group, the size, insets included, is the minimum.
type Group struct {
	Parent        int   // index of the group that it is in; -1: none
	Collapsed     bool  // its content is not shown
	Width, Height int   // of the box; the minimum if it has content
	Inset         Inset // between the frame and its content
}

// Inset is the room at each side.
type Inset struct{ Left, Top, Right, Bottom int }

// Spacing has the least distances.
type Spacing struct {
	Nodes  int // of boxes in one layer; default 12
	Layers int // of layers; default 22
	Lines  int // of lines that run beside each other; default 8
}

// Bounds of a graph.
const (
	SizeMax  = 1 << 20 // of a width, a height, an inset or a distance
	DepthMax = 64      // of groups in groups
)

// Point is a point of a picture; y grows downwards.
type Point struct{ X, Y int }

// Box is a rectangle, by its upper left corner and its size.
type Box struct{ X, Y, Width, Height int }

// Picture is the layout of a graph. Its upper left corner is (0, 0).
type Picture struct {
	Width, Height int    // of all
	Nodes         []Box  // by node; a node in a collapsed group has the group's box
	Groups        []Box  // by group; a group in a collapsed group has that group's box
	Reversed      []bool // by edge: it is drawn against the direction
	Crossings     int    // of edges between adjacent layers
	Bends         int    // of the chains of long edges
	Work          int    // rounds of the inner loops: a measure of the cost without a clock

	direction Direction
	levels    []*level
	pieces    []piece
	from      []int32 // by edge, with one extra entry: its first piece
}

// Lay lays a graph out. It returns an error if the graph is not valid.
func Lay(g *Graph) (*Picture, error) {
	if err := check(g); err != nil {
		return nil, err
	}
	b := newBuilding(g)
	if g.RefuseCycles {
		if err := b.refuseCycles(); err != nil {
			return nil, err
		}
	}
	b.makeLevels()
	for i := len(b.levels) - 1; i >= 0; i-- { // inner groups first
		b.levels[i].lay(b)
	}
	return b.picture(), nil
}

func check(g *Graph) error {
	bad := func(n int) bool { return n < 0 || n > SizeMax }
	s := g.Spacing
	if bad(s.Nodes) || bad(s.Layers) || bad(s.Lines) {
		return fmt.Errorf("layout: a distance in %+v is not in 0..%d", s, SizeMax)
	}
	for i, n := range g.Nodes {
		if bad(n.Width) || bad(n.Height) {
			return fmt.Errorf("layout: node %q: the size %d × %d is not in 0..%d", n.ID, n.Width, n.Height, SizeMax)
		}
		if n.Group < -1 || n.Group >= len(g.Groups) {
			return fmt.Errorf("layout: node %q: there is no group %d", g.Nodes[i].ID, n.Group)
		}
	}
	for i, e := range g.Edges {
		if min(e.From, e.To) < 0 || max(e.From, e.To) >= len(g.Nodes) {
			return fmt.Errorf("layout: edge %d: there is no node %d or no node %d", i, e.From, e.To)
		}
	}
	return errors.Join(checkIDs(g), checkGroups(g))
}

func checkIDs(g *Graph) error {
	ids := make(map[string]bool, len(g.Nodes))
	for _, n := range g.Nodes {
		if ids[n.ID] {
			return fmt.Errorf("layout: two nodes have the id %q", n.ID)
		}
		ids[n.ID] = true
	}
	return nil
}

func checkGroups(g *Graph) error {
	for i, group := range g.Groups {
		for _, n := range [...]int{group.Width, group.Height, group.Inset.Left, group.Inset.Top, group.Inset.Right, group.Inset.Bottom} {
			if n < 0 || n > SizeMax {
				return fmt.Errorf("layout: group %d: a size or inset of %d is not in 0..%d", i, n, SizeMax)
			}
		}
		if group.Parent < -1 || group.Parent >= len(g.Groups) {
			return fmt.Errorf("layout: group %d: there is no group %d", i, group.Parent)
		}
	}
	for i := range g.Groups {
		depth := 0
		for at := i; at >= 0; at = g.Groups[at].Parent {
			if depth++; depth > DepthMax {
				return fmt.Errorf("layout: group %d is in itself, or in more than %d groups", i, DepthMax)
			}
		}
	}
	return nil
}

// canonical returns the nodes by rank, then by id.
func canonical(nodes []Node) []int32 {
	order := make([]int32, len(nodes))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := &nodes[a], &nodes[b]
		return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(x.ID, y.ID))
	})
	return order
}

func (s Spacing) withDefaults() Spacing {
	return Spacing{Nodes: cmp.Or(s.Nodes, 12), Layers: cmp.Or(s.Layers, 22), Lines: cmp.Or(s.Lines, 8)}
}

// turned swaps the axes of a box if the picture goes to the right.
func (d Direction) turned(b Box) Box {
	if d == Right {
		return Box{b.Y, b.X, b.Height, b.Width}
	}
	return b
}

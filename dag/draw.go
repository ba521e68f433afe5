package dag

import (
	"fmt"
	"regexp"
	"slices"
)

// Direction is the direction of a drawing's edges.
type Direction uint8

// Directions.
const (
	TopDown Direction = iota
	LeftRight
)

// Shape is the outline of a node.
type Shape uint8

// Shapes.
const (
	Box     Shape = iota // a step
	Diamond              // a decision
	Stack                // one node that represents many
	Dot                  // a join without a label
)

// Look describes how one node is drawn.
type Look struct {
	// Label is the text in the node; lines are separated by "\n". Default: the node's key.
	Label string
	// Class is a name in Drawing.Classes, such as a status. It appears in the output, so a style sheet can use it too.
	// Default: no class.
	Class string
	// Shape is the outline. Default: Box.
	Shape Shape
	// Group is the path of frames around the node, outermost first. Nodes with a common beginning share those frames.
	// Default: no frame.
	Group []string
}

// Style describes how the nodes of a class are drawn. Colours are "#rrggbb" or plain names; an empty one is not set.
type Style struct {
	Fill, Line, Text string // colours of the area, the outline and the label
	Dashed           bool   // the outline
}

// Drawing holds the options of WriteDOT and WriteMermaid. The zero value draws all nodes with their
// keys, top down.
type Drawing struct {
	// Title is written above the drawing. Default: no title.
	Title string
	// Direction is the direction of edges. Default: TopDown.
	Direction Direction
	// Node returns the look of a node and is called once for each that is drawn, in order of insertion. A live view
	// draws again with other classes. Default: the zero Look for every node.
	Node func(id int32) Look
	// Classes are the styles by name. Unused styles are left out.
	Classes map[string]Style
	// Hidden nodes are not drawn; edges lead around them as described at Graph.Bypass. Default: nothing is hidden.
	Hidden func(id int32) bool
}

// Names and colours are written unquoted, so they must not contain delimiters.
var (
	classPattern  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
	colourPattern = regexp.MustCompile(`^(#[0-9A-Fa-f]{6}|[A-Za-z]*)$`)
)

// frame is a group with its content, in order of first appearance.
type frame struct {
	label  string
	number int
	nodes  []int32
	frames []*frame
	byName map[string]*frame
}

// layout is a drawing applied to a graph, for both formats.
type layout struct {
	g       *Graph
	d       Drawing
	looks   []Look // by node
	root    *frame
	frames  int
	classes []string // in use and with a style, sorted
}

// layout collects the look of every node, sorts nodes into frames and checks all text that is written unquoted. It precedes the
// first write.
func (g *Graph) layout(d Drawing) (*layout, error) {
	l := &layout{g: g, d: d, looks: make([]Look, g.NodeCount()), root: &frame{}}
	for v, key := range g.Nodes() {
		if d.Hidden != nil && d.Hidden(v) {
			continue
		}
		var look Look
		if d.Node != nil {
			look = d.Node(v)
		}
		if look.Label == "" {
			look.Label = key
		}
		if look.Class != "" && !classPattern.MatchString(look.Class) {
			return nil, fmt.Errorf("draw node %q: bad class %q", key, look.Class)
		}
		if _, ok := d.Classes[look.Class]; ok {
			l.classes = append(l.classes, look.Class)
		}
		l.looks[v] = look
		f := l.frame(look.Group)
		f.nodes = append(f.nodes, v)
	}
	slices.Sort(l.classes)
	l.classes = slices.Compact(l.classes)
	return l, l.checkStyles()
}

func (l *layout) checkStyles() error {
	for _, name := range l.classes {
		style := l.d.Classes[name]
		for _, colour := range [...]string{style.Fill, style.Line, style.Text} {
			if !colourPattern.MatchString(colour) {
				return fmt.Errorf("draw class %q: bad colour %q", name, colour)
			}
		}
	}
	return nil
}

// frame returns the frame at the end of a path, creating it if necessary.
func (l *layout) frame(path []string) *frame {
	f := l.root
	for _, name := range path {
		inner, ok := f.byName[name]
		if !ok {
			l.frames++
			inner = &frame{label: name, number: l.frames}
			if f.byName == nil {
				f.byName = map[string]*frame{}
			}
			f.byName[name] = inner
			f.frames = append(f.frames, inner)
		}
		f = inner
	}
	return f
}

// edges yields the edges to draw.
func (l *layout) edges(yield func(Edge) bool) {
	if l.d.Hidden != nil {
		l.g.Bypass(l.d.Hidden)(yield)
		return
	}
	l.g.Edges()(yield)
}

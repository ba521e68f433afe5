package svg

import (
	"strings"

	"github.com/sluiceflow/sluice/dag"
)

// node is a node of the graph, or the label of an edge.
type node struct {
	shape         shape
	class         string
	name          string   // cut
	notes         []string // cut
	whole         string   // uncut text
	rank, frame   int
	width, height int
}

// shape is the outline of a node.
type shape uint8

const (
	box   shape = iota
	stack       // a box with another one below
	gate        // a conditional
	dot
	label // of an edge
)

const (
	nodeMin, nodeMax = 160, 240
	markRoom         = 34 // to the left of a text with a mark
	textRoom         = 12 // to the left and right of a text without a mark
	notesMax         = 4
)

func newNode(look dag.Look) *node {
	lines := strings.Split(visible(look.Label), "\n")
	n := &node{class: look.Class, whole: strings.Join(lines, "\n")}
	switch look.Shape {
	case dag.Dot:
		n.shape, n.width, n.height = dot, 8, 8
		return n
	case dag.Diamond:
		n.shape = gate
	case dag.Stack:
		n.shape = stack
	}
	if look.Class == "event" || look.Class == "effect" {
		lines = append(lines, look.Class)
	}
	left := textRoom
	if n.mark() != "" {
		left = markRoom
	}
	room := nodeMax - left - textRoom
	n.name = cutMiddle(lines[0], room, n.face())
	width := widthOf(n.name, n.face())
	for i, note := range lines[1:] {
		if i == notesMax {
			n.notes[i-1] = cutEnd(n.notes[i-1]+" …", room, small)
			break
		}
		note = cutEnd(note, room, small)
		n.notes = append(n.notes, note)
		width = max(width, widthOf(note, small))
	}
	least := nodeMin
	if n.shape == gate {
		least = 0
	}
	n.width = max(least, left+width+textRoom)
	n.height = 40 + max(0, len(n.notes)-1)*lineHeight
	if n.shape == gate {
		n.height = max(28, 16+(len(n.notes)+1)*lineHeight)
	}
	if n.shape == stack {
		n.height += stackUnder
	}
	return n
}

// stackUnder is the visible part of the lower box of a stack.
const stackUnder = 4

func newLabel(text string) *node {
	whole := visible(text)
	n := &node{shape: label, name: cutEnd(strings.ReplaceAll(whole, "\n", " "), 220, code), whole: whole, height: 18}
	n.width = widthOf(n.name, code) + 12
	return n
}

// face returns the face of the name.
func (n *node) face() face {
	if n.shape == gate || n.shape == label {
		return code
	}
	return middle
}

// mark returns the name of the mark that a node has; "": none.
func (n *node) mark() string {
	switch {
	case n.shape == gate || n.class == "gate":
		return "gate"
	case marks[n.class] != "":
		return n.class
	}
	return ""
}

package dag

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteDOT writes a drawing of the graph in the DOT language of Graphviz. Nodes are named n0, n1, … by id; guards label
// their edges, data edges are dotted and edges for observers dashed. Any text may be in keys, labels and conditions.
// The error is w's, or names the bad class or colour of the drawing; then nothing is written.
func (g *Graph) WriteDOT(w io.Writer, d Drawing) error {
	l, err := g.layout(d)
	if err != nil {
		return err
	}
	// A bufio.Writer keeps its first error, so one check at the end is enough.
	out := dotWriter{bufio.NewWriter(w), l}
	out.WriteString("digraph {\n")
	if d.Title != "" {
		fmt.Fprintf(out, "  label=%s; labelloc=t;\n", dotQuote(d.Title))
	}
	if d.Direction == LeftRight {
		out.WriteString("  rankdir=LR;\n")
	}
	out.WriteString("  node [shape=box, style=\"rounded,filled\", fillcolor=white];\n")
	out.frame(l.root, "  ")
	for e := range l.edges {
		out.edge(e)
	}
	out.WriteString("}\n")
	return out.Flush()
}

type dotWriter struct {
	*bufio.Writer
	l *layout
}

// frame writes nodes before inner frames. DOT draws a subgraph as a frame only if its name begins with "cluster".
func (w dotWriter) frame(f *frame, indent string) {
	for _, v := range f.nodes {
		w.node(v, indent)
	}
	for _, inner := range f.frames {
		fmt.Fprintf(w, "%ssubgraph cluster_%d {\n", indent, inner.number)
		fmt.Fprintf(w, "%s  label=%s;\n", indent, dotQuote(inner.label))
		w.frame(inner, indent+"  ")
		fmt.Fprintf(w, "%s}\n", indent)
	}
}

func (w dotWriter) node(v int32, indent string) {
	look := w.l.looks[v]
	fmt.Fprintf(w, "%sn%d [label=%s", indent, v, dotQuote(look.Label))
	switch look.Shape {
	case Diamond:
		w.WriteString(", shape=diamond, style=filled")
	case Stack:
		w.WriteString(", shape=box3d, style=filled")
	case Dot:
		w.WriteString(", shape=point")
	}
	if look.Class != "" {
		fmt.Fprintf(w, ", class=%q", look.Class)
		w.style(look, w.l.d.Classes[look.Class])
	}
	w.WriteString("];\n")
}

func (w dotWriter) style(look Look, s Style) {
	for _, attribute := range [...][2]string{{"fillcolor", s.Fill}, {"color", s.Line}, {"fontcolor", s.Text}} {
		if attribute[1] != "" {
			fmt.Fprintf(w, ", %s=%q", attribute[0], attribute[1])
		}
	}
	if !s.Dashed {
		return
	}
	// A later style replaces the earlier one, so the style of the shape is repeated.
	if look.Shape == Box {
		w.WriteString(`, style="rounded,filled,dashed"`)
		return
	}
	w.WriteString(`, style="filled,dashed"`)
}

func (w dotWriter) edge(e Edge) {
	fmt.Fprintf(w, "  n%d -> n%d", e.From, e.To)
	switch e.Attrs.Type {
	case Conditional:
		fmt.Fprintf(w, " [label=%s]", dotQuote(e.Attrs.Label()))
	case Data:
		w.WriteString(" [style=dotted]")
	case DependsOn:
		w.WriteString(" [style=dashed]")
	}
	w.WriteString(";\n")
}

// dotEscapes escapes the characters with a special meaning in a double-quoted string. Backslashes come first: "\N" in a
// label would become the node's name, and one at the end would escape the quote.
var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", "", "\x00", "")

func dotQuote(text string) string { return `"` + dotEscapes.Replace(text) + `"` }

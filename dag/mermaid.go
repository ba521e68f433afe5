package dag

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteMermaid writes a drawing of the graph as a Mermaid flowchart. Nodes are named n0, n1, … by id; guards label their
// edges, data edges and edges for observers are dotted. Any text may be in keys, labels and conditions. The error is
// w's, or names the bad class or colour of the drawing; then nothing is written.
func (g *Graph) WriteMermaid(w io.Writer, d Drawing) error {
	l, err := g.layout(d)
	if err != nil {
		return err
	}
	// A bufio.Writer keeps its first error, so one check at the end is enough.
	out := mermaidWriter{bufio.NewWriter(w), l}
	if d.Title != "" {
		// The title is YAML, where a JSON string is a string and entities have no meaning.
		fmt.Fprintf(out, "---\ntitle: %s\n---\n", appendString(nil, d.Title))
	}
	direction := "TB"
	if d.Direction == LeftRight {
		direction = "LR"
	}
	fmt.Fprintf(out, "flowchart %s\n", direction)
	out.frame(l.root, "  ")
	for e := range l.edges {
		out.edge(e)
	}
	for _, class := range l.classes {
		out.class(class, d.Classes[class])
	}
	return out.Flush()
}

type mermaidWriter struct {
	*bufio.Writer
	l *layout
}

// frame writes nodes before inner frames. Frames are named by number, because a label may be any text, even "end".
func (w mermaidWriter) frame(f *frame, indent string) {
	for _, v := range f.nodes {
		w.node(v, indent)
	}
	for _, inner := range f.frames {
		fmt.Fprintf(w, "%ssubgraph g%d[%s]\n", indent, inner.number, mermaidQuote(inner.label))
		w.frame(inner, indent+"  ")
		fmt.Fprintf(w, "%send\n", indent)
	}
}

// mermaidShapes are the brackets around a label.
var mermaidShapes = [...][2]string{Box: {"[", "]"}, Diamond: {"{", "}"}, Stack: {"[[", "]]"}, Dot: {"((", "))"}}

func (w mermaidWriter) node(v int32, indent string) {
	look := w.l.looks[v]
	brackets := mermaidShapes[look.Shape]
	label := mermaidQuote(look.Label)
	if look.Shape == Dot {
		label = `" "`
	}
	fmt.Fprintf(w, "%sn%d%s%s%s", indent, v, brackets[0], label, brackets[1])
	if look.Class != "" {
		fmt.Fprintf(w, ":::%s", look.Class)
	}
	w.WriteString("\n")
}

func (w mermaidWriter) edge(e Edge) {
	link := "-->"
	if e.Attrs.Type == Data || e.Attrs.Type == DependsOn {
		link = "-.->"
	}
	if label := e.Attrs.Label(); label != "" {
		link += "|" + mermaidQuote(label) + "|"
	}
	fmt.Fprintf(w, "  n%d %s n%d\n", e.From, link, e.To)
}

func (w mermaidWriter) class(name string, s Style) {
	var rules []string
	for _, rule := range [...][2]string{{"fill", s.Fill}, {"stroke", s.Line}, {"color", s.Text}} {
		if rule[1] != "" {
			rules = append(rules, rule[0]+":"+rule[1])
		}
	}
	if s.Dashed {
		rules = append(rules, "stroke-dasharray:4")
	}
	if len(rules) > 0 {
		fmt.Fprintf(w, "  classDef %s %s\n", name, strings.Join(rules, ","))
	}
}

// mermaidEscapes replaces the characters that Mermaid, its Markdown or HTML reads as markup by entities, including the number
// sign, which starts an entity.
var mermaidEscapes = strings.NewReplacer(
	`"`, "#quot;", "#", "#35;", "&", "#amp;", "<", "#lt;", ">", "#gt;", "`", "#96;", `\`, "#92;", "*", "#42;",
	"\n", "<br/>", "\r", "", "\x00", "", "\t", " ",
)

func mermaidQuote(text string) string { return `"` + mermaidEscapes.Replace(text) + `"` }

package svg

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/dag/layout"
)

// writer writes a picture.
type writer struct {
	*bufio.Writer
	p *picture
}

func (w *writer) all() {
	p := w.p
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">`+"\n", p.width, p.height)
	title := visible(p.title)
	if title == "" {
		title = "graph"
	}
	w.WriteString("<title>")
	w.text(title)
	w.WriteString("</title>\n<style>" + style + "</style>\n")
	fmt.Fprintf(w, `<rect class="paper" width="%d" height="%d"/>`+"\n", p.width, p.height)
	w.WriteString(`<text class="head" x="24" y="28">`)
	w.text(cutEnd(title, (p.width-2*margin)*3/4, middle))
	w.WriteString("</text>\n")
	fmt.Fprintf(w, `<g transform="translate(%d %d)">`+"\n", (p.width-p.where.Width)/2, headHeight)
	for i := range p.frames {
		w.frame(i)
	}
	lines := p.where.Lines()
	// Wet lines are drawn over dry ones where they overlap.
	for _, wet := range [...]bool{false, true} {
		for i, l := range p.lines {
			if (p.nodes[l.from].class == "completed") == wet {
				w.line(p.lines[i], lines.Route(i))
			}
		}
	}
	for i := range p.frames {
		w.frameLabel(i)
	}
	for i := range p.nodes {
		w.node(i)
	}
	w.WriteString("</g>\n")
	w.legend()
	w.WriteString("</svg>\n")
}

// text writes text as content of an element.
func (w *writer) text(text string) {
	// A bufio.Writer keeps its error for the end.
	_ = xml.EscapeText(w, []byte(text))
}

func (w *writer) frame(i int) {
	b := w.p.where.Groups[i]
	fmt.Fprintf(w, `<rect class="frame f%d" x="%d" y="%d" width="%d" height="%d" rx="8"/>`+"\n", w.p.frames[i].depth%2, b.X, b.Y, b.Width, b.Height)
}

// frameLabel writes the label of a frame, with a background that hides the lines behind it.
func (w *writer) frameLabel(i int) {
	f, b := w.p.frames[i], w.p.where.Groups[i]
	fmt.Fprintf(w, `<g><title>`)
	w.text(f.whole)
	fmt.Fprintf(w, `</title><rect class="bed f%d" x="%d" y="%d" width="%d" height="18"/><text class="note" x="%d" y="%d">`,
		f.depth%2, b.X+8, b.Y+6, widthOf(f.label, small)+8, b.X+12, b.Y+19)
	w.text(f.label)
	w.WriteString("</text></g>\n")
}

func (w *writer) line(l *line, points []layout.Point) {
	if len(points) < 2 {
		return
	}
	class := "line"
	if l.class != "" {
		class += " " + l.class
	}
	fmt.Fprintf(w, `<path class="%s" d="`, class)
	w.rounded(points)
	w.WriteString(`"/>`)
	if end := points[len(points)-1]; !l.open {
		tip := "l-4-6h8z"
		if w.p.right {
			tip = "l-6-4v8z"
		}
		fmt.Fprintf(w, `<path class="%s" d="M%d %d%s"/>`, strings.TrimSpace("tip "+l.class), end.X, end.Y, tip)
	}
	w.WriteByte('\n')
}

// rounded writes a line with rounded corners.
func (w *writer) rounded(points []layout.Point) {
	const radius = 5
	fmt.Fprintf(w, "M%d %d", points[0].X, points[0].Y)
	for i := 1; i+1 < len(points); i++ {
		before, p, after := points[i-1], points[i], points[i+1]
		a, b := towards(p, before, radius), towards(p, after, radius)
		fmt.Fprintf(w, "L%d %dQ%d %d %d %d", a.X, a.Y, p.X, p.Y, b.X, b.Y)
	}
	last := points[len(points)-1]
	fmt.Fprintf(w, "L%d %d", last.X, last.Y)
}

// towards returns the point at distance way from one point towards another along an axis, or halfway if that is nearer.
func towards(from, to layout.Point, way int) layout.Point {
	step := func(d int) int { return max(-way, min(way, d/2)) }
	return layout.Point{X: from.X + step(to.X-from.X), Y: from.Y + step(to.Y-from.Y)}
}

func (w *writer) node(i int) {
	n, b := w.p.nodes[i], w.p.where.Nodes[i]
	class := map[shape]string{gate: "gate", dot: "dot", label: "label"}[n.shape]
	if known[n.class] {
		class += " s-" + n.class
	}
	fmt.Fprintf(w, `<g class="%s"><title>`, strings.TrimSpace("node "+strings.TrimSpace(class)))
	w.text(n.whole)
	w.WriteString("</title>")
	switch n.shape {
	case dot:
		fmt.Fprintf(w, `<circle cx="%d" cy="%d" r="4"/></g>`+"\n", b.X+4, b.Y+4)
		return
	case label:
		fmt.Fprintf(w, `<rect class="box" x="%d" y="%d" width="%d" height="%d" rx="3"/><text class="code" x="%d" y="%d">`,
			b.X, b.Y, b.Width, b.Height, b.X+6, b.Y+13)
		w.text(n.name)
		w.WriteString("</text></g>\n")
		return
	case stack:
		b.Height -= stackUnder
		fmt.Fprintf(w, `<rect class="box" x="%d" y="%d" width="%d" height="%d" rx="6"/>`, b.X+4, b.Y+8, b.Width-8, b.Height-4)
	}
	radius := 6
	if n.shape == gate {
		radius = 14
	}
	fmt.Fprintf(w, `<rect class="box" x="%d" y="%d" width="%d" height="%d" rx="%d"/>`, b.X, b.Y, b.Width, b.Height, radius)
	w.inside(n, b)
	w.WriteString("</g>\n")
}

// inside writes the mark, the name and the notes of a node, centred vertically.
func (w *writer) inside(n *node, b layout.Box) {
	left := b.X + textRoom
	if mark := n.mark(); mark != "" {
		left = b.X + markRoom
		w.mark(mark, b.X+10, b.Y+b.Height/2-8)
	}
	class := "name"
	if n.face() == code {
		class = "code"
	}
	y := b.Y + (b.Height-(len(n.notes)+1)*lineHeight)/2 + 12
	fmt.Fprintf(w, `<text class="%s" x="%d" y="%d">`, class, left, y)
	w.text(n.name)
	w.WriteString("</text>")
	for _, note := range n.notes {
		y += lineHeight
		fmt.Fprintf(w, `<text class="note" x="%d" y="%d">`, left, y)
		w.text(note)
		w.WriteString("</text>")
	}
}

func (w *writer) mark(name string, x, y int) {
	fmt.Fprintf(w, `<g class="mark m-%s" transform="translate(%d %d)">%s</g>`, name, x, y, marks[name])
}

func (w *writer) legend() {
	y := headHeight + w.p.where.Height + margin
	if len(w.p.legend) > 0 {
		fmt.Fprintf(w, `<path class="rule" d="M0 %dH%d"/>`+"\n", y-4, w.p.width)
	}
	for _, row := range w.p.legend {
		for _, e := range row {
			if e.mark != "" {
				w.mark(e.mark, e.x, y+6)
			} else {
				fmt.Fprintf(w, `<path class="line %s" d="M%d %dh16"/>`, e.line, e.x, y+14)
			}
			fmt.Fprintf(w, `<text class="name" x="%d" y="%d">`, e.x+24, y+18)
			w.text(e.text)
			w.WriteString("</text>\n")
		}
		y += legendRow
	}
}

package svg

import "fmt"

// entry is a part of the legend: a mark or a line, and its meaning.
type entry struct {
	mark, line string
	text       string
	x          int
}

// statuses has the classes that are statuses, in the order of the legend; statuses that need attention come first.
var statuses = []string{"failed", "running", "ready", "waiting", "idle", "pending", "completed", "skipped", "aborted", "paused"}

// setLegend makes the legend: the kinds of nodes and lines in the picture, with their counts. A narrow picture has several
// rows.
func (p *picture) setLegend() {
	count := map[string]int{}
	for _, n := range p.nodes {
		if n.shape != label {
			count[n.class]++
		}
		switch n.shape {
		case gate:
			count["conditional"]++
		case stack:
			count["stack"]++
		case dot:
			count["dot"]++
		}
	}
	lines := map[string]int{}
	for _, l := range p.lines {
		lines[l.class]++
	}
	var all []entry
	for _, status := range statuses {
		if n := count[status]; n > 0 {
			all = append(all, entry{mark: status, text: fmt.Sprint(n, " ", status)})
		}
	}
	add := func(n int, e entry) {
		if n > 0 {
			all = append(all, e)
		}
	}
	add(count["conditional"], entry{mark: "gate", text: "conditional"})
	add(count["gate"], entry{mark: "gate", text: "gate: lets in when its rules allow"})
	add(count["stack"], entry{mark: "stack", text: "one for many"})
	add(count["dot"], entry{mark: "dot", text: "many meet"})
	add(lines["wet"]+lines["data wet"]+lines["made wet"], entry{line: "wet", text: "after a completed call"})
	add(lines["data"]+lines["data wet"], entry{line: "data", text: "data only"})
	add(lines["made"]+lines["made wet"], entry{line: "made", text: "to a call that it made"})
	x, row := margin, []entry(nil)
	for _, e := range all {
		width := 24 + widthOf(e.text, middle) + 16
		if len(row) > 0 && x+width > p.width-margin {
			p.legend = append(p.legend, row)
			x, row = margin, nil
		}
		e.x = x
		row = append(row, e)
		x += width
	}
	if len(row) > 0 {
		p.legend = append(p.legend, row)
	}
	for _, row := range p.legend {
		last := row[len(row)-1]
		p.width = max(p.width, last.x+24+widthOf(last.text, middle)+margin)
	}
}

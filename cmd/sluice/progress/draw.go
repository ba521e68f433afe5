package progress

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// Frame holds the options of a drawing.
type Frame struct {
	Width  int    // columns; no line is wider. Default: 80
	Height int    // lines; there are no more. Default: no limit
	Now    int64  // Unix nanoseconds, for the durations of running steps
	Tick   int    // moves the symbols of running steps; 0: they do not move
	Note   string // a last line; "": none

	// Hints are lines before the note: commands that end waits of the run. Hints that do not fit are left out.
	Hints []string

	// Paint returns a part of a line in the style of a word, with the same number of columns. Default: the text unchanged.
	Paint func(w Word, text string) string
}

// faint is the word that selects the style of connecting lines and remarks.
const faint = Skipped

// row is a line of the drawing.
type row struct {
	lead   string // the lines that connect it to its ancestors
	word   Word
	bare   bool   // without a symbol: a container
	name   string // of steps and maps, in a separate column
	state  string // likewise
	took   string
	detail string
	failed bool // the detail is a failure
}

// Draw returns the tree as text, without a line break at the end. Its first line describes the run as a whole, and is drawn even if
// Height is too small. Draw does not change the tree.
func (t *Tree) Draw(f Frame) string {
	if f.Width <= 0 {
		f.Width = 80
	}
	room := f.Height
	if room <= 0 {
		room = len(t.nodes) * (1 + itemLinesMax)
	}
	if f.Note != "" {
		room--
	}
	if f.Height > 0 {
		f.Hints = f.Hints[:max(0, min(len(f.Hints), room/4))]
	}
	room -= len(f.Hints)
	d := &drawing{t: t, f: f}
	if t.cells != nil {
		if f.Height <= 0 {
			room = cellsMax
		}
		d.rows = append([]row{t.header(f.Now)}, t.cells.rows(room-1, f.Now)...)
	} else {
		d.steps(room)
	}
	d.rows = d.rows[:max(1, min(len(d.rows), room))] // a small frame may have no room for summaries
	text := d.text()
	for _, hint := range f.Hints {
		text += "\n" + d.paint(faint, cut("  "+hint, f.Width))
	}
	if f.Note != "" {
		text += "\n" + d.paint(Retrying, cut(f.Note, f.Width))
	}
	return text
}

// drawing is the state of Draw.
type drawing struct {
	t    *Tree
	f    Frame
	fold *fold
	rows []row
}

// steps makes the rows of the run and its steps, about room of them.
func (d *drawing) steps(room int) {
	d.fold = d.t.choose(room - 1)
	for grown := true; grown; grown = d.fold.grow(room - len(d.rows)) {
		d.rows = append(d.rows[:0], d.t.header(d.f.Now))
		d.inside(0, d.fold.list(), "")
	}
}

// header returns the line about the run.
func (t *Tree) header(now int64) row {
	c := &t.nodes[0].counts
	r := row{word: WordOfRun(t.status), name: t.name, state: string(t.status), detail: fmt.Sprintf("%d/%d steps", c.settled(), c.total())}
	if t.cells != nil {
		r.detail = t.cells.header()
	}
	if t.status == "" {
		r.word, r.state = Idle, "starting"
	}
	if rest := listed(c, Failed, Aborted); rest != "" {
		r.detail += ", " + rest
	}
	r.detail = joined(r.detail, t.awaited(""))
	r.took = elapsed(t.started, t.ended, now)
	return r
}

// inside adds the rows of the shown nodes in a node, given by list in order, and the summaries of the others.
func (d *drawing) inside(i int32, list []int32, lead string) {
	n := &d.t.nodes[i]
	var entries []func(lead string)
	single := func(r row) {
		entries = append(entries, func(lead string) { r.lead = lead; d.rows = append(d.rows, r) })
	}
	hidden := n.counts
	for rest := list; len(rest) > 0; {
		child, end := rest[0], 1
		for end < len(rest) && rest[end] < d.t.nodes[child].end {
			end++
		}
		below := rest[1:end]
		rest = rest[end:]
		hidden.subtract(&d.t.nodes[child].counts)
		entries = append(entries, func(lead string) { d.node(child, below, lead) })
	}
	if n.kind <= branch && len(list) > 0 || i == 0 {
		first, last := summaries(hidden)
		if first.state != "" {
			own := entries
			entries = nil
			single(first)
			entries = append(entries, own...)
		}
		if last.state != "" {
			single(last)
		}
	}
	for _, r := range d.itemRows(n) {
		single(r)
	}
	for k, entry := range entries {
		if k == len(entries)-1 {
			entry(lead + "└─ ")
		} else {
			entry(lead + "├─ ")
		}
	}
}

// node adds a node's row and the rows inside. lead ends in the corner that leads to the row.
func (d *drawing) node(i int32, below []int32, lead string) {
	r := d.t.row(i, d.f.Now)
	r.lead = lead
	d.rows = append(d.rows, r)
	outer, isLast := strings.CutSuffix(lead, "└─ ")
	if isLast {
		d.inside(i, below, outer+"   ")
		return
	}
	d.inside(i, below, strings.TrimSuffix(lead, "├─ ")+"│  ")
}

// row returns the line of a node.
func (t *Tree) row(i int32, now int64) row {
	n := &t.nodes[i]
	switch {
	case n.kind == each:
		return t.mapRow(i, now)
	case n.kind == step && n.inMap:
		return countRow(n.label, n.counts.settled(), n.counts.total(), n.counts.word(), &n.counts)
	case n.runs != nil:
		r := n.routedRow(now)
		r.detail = joined(r.detail, t.awaitedIn(n.label))
		return r
	case n.kind == step:
		return row{word: n.own, name: n.label, state: n.own.String(), took: elapsed(n.begun, n.ended, now),
			detail: joined(detail(n.attempt, n.failure), t.awaited(n.label)), failed: n.failure != ""}
	}
	r := row{bare: true, name: n.label, word: n.counts.word()}
	if n.unused() {
		r.state = r.word.String()
		if n.counts.total() > 1 {
			r.state = listed(&n.counts, Aborted, Skipped)
		}
	}
	if n.own == Failed { // the test of a conditional has failed
		r.word, r.state = Failed, Failed.String()
		r.detail, r.failed = n.failure, n.failure != ""
	}
	return r
}

// mapRow returns the line of a map: the number of its settled items, and one word for all of them.
func (t *Tree) mapRow(i int32, now int64) row {
	n := &t.nodes[i]
	settled, total := t.items(i)
	word := n.own
	if !word.Settled() && total > 0 {
		word = n.counts.word()
	}
	r := countRow(n.label, settled, total, word, &n.counts)
	r.took = elapsed(n.begun, n.ended, now)
	if r.detail == "" && n.failure != "" {
		r.detail, r.failed = n.failure, true
	}
	return r
}

// items returns the number of a map's settled items, and of all its items. Each step of the body counts its settled items, and the
// lowest count is the result.
func (t *Tree) items(i int32) (settled, total int32) {
	settled = -1
	for j := i + 1; j < t.nodes[i].end; j++ {
		switch n := &t.nodes[j]; n.kind {
		case each:
			j = n.end - 1
		case step:
			total = max(total, n.counts.total())
			if s := n.counts.settled(); settled < 0 || s < settled {
				settled = s
			}
		}
	}
	return max(settled, 0), total
}

func countRow(label string, settled, total int32, w Word, c *counts) row {
	r := row{word: w, name: label, state: w.String()}
	if total > 0 {
		r.state = fmt.Sprintf("%d/%d %s", settled, total, w)
		r.detail = listed(c, Retrying, Failed, Aborted, Skipped)
	}
	return r
}

// itemRows returns the lines of a map's failed items.
func (d *drawing) itemRows(n *node) []row {
	items := n.items[:min(len(n.items), d.fold.items)]
	rows := make([]row, 0, len(items))
	for _, item := range items {
		rows = append(rows, row{word: Failed, name: item.key, state: Failed.String(), failed: true,
			took: Duration(time.Duration(item.took)), detail: detail(item.attempt, item.failure)})
	}
	if more := int(n.counts[Failed]) - len(rows); len(rows) > 0 && more > 0 {
		last := len(rows) - 1
		rows[last] = row{word: Failed, name: "more", state: fmt.Sprintf("%d failed", more+1)}
	}
	return rows
}

// summaries returns the lines for steps that are not shown: those that succeeded, and the rest.
func summaries(hidden counts) (first, last row) {
	first = row{word: Completed, name: "more", state: listed(&hidden, Completed, Skipped)}
	hidden[Completed], hidden[Skipped] = 0, 0
	last = row{word: hidden.word(), name: "more", state: listed(&hidden, Failed, Aborted, Running, Retrying, Ready, Waiting, Idle)}
	return first, last
}

// listed returns the counts of some words: "2 failed, 1 aborted".
func listed(c *counts, which ...Word) string {
	var parts []string
	for _, w := range which {
		if c[w] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c[w], w))
		}
	}
	return strings.Join(parts, ", ")
}

func detail(attempt int32, failure string) string {
	if attempt <= 1 {
		return failure
	}
	text := fmt.Sprintf("attempt %d", attempt)
	if failure != "" {
		text += ": " + failure
	}
	return text
}

// elapsed returns the time from begun to ended, or to now if ended is 0.
func elapsed(begun, ended, now int64) string {
	switch {
	case begun == 0:
		return ""
	case ended != 0:
		return Duration(time.Duration(ended - begun))
	}
	// Show running steps without milliseconds, which would flicker.
	tenths := max(0, time.Duration(now-begun)).Truncate(100 * time.Millisecond)
	if tenths < time.Second {
		return fmt.Sprintf("0.%ds", tenths/(100*time.Millisecond))
	}
	return Duration(tenths)
}

// columns returns the widths of names with their lead and symbol, of states, and of durations.
func (d *drawing) columns() (name, state, took int) {
	for i := range d.rows {
		r := &d.rows[i]
		if r.bare {
			continue
		}
		name = max(name, ansi.StringWidth(r.lead)+2+ansi.StringWidth(r.name))
		took = max(took, len(r.took))
		if r.name != "more" {
			state = max(state, len(r.state))
		}
	}
	return min(name, d.f.Width/2), state, took
}

// text lays the rows out in columns.
func (d *drawing) text() string {
	nameWidth, stateWidth, tookWidth := d.columns()
	var b strings.Builder
	for i := range d.rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		r := &d.rows[i]
		l := &line{d: d, b: &b, left: d.f.Width}
		l.put(faint, r.lead)
		if r.bare {
			l.put(faint, r.name)
			if r.state != "" {
				l.put(r.word, "  "+r.state)
			}
			l.why(r)
			continue
		}
		l.put(r.word, d.symbol(r.word))
		room := nameWidth - ansi.StringWidth(r.lead) - 2
		l.put(Idle, " "+pad(squeeze(r.name, room), room)+"  ")
		if r.took == "" && r.detail == "" {
			l.put(r.word, r.state)
			continue
		}
		l.put(r.word, pad(r.state, stateWidth))
		l.put(faint, "  "+strings.Repeat(" ", tookWidth-len(r.took))+r.took)
		l.why(r)
	}
	return b.String()
}

// spinner holds the frames of the symbol of a running step.
var spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

func (d *drawing) symbol(w Word) string {
	if w == Running && d.f.Tick > 0 {
		return spinner[d.f.Tick%len(spinner)]
	}
	return w.Symbol()
}

func (d *drawing) paint(w Word, text string) string {
	if d.f.Paint == nil || text == "" {
		return text
	}
	return d.f.Paint(w, text)
}

// line writes one line, no wider than the frame.
type line struct {
	d    *drawing
	b    *strings.Builder
	left int // columns
}

func (l *line) put(w Word, text string) {
	text = cut(text, l.left)
	l.left -= ansi.StringWidth(text)
	l.b.WriteString(l.d.paint(w, text))
}

func (l *line) why(r *row) {
	switch {
	case r.detail == "":
	case r.failed:
		l.put(r.word, "  "+r.detail)
	default:
		l.put(faint, "  "+r.detail)
	}
}

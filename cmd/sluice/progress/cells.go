package progress

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
)

// cells holds the cells of a world: their number by status, and the cells that may be shown.
//
//	● shop            running     4.2s  1,204 cells, 1 failed, 3 waiting
//	├─ ✗ order[a]     failed            declined: no money
//	├─ ● order[b]     waiting           for pay, timer deadline in 29m12s
//	└─ ✓ more         1,200 completed
//
// It keeps at least the first cellsMax cells, and at most twice as many: failed cells come first, then paused, waiting, running and
// completed ones, and among equals the cells that have changed last.
type cells struct {
	counts map[world.Status]int
	kept   map[string]*cell // by address
	clock  uint64           // changes so far
}

// cellsMax is the number of cells that a tree keeps when it has more than twice as many.
const cellsMax = 200

// cell is a cell that may be shown.
type cell struct {
	world.CellState
	changed uint64 // by the clock
}

func newCells() *cells { return &cells{counts: map[world.Status]int{}, kept: map[string]*cell{}} }

// apply applies a change of a cell.
func (b *cells) apply(c *world.CellState, from world.Status) {
	b.clock++
	b.counts[from]--
	b.counts[c.Status]++
	delete(b.counts, "") // cells that do not exist
	if c.Status == "" {
		delete(b.kept, c.Address)
		return
	}
	kept := &cell{CellState: *c, changed: b.clock}
	kept.State, kept.Key = nil, nil // not shown, and may be large
	b.kept[c.Address] = kept
	if len(b.kept) > 2*cellsMax {
		for _, rest := range b.ranked()[cellsMax:] {
			delete(b.kept, rest.Address)
		}
	}
}

// ranked returns the kept cells in the order of rank, and within a rank the last changed first.
func (b *cells) ranked() []*cell {
	list := slices.Collect(maps.Values(b.kept))
	slices.SortFunc(list, func(x, y *cell) int {
		return cmp.Or(cmp.Compare(x.rank(), y.rank()), cmp.Compare(y.changed, x.changed))
	})
	return list
}

// rank returns the rank of a cell: cells of a lower rank need more attention.
func (c *cell) rank() int {
	switch {
	case c.Status == world.Failed:
		return 0
	case c.Paused:
		return 1
	case c.Status == world.Waiting:
		return 2
	case c.Status == world.Running:
		return 3
	}
	return 4
}

// rows returns at most room lines: cells in the order of their addresses, and one line that counts the others.
func (b *cells) rows(room int, now int64) []row {
	total := 0
	for _, n := range b.counts {
		total += n
	}
	list := b.ranked()
	if total > room {
		list = list[:max(0, min(len(list), room-1))]
	}
	slices.SortFunc(list, func(x, y *cell) int { return cmp.Compare(x.Address, y.Address) })
	rest := maps.Clone(b.counts)
	rows := make([]row, 0, len(list)+1)
	for _, c := range list {
		rest[c.Status]--
		rows = append(rows, c.row(now))
	}
	if total > len(list) && room > 0 {
		rows = append(rows, row{word: Idle, name: "more", state: listedCells(rest, statuses...)})
	}
	for i := range rows {
		rows[i].lead = "├─ "
	}
	if len(rows) > 0 {
		rows[len(rows)-1].lead = "└─ "
	}
	return rows
}

// statuses are all statuses of cells.
var statuses = []world.Status{world.Failed, world.Waiting, world.Running, world.Completed}

// listedCells returns the counts of some statuses: "2 failed, 1 waiting".
func listedCells(counts map[world.Status]int, which ...world.Status) string {
	var parts []string
	for _, s := range which {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], s))
		}
	}
	return strings.Join(parts, ", ")
}

// header returns the summary of the cells, for the first line.
func (b *cells) header() string {
	total := 0
	for _, n := range b.counts {
		total += n
	}
	text := fmt.Sprintf("%d cells", total)
	if total == 1 {
		text = "1 cell"
	}
	if rest := listedCells(b.counts, world.Failed, world.Waiting, world.Running); rest != "" {
		text += ", " + rest
	}
	return text
}

// CellCounts returns the number of cells of a world, by status, as text; "" for any other run.
func (t *Tree) CellCounts() string {
	if t.cells == nil {
		return ""
	}
	return t.cells.header()
}

// row returns the line of a cell.
func (c *cell) row(now int64) row {
	r := row{word: WordOfCell(&c.CellState), name: Clean(c.Address), state: string(c.Status)}
	if c.Paused {
		r.state += ", paused"
	}
	switch {
	case c.Failure != nil:
		r.detail, r.failed = reason(c.Failure), true
	case len(c.Intents) > 0:
		r.detail = "for " + WaitsOf(&c.CellState, now)
	case c.Held > 0:
		r.detail = fmt.Sprintf("%d held", c.Held)
	}
	return r
}

// WordOfCell returns the word that selects the style of a cell: Running while a call for it is under way.
func WordOfCell(c *world.CellState) Word {
	switch c.Status {
	case world.Failed:
		return Failed
	case world.Completed:
		return Completed
	case world.Running:
		return Ready
	}
	for i := range c.Intents {
		x := &c.Intents[i]
		switch {
		case x.Pending:
			return Retrying
		case x.ID != "" && x.Call == reactive.Running:
			return Running
		}
	}
	return Waiting
}

// waitsShown bounds the intents that a line names.
const waitsShown = 3

// WaitsOf returns the effects and timers that a cell waits for, as text. Timers have the time left at now; if now is 0, they have none.
func WaitsOf(c *world.CellState, now int64) string {
	var names []string
	for i := range c.Intents {
		if i == waitsShown {
			names = append(names, fmt.Sprintf("%d more", len(c.Intents)-i))
			break
		}
		x := &c.Intents[i]
		switch {
		case x.ID == "" && now > 0:
			names = append(names, "timer "+x.Issuer+" in "+Duration(time.Duration(x.Due.UnixNano()-now).Truncate(time.Second)))
		case x.ID == "":
			names = append(names, "timer "+x.Issuer)
		case x.Issuer != "":
			names = append(names, x.Effect+"."+x.Issuer)
		default:
			names = append(names, x.Effect)
		}
	}
	return Clean(strings.Join(names, ", "))
}

// applyCells applies an update of a world's run.
func (t *Tree) applyCells(u *coordinator.Update) {
	for i := range u.Cells {
		t.cells.apply(&u.Cells[i].Cell, u.Cells[i].From)
	}
	if u.Event.Type == journal.CellFailed {
		t.failures.add(&coordinator.StepChange{Step: u.Event.Node, To: reactive.Failed, Failure: u.Event.Detail.Failure})
	}
}

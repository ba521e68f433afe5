package rerun

import (
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/template/plan"
)

// cut is a set of steps that run again: some, and those that follow them.
type cut struct {
	p      *plan.Plan
	starts map[int32]*start // by row
}

// start is a row of a cut, in all items of the maps around it or in some.
type start struct {
	rows  map[int32]int     // the rows that run again, with the number of maps that they share with the start
	every bool              // in all items
	some  []map[string]bool // the items, by the number of indexes: their beginnings
}

func newCut(p *plan.Plan) *cut { return &cut{p, map[int32]*start{}} }

// add adds a row, in all items or in the item with the given indexes; if follow is true, also the rows that follow it.
func (c *cut) add(row int32, indexes []int, follow bool) {
	s := c.starts[row]
	if s == nil {
		s = &start{rows: map[int32]int{}, some: make([]map[string]bool, c.p.Depth(row)+1)}
		c.starts[row] = s
		c.visit(s, row, follow)
		chain := c.around(row)
		for r := range s.rows {
			s.rows[r] = shared(chain, c.around(r))
		}
	}
	if len(indexes) < c.p.Depth(row) {
		s.every = true
		return
	}
	for n := range len(indexes) + 1 {
		if s.some[n] == nil {
			s.some[n] = map[string]bool{}
		}
		s.some[n][beginning(indexes[:n])] = true
	}
}

// visit adds a row, its content and the rows that follow it.
func (c *cut) visit(s *start, row int32, follow bool) {
	if _, ok := s.rows[row]; ok {
		return
	}
	s.rows[row] = 0
	n := &c.p.Nodes[row]
	if n.Kind == plan.Map || n.Kind == plan.Gate {
		for inner := row + 1; inner < n.End; inner++ {
			c.visit(s, inner, follow)
		}
	}
	if follow {
		c.followers(s, row)
	}
}

// followers visits the rows that follow a row, and those that follow the maps around it.
func (c *cut) followers(s *start, row int32) {
	for ; row >= 0; row = c.p.Nodes[row].Map {
		for _, e := range c.p.Outgoing(row) {
			c.visit(s, e.To, true)
		}
	}
}

// has reports whether a step runs again.
func (c *cut) has(row int32, indexes []int) bool {
	for _, s := range c.starts {
		if n, ok := s.rows[row]; ok && (s.every || s.some[n][beginning(indexes[:n])]) {
			return true
		}
	}
	return false
}

// around returns the maps around a row, the outermost first.
func (c *cut) around(row int32) (maps []int32) {
	for m := c.p.Nodes[row].Map; m >= 0; m = c.p.Nodes[m].Map {
		maps = append([]int32{m}, maps...)
	}
	return maps
}

func shared(a, b []int32) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func beginning(indexes []int) string {
	if len(indexes) == 1 {
		return strconv.Itoa(indexes[0])
	}
	var text strings.Builder
	for _, i := range indexes {
		text.WriteString(strconv.Itoa(i))
		text.WriteByte(',')
	}
	return text.String()
}

// keyOf returns the key of a step in an item.
func keyOf(id string, indexes []int) string {
	for _, i := range indexes {
		id += "[" + strconv.Itoa(i) + "]"
	}
	return id
}

package plan

import (
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

// cycleError describes one cycle: a shortest one through the first step in the document that is on a cycle. It runs only
// when ranking has failed, so it need not be fast.
func cycleError(p *Plan) error {
	next := make([][]int32, len(p.Nodes))
	for _, e := range p.Edges {
		next[e.From] = append(next[e.From], e.To)
	}
	for row := range p.Nodes {
		if p.Nodes[row].Kind == Join {
			continue
		}
		if path := shortestCycle(next, int32(row)); path != nil {
			names := make([]string, 0, len(path))
			for _, r := range path[:len(path)-1] {
				if key := p.Nodes[r].Key; key != "" { // a conditional need not have a name
					names = append(names, key)
				}
			}
			text := strings.Join(append(names, names[0]), " -> ")
			return &document.Error{Pos: position(p.Nodes[row].Item), Text: text, Msg: "cycle: " + text}
		}
	}
	panic("plan: rows without a rank, and no cycle")
}

// shortestCycle searches breadth first from row until it comes back, and returns the path with row at both ends.
func shortestCycle(next [][]int32, row int32) []int32 {
	from := map[int32]int32{}
	queue := []int32{row}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		for _, t := range next[v] {
			if t == row {
				path := []int32{row}
				for ; v != row; v = from[v] {
					path = append(path, v)
				}
				path = append(path, row)
				slices.Reverse(path)
				return path
			}
			if _, seen := from[t]; !seen {
				from[t] = v
				queue = append(queue, t)
			}
		}
	}
	return nil
}

func position(item *template.Item) document.Pos {
	switch n := item.Node.(type) {
	case *template.Step:
		return n.Pos
	case *template.Conditional:
		return n.Pos
	case *template.Map:
		return n.Pos
	}
	return document.Pos{}
}

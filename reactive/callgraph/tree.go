package callgraph

import (
	"strings"

	"github.com/sluiceflow/sluice/template/plan"
)

// treeOrder is the order of the calls of a workflow. A call waits for the newest calls of the steps before its own. A node
// without a call, such as a skipped step, a conditional or a map without items, represents the calls that it waited for. The
// items of a map wait for the calls that the map waits for, and a call that waits for the map waits for the last calls of all
// items.
//
// The calls that a place represents are cached until a call changes them, so the places between a call and its predecessors are
// visited once, for any number of later calls.
type treeOrder struct {
	graph   *Graph
	plan    *plan.Plan
	last    map[place]int32    // newest call, by the end of a step
	begun   map[place]bool     // maps and items that have made calls, by place with the suffix of the item
	items   map[place][]string // the same suffixes, by the end of the map
	sets    map[place][]int32
	readers map[place][]place // places whose sets contain that of a place
}

// place is the beginning or the end of an instance of a row.
type place struct {
	row    int32
	start  bool
	suffix string // indexes of the maps around it, as in its key
}

func newTreeOrder(g *Graph, p *plan.Plan) *treeOrder {
	return &treeOrder{
		graph: g, plan: p, last: map[place]int32{}, begun: map[place]bool{}, items: map[place][]string{}, sets: map[place][]int32{},
		readers: map[place][]place{},
	}
}

// of returns the place of the end of a step.
func (o *treeOrder) of(key string) place {
	id, _, _ := plan.ParseKey(key)
	row, _ := o.plan.Row(id)
	return place{row: row, suffix: key[len(id):]}
}

func (o *treeOrder) Called(key string, call int32) {
	p := o.of(key)
	o.last[p] = call
	o.forget(p)
	for p.suffix != "" {
		inner := p.suffix
		item := place{row: o.plan.Nodes[p.row].Map, suffix: inner}
		if o.begun[item] {
			return
		}
		o.begun[item] = true
		p = place{row: item.row, suffix: inner[:strings.LastIndexByte(inner, '[')]}
		o.items[p] = append(o.items[p], inner)
		o.forget(p)
	}
}

// forget drops the cached calls of a place and of places that depend on it.
func (o *treeOrder) forget(p place) {
	for stack := []place{p}; len(stack) > 0; {
		p := stack[len(stack)-1]
		stack = append(stack[:len(stack)-1], o.readers[p]...)
		delete(o.readers, p)
		delete(o.sets, p)
	}
}

// Before returns the calls that a step waits for. It first computes the calls of the places before the step.
func (o *treeOrder) Before(key string) []int32 {
	start := o.of(key)
	start.start = true
	for stack := []place{start}; len(stack) > 0; {
		p := stack[len(stack)-1]
		if _, ok := o.sets[p]; ok {
			stack = stack[:len(stack)-1]
			continue
		}
		before := o.behind(p)
		missing := false
		for _, q := range before {
			if _, ok := o.stands(q); !ok {
				stack, missing = append(stack, q), true
			}
		}
		if !missing {
			o.sets[p] = o.union(p, before)
		}
	}
	return o.sets[start]
}

// stands returns the calls that a place represents. It reports false if they are not computed yet.
func (o *treeOrder) stands(p place) ([]int32, bool) {
	if call, ok := o.last[p]; ok {
		return []int32{call}, true
	}
	set, ok := o.sets[p]
	return set, ok
}

func (o *treeOrder) union(p place, before []place) []int32 {
	var set []int32
	seen := map[int32]bool{}
	for _, q := range before {
		calls, _ := o.stands(q)
		for _, c := range calls {
			if !seen[c] {
				seen[c] = true
				set = append(set, c)
			}
		}
		o.readers[q] = append(o.readers[q], p)
	}
	return o.graph.Meet(o.plan.GraphKey(p.row)+p.suffix, set)
}

// behind returns the places whose calls count for a place without its own calls.
func (o *treeOrder) behind(p place) []place {
	if items := o.items[p]; len(items) > 0 {
		return o.ends(p, items)
	}
	if !p.start {
		p.start = true
		return []place{p}
	}
	var list []place
	for _, row := range o.plan.Predecessors(p.row) {
		list = append(list, place{row: row, suffix: p.suffix})
	}
	if around := o.plan.Nodes[p.row].Map; len(list) == 0 && around >= 0 {
		list = append(list, place{row: around, start: true, suffix: p.suffix[:strings.LastIndexByte(p.suffix, '[')]})
	}
	return list
}

// ends returns the places in the items of a map for which no other place in them waits.
func (o *treeOrder) ends(p place, items []string) []place {
	var list []place
	for row := p.row + 1; row < o.plan.Nodes[p.row].End; row++ {
		if o.plan.Nodes[row].Map != p.row || len(o.plan.Outgoing(row)) > 0 {
			continue
		}
		for _, inner := range items {
			list = append(list, place{row: row, suffix: inner})
		}
	}
	return list
}

package net

import (
	"errors"
	"fmt"
)

// Timers counts those that are kept.
func Timers(n *Net) int { return n.timers.Len() }

// Check reports every invariant of a net that does not hold.
func Check(n *Net) error {
	var errs []error
	live := map[*group]int{}
	pending, parked := map[int]int32{}, map[int]int32{}
	seen := map[*token]int{}
	for _, t := range n.ready {
		seen[t]++
		live[t.group]++
	}
	for _, t := range n.gates.All() {
		seen[t]++
		live[t.group]++
		pending[t.step]++
	}
	whole := map[wholeKey]*group{}
	for j := range n.fanOuts.joins {
		for _, t := range j.tokens {
			seen[t]++
			parked[t.step]++
			g := n.outermost(whole, t.group, t.step)
			if g == nil {
				g = t.group
			}
			if g != j.group || j.step != t.step {
				errs = append(errs, fmt.Errorf("invariant 4: token %d is parked at the tracker of another group or join", t.id))
			}
		}
		if j.group.live == 0 {
			errs = append(errs, fmt.Errorf("invariant 4: tokens are parked for a group without members"))
		}
	}
	for t, places := range seen {
		if places != 1 {
			errs = append(errs, fmt.Errorf("invariant 1: token %d is in %d places", t.id, places))
		}
	}
	groups := map[*group]bool{}
	cells := 0
	for _, run := range n.runs.byKey {
		live[run.group]++
		for _, it := range run.iters {
			if it.cell != noCell {
				cells++
				if n.pipelines.byCell[it.cell] != it {
					errs = append(errs, fmt.Errorf("invariant 3: cell %d is not that of its iteration", it.cell))
				}
			}
		}
	}
	if cells != len(n.pipelines.byCell) {
		errs = append(errs, fmt.Errorf("invariant 3: %d cells, %d in iterations", len(n.pipelines.byCell), cells))
	}
	var climb func(g *group)
	climb = func(g *group) {
		if g == nil || groups[g] {
			return
		}
		groups[g] = true
		if g.parent != nil {
			live[g.parent]++
		}
		climb(g.parent)
	}
	for g := range live {
		climb(g)
	}
	for g := range groups {
		if n.halted == nil && !n.stopped && g.live != live[g] {
			errs = append(errs, fmt.Errorf("invariant 2: a group counts %d members and has %d", g.live, live[g]))
		}
	}
	for i := range n.steps {
		if s := &n.steps[i]; s.pending != pending[i] || s.parked != parked[i] {
			errs = append(errs, fmt.Errorf("invariant 1: step %d counts %d pending and %d parked, and has %d and %d", i, s.pending, s.parked, pending[i], parked[i]))
		}
	}
	return errors.Join(append(errs, n.err)...)
}

type wholeKey struct {
	group *group
	join  int
}

// outermost gives the outermost group around one that a join answers to; nil: there is none.
func (n *Net) outermost(known map[wholeKey]*group, g *group, join int) *group {
	if g == nil {
		return nil
	}
	key := wholeKey{g, join}
	if _, asked := known[key]; !asked {
		out := n.outermost(known, g.parent, join)
		if out == nil && n.book.AnswersTo(join, g.router) {
			out = g
		}
		known[key] = out
	}
	return known[key]
}

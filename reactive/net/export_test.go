package net

import (
	"errors"
	"fmt"
)

// Timers returns the number of stored timers.
func Timers(n *Net) int { return n.timers.Len() }

// Check returns every violated invariant of a net.
func Check(n *Net) error {
	var errs []error
	live := map[*group]int{}
	pending, held := map[int]int32{}, map[int]int32{}
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
			held[t.step]++
			g := n.outermost(whole, t.group, t.step)
			if g == nil {
				for g = t.group; g != nil && g.alone; {
					g = g.parent
				}
			}
			if g != j.group || j.step != t.step {
				errs = append(errs, fmt.Errorf("invariant 4: token %d is held at the tracker of another group or join", t.id))
			}
		}
		if j.group.live == 0 {
			errs = append(errs, fmt.Errorf("invariant 4: tokens are held for a group without members"))
		}
	}
	for t, places := range seen {
		if places != 1 {
			errs = append(errs, fmt.Errorf("invariant 1: token %d is in %d places", t.id, places))
		}
	}
	groups := map[*group]bool{}
	calls := 0
	for _, run := range n.runs.byKey {
		live[run.group]++
		for _, it := range run.iters {
			if it.call != noCall {
				calls++
				if n.pipelines.byCall[it.call] != it {
					errs = append(errs, fmt.Errorf("invariant 3: call %d is not that of its iteration", it.call))
				}
			}
		}
	}
	if calls != len(n.pipelines.byCall) {
		errs = append(errs, fmt.Errorf("invariant 3: %d calls, %d in iterations", len(n.pipelines.byCall), calls))
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
		if s := &n.steps[i]; s.pending != pending[i] || s.held != held[i] {
			errs = append(errs, fmt.Errorf("invariant 1: step %d counts %d pending and %d held, and has %d and %d", i, s.pending, s.held, pending[i], held[i]))
		}
	}
	return errors.Join(append(errs, n.err)...)
}

type wholeKey struct {
	group *group
	join  int
}

// outermost returns the outermost surrounding group to which a join belongs, or nil.
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

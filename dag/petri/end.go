package petri

import (
	"slices"
	"strconv"

	"github.com/sluiceflow/sluice/dag"
)

// ends returns the problems of the transitions that can fire and from which no end is reachable, with the cycles that keep
// their tokens. An end is a transition without outputs, or a place without consumers that can fire.
func (c *checker) ends() []Problem {
	endless := c.endless()
	cycles := c.cycles(endless)
	var all []Problem
	on := make([]bool, len(c.net.transitions))
	for _, cycle := range cycles {
		all = append(all, Problem{Kind: Cycle, Transition: cycle[0], Place: -1, Path: cycle})
		for _, id := range cycle {
			on[id] = true
		}
	}
	next := c.toCycle(on)
	for id, lost := range endless {
		if reported := len(all) - len(cycles); lost && !on[id] && reported < endlessMax {
			all = append(all, Problem{Kind: Endless, Transition: int32(id), Place: -1, Path: wayInto(int32(id), next)})
		}
	}
	return all
}

// endlessMax bounds the Endless problems of a net: each has a path, which may be as long as the net.
const endlessMax = 100

// endless marks the transitions that can fire and from which no path leads to an end. It walks backwards from all ends.
func (c *checker) endless() []bool {
	n := c.net
	saved := make([]bool, len(n.transitions))
	var queue []int32
	save := func(id int32) {
		if c.fires[id] && !saved[id] {
			saved[id] = true
			queue = append(queue, id)
		}
	}
	for id := range n.transitions {
		out := n.transitions[id].out
		if len(out) == 0 || slices.ContainsFunc(out, c.rests) {
			save(int32(id))
		}
	}
	for i := 0; i < len(queue); i++ {
		for _, p := range n.transitions[queue[i]].in {
			for _, id := range n.places[p].producers {
				save(id)
			}
		}
	}
	lost := make([]bool, len(n.transitions))
	for id := range lost {
		lost[id] = c.fires[id] && !saved[id]
	}
	return lost
}

// rests reports whether a token stays in a place forever: no transition that can fire takes from it.
func (c *checker) rests(p int32) bool {
	return !slices.ContainsFunc(c.net.places[p].consumers, func(id int32) bool { return c.fires[id] })
}

// cycles returns one cycle for every strongly connected component of the endless transitions.
func (c *checker) cycles(endless []bool) [][]int32 {
	b := dag.NewBuilder(dag.TemplateGraph)
	of := make([]int32, len(endless)) // node by transition
	var back []int32                  // transition by node
	for id, lost := range endless {
		if lost {
			of[id] = b.AddNode(strconv.Itoa(id))
			back = append(back, int32(id))
		}
	}
	for _, id := range back {
		for _, next := range c.after(id) {
			if endless[next] {
				b.AddEdge(of[id], of[next], dag.Attributes{Type: dag.Sequential})
			}
		}
	}
	g, err := b.Build()
	if err != nil {
		panic("petri: " + err.Error()) // the keys are numbers, each used once
	}
	cycles := g.Cycles()
	for _, cycle := range cycles {
		for i := range cycle {
			cycle[i] = back[cycle[i]]
		}
	}
	return cycles
}

// after returns the transitions that can take the tokens of a transition, in ascending order.
func (c *checker) after(id int32) []int32 {
	var next []int32
	for _, p := range c.net.transitions[id].out {
		for _, t := range c.net.places[p].consumers {
			if c.fires[t] {
				next = append(next, t)
			}
		}
	}
	slices.Sort(next)
	return slices.Compact(next)
}

// toCycle returns, for each transition that can fire, the next on a shortest way to one on a cycle: itself if it is on one, -1 if there is
// no way. It walks backwards from all cycles at once.
func (c *checker) toCycle(on []bool) []int32 {
	next := slices.Repeat([]int32{-1}, len(on))
	var queue []int32
	for id := range on {
		if on[id] {
			next[id] = int32(id)
			queue = append(queue, int32(id))
		}
	}
	for i := 0; i < len(queue); i++ {
		for _, p := range c.net.transitions[queue[i]].in {
			for _, id := range c.net.places[p].producers {
				if c.fires[id] && next[id] < 0 {
					next[id] = queue[i]
					queue = append(queue, id)
				}
			}
		}
	}
	return next
}

// wayInto returns the way from an endless transition to one on a cycle, both included. There is one, since the net is finite and no path
// from the transition leads to an end.
func wayInto(id int32, next []int32) []int32 {
	way := []int32{id}
	for next[id] != id {
		id = next[id]
		way = append(way, id)
	}
	return way
}

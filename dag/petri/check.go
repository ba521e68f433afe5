package petri

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Kind classifies a Problem.
type Kind uint8

// The kinds of problems. There is no zero kind.
const (
	Unreachable   Kind = iota + 1 // Transition can never fire, because Place never has a token for it
	Endless                       // no end can be reached after Transition: Path leads from it into a cycle; at most 100 are reported
	Cycle                         // a cycle has no exit: Path follows it from its first transition
	Shut                          // nothing can open the gate Transition: no transition in Path can fire
	Unsatisfiable                 // the join Transition takes more tokens than Place ever gets, at most Most
)

// Problem is one finding of Check with its witness. Transition and Place are ids, Path lists transitions. Fields that the
// kind does not mention are -1, 0 or nil.
type Problem struct {
	Kind       Kind    // determines the other fields
	Transition int32   // id
	Place      int32   // id
	Most       int     // bound of the tokens that Place ever gets
	Path       []int32 // ids of transitions, in order
}

// Check returns the problems in the structure of the net, ordered by transition and then by kind; nil if there are none. The
// slice belongs to the caller. Each transition that cannot fire has exactly one problem, with its own reason: a gate is shut, a
// transition behind the gate is unreachable.
func (n *Net) Check() []Problem {
	c := &checker{net: n, shut: make([]bool, len(n.transitions)), most: make([]int, len(n.transitions)), scarce: make([]int32, len(n.transitions))}
	c.reach()
	var all []Problem
	for id := range n.transitions {
		if !c.fires[id] {
			all = append(all, c.cause(int32(id)))
		}
	}
	all = append(all, c.ends()...)
	slices.SortStableFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Transition, b.Transition), cmp.Compare(a.Kind, b.Kind))
	})
	return all
}

// checker is the state of one Check.
type checker struct {
	net    *Net
	marked []bool  // by place: it can have a token
	fires  []bool  // by transition: it can fire
	shut   []bool  // by transition: it is a join that cannot be satisfied
	most   []int   // by transition in shut: bound of the tokens that it can get
	scarce []int32 // by transition in shut: the place with that bound
}

// reach computes the places that can have tokens and the transitions that can fire, as if tokens were never used up: a least
// fixpoint. It then excludes the joins that cannot get their tokens, and repeats until nothing changes.
func (c *checker) reach() {
	joins := slices.ContainsFunc(c.net.transitions, func(t transition) bool { return t.takes > 1 })
	for {
		c.spread()
		if !joins {
			return
		}
		b := boundsOf(c)
		again := false
		for id := range c.net.transitions {
			t := &c.net.transitions[id]
			if !c.fires[id] || t.takes == 1 {
				continue
			}
			if most := b.least(t); most < int(t.takes) {
				c.shut[id], c.most[id], c.scarce[id], again = true, most, b.scarcest(t), true
			}
		}
		if !again {
			return
		}
	}
}

// spread computes one fixpoint. lacks counts the inputs of a transition without a token, plus one for a gate that nothing has
// opened.
func (c *checker) spread() {
	n := c.net
	c.marked, c.fires = make([]bool, len(n.places)), make([]bool, len(n.transitions))
	lacks := make([]int, len(n.transitions))
	opens := make([][]int32, len(n.transitions)) // gates that a transition opens
	for id := range n.transitions {
		t := &n.transitions[id]
		lacks[id] = len(t.in)
		if t.gate && !t.outside {
			lacks[id]++
			for _, opener := range t.openers {
				opens[opener] = append(opens[opener], int32(id))
			}
		}
		if c.shut[id] {
			lacks[id]++ // never decremented
		}
	}
	opened := make([]bool, len(n.transitions))
	var queue []int32 // transitions that can fire
	met := func(id int32) {
		if lacks[id]--; lacks[id] == 0 {
			c.fires[id] = true
			queue = append(queue, id)
		}
	}
	mark := func(p int32) {
		if c.marked[p] {
			return
		}
		c.marked[p] = true
		for _, id := range n.places[p].consumers {
			met(id)
		}
	}
	for p := range n.places {
		if n.places[p].initial > 0 {
			mark(int32(p))
		}
	}
	for i := 0; i < len(queue); i++ {
		for _, p := range n.transitions[queue[i]].out {
			mark(p)
		}
		for _, gate := range opens[queue[i]] {
			if !opened[gate] {
				opened[gate] = true
				met(gate)
			}
		}
	}
}

// cause returns the problem of a transition that cannot fire. A missing token precedes a shut gate, which matters only once
// tokens arrive.
func (c *checker) cause(id int32) Problem {
	t := &c.net.transitions[id]
	for _, p := range t.in {
		if !c.marked[p] {
			return Problem{Kind: Unreachable, Transition: id, Place: p}
		}
	}
	if c.shut[id] {
		return Problem{Kind: Unsatisfiable, Transition: id, Place: c.scarce[id], Most: c.most[id]}
	}
	return Problem{Kind: Shut, Transition: id, Place: -1, Path: slices.Clone(t.openers)}
}

// Describe returns a problem of this net as a sentence without a period, with the names of its places and transitions.
func (n *Net) Describe(p Problem) string {
	switch name := n.transitions[p.Transition].name; p.Kind {
	case Unreachable:
		return fmt.Sprintf("%q can never fire: nothing puts a token into %q", name, n.places[p.Place].name)
	case Endless:
		return fmt.Sprintf("after %q no end can be reached: %s", name, n.route(p.Path))
	case Cycle:
		return fmt.Sprintf("nothing leads out of the cycle %s -> %s", n.route(p.Path), name)
	case Unsatisfiable:
		return fmt.Sprintf("%q takes %d tokens, and at most %d can arrive", name, n.transitions[p.Transition].takes, p.Most)
	case Shut:
		if len(p.Path) == 0 {
			return fmt.Sprintf("nothing can open the gate %q", name)
		}
		return fmt.Sprintf("nothing can open the gate %q: %s can never fire", name, n.route(p.Path))
	}
	return fmt.Sprintf("problem %d of %q", p.Kind, n.transitions[p.Transition].name)
}

func (n *Net) route(ids []int32) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = n.transitions[id].name
	}
	return strings.Join(names, " -> ")
}

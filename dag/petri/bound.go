package petri

import (
	"math"
	"strconv"

	"github.com/sluiceflow/sluice/dag"
)

// bounds holds upper bounds of the tokens that each place receives over a whole play: the initial tokens, and one for each
// firing of each producer. The scarcest input of a transition bounds its firings. A place on a cycle, or reachable from one,
// has no bound. The bounds ignore that transitions compete for tokens, so the true number may be lower.
type bounds struct{ places []int }

// unbounded is the bound of a place without one.
const unbounded = math.MaxInt

// boundsOf computes the bounds in topological order, which omits cycles.
func boundsOf(c *checker) bounds {
	n := c.net
	g := c.bipartite()
	b := bounds{places: make([]int, len(n.places))}
	firings := make([]int, len(n.transitions))
	for i := range b.places {
		b.places[i] = unbounded
	}
	for v := range g.Order() {
		if id := int(v) - len(n.places); id >= 0 {
			if c.fires[id] {
				firings[id] = b.least(&n.transitions[id])
				if firings[id] != unbounded {
					firings[id] /= int(n.transitions[id].takes)
				}
			}
			continue
		}
		total := int(n.places[v].initial)
		for _, id := range n.places[v].producers {
			total = plus(total, firings[id])
		}
		b.places[v] = total
	}
	return b
}

// least returns the bound of a transition's scarcest input.
func (b bounds) least(t *transition) int {
	least := unbounded
	for _, p := range t.in {
		least = min(least, b.places[p])
	}
	return least
}

// scarcest returns the first input of a transition with the least bound.
func (b bounds) scarcest(t *transition) int32 {
	for _, p := range t.in {
		if b.places[p] == b.least(t) {
			return p
		}
	}
	return -1
}

func plus(a, b int) int {
	if a == unbounded || b == unbounded || a > unbounded-b {
		return unbounded
	}
	return a + b
}

// bipartite returns a graph of the places and of the transitions that can fire: places first, then transitions, by id.
func (c *checker) bipartite() *dag.Graph {
	n := c.net
	b := dag.NewBuilder(dag.TemplateGraph)
	b.Grow(len(n.places)+len(n.transitions), 0)
	for i := range n.places {
		b.AddNode("p" + strconv.Itoa(i))
	}
	for i := range n.transitions {
		b.AddNode("t" + strconv.Itoa(i))
	}
	follows := dag.Attributes{Type: dag.Sequential}
	for i := range n.transitions {
		if !c.fires[i] {
			continue
		}
		at := int32(len(n.places) + i)
		for _, p := range n.transitions[i].in {
			b.AddEdge(p, at, follows)
		}
		for _, p := range n.transitions[i].out {
			b.AddEdge(at, p, follows)
		}
	}
	g, err := b.Build()
	if err != nil {
		panic("petri: " + err.Error()) // the keys are numbers, each used once
	}
	return g
}

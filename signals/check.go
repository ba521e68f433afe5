package signals

import (
	"errors"
	"fmt"
)

// Check tests the invariants of the nodes that are reachable from the graph's effects, and returns all violations, joined. It
// is for tests, between operations; it takes time linear in the effects and edges.
func (g *Graph) Check() error {
	c := checker{graph: g, seen: map[*node]bool{}}
	c.scope(&g.root)
	if c.edges != g.edges {
		c.report("%d links are reachable from effects, %d are counted", c.edges, g.edges)
	}
	if g.run != (run{}) || g.depth != 0 || len(g.stack) != 0 || g.draining {
		c.report("a run is open although nothing runs")
	}
	return errors.Join(c.errs...)
}

type checker struct {
	graph *Graph
	seen  map[*node]bool
	edges int
	errs  []error
}

func (c *checker) report(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

// scope checks the content of s.
func (c *checker) scope(s *Scope) {
	gaps := 0
	for i, n := range s.children {
		if n == nil {
			gaps++
			continue
		}
		if int(n.mark) != i || n.parentScope() != s || n.flags&disposed != 0 {
			c.report("child %d does not live in its scope", i)
		}
		c.node(n)
	}
	if gaps != s.gaps {
		c.report("a scope has %d gaps and counts %d", gaps, s.gaps)
	}
}

// node checks n, its inputs and its scope.
func (c *checker) node(n *node) {
	if c.seen[n] {
		return
	}
	c.seen[n] = true
	if n.flags&running != 0 {
		c.report("a node is marked as running although nothing runs")
	}
	if n.flags&effect != 0 && n.flags&(dirty|pending) != 0 && n.flags&queued == 0 {
		c.report("an effect has to run and is not queued")
	}
	if n.flags&(effect|owns) == 0 && (n.flags&subscribed == 0) != (n.subs == nil) {
		c.report("a computed is subscribed: %t, and has subscribers: %t", n.flags&subscribed != 0, n.subs != nil)
	}
	for l := n.deps; l != nil; l = l.nextDep {
		c.edges++
		c.link(n, l)
	}
	if own := n.runScope(); own != nil {
		c.scope(own)
	}
}

// link checks that l is in the right lists, and checks the node that it leads to.
func (c *checker) link(n *node, l *link) {
	if l.sub != n {
		c.report("a link among a node's inputs belongs to another node")
	}
	found := false
	for in := l.dep.subs; in != nil; in = in.nextSub {
		found = found || in == l
		if in.nextSub == nil && l.dep.subs.prevSub != in || in.nextSub != nil && in.nextSub.prevSub != in {
			c.report("the subscribers of a source are not linked both ways")
		}
	}
	if !found {
		c.report("an observed node is not among the subscribers of its input")
	}
	if dep := l.dep.node; dep != nil {
		if dep.flags&(dirty|pending) != 0 && n.flags&(dirty|pending) == 0 {
			c.report("a node is clean although its input is not")
		}
		c.node(dep)
	}
}

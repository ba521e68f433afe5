package plan

import (
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/dag"
)

// joinEdgesMax is how many edges a join may become in a graph. Beyond it the join is shown: eight steps before eight
// others can still be followed with the eye, fifty before fifty are a black square.
const joinEdgesMax = 64

// Graph gives the plan as a graph for drawings and other programs. Its nodes are the plan's rows in their order, under
// the names that GraphKey gives; its edges are these:
//
//	sequential    the target waits for the source because of its place in the tree, a `needs` or a status it reads
//	conditional   from a conditional to the first steps of a branch, under its test
//	data          the target waits for no other reason than that it reads the source's output
//
// DataFlow is set wherever the target reads the source's output. A map leads to the first steps of its body. Joins become
// the edges they stand for, unless these are too many: then the join is a node. It costs O(nodes + edges).
func (p *Plan) Graph() (*dag.Graph, error) {
	g := &grapher{plan: p, builder: dag.NewBuilder(dag.TemplateGraph), id: make([]int32, len(p.Nodes)), pairs: map[pair]int{}}
	for row := range p.Nodes {
		r := int32(row)
		g.id[row] = -1
		if !p.dissolves(r) {
			g.id[row] = g.builder.AddNode(p.GraphKey(r))
		}
	}
	for row := range p.Nodes {
		r := int32(row)
		for _, e := range p.Outgoing(r) {
			g.edge(e)
		}
		if p.Nodes[row].Kind == Map {
			g.body(r)
		}
	}
	for _, e := range g.edges {
		g.builder.AddEdge(e.From, e.To, e.Attrs)
	}
	return g.builder.Build()
}

// GraphKey is the name of a row's node in Graph: the id of a step, map or named conditional. A conditional without an id
// goes by its place, such as `steps[2]`, a join by its row, such as `#7`; no id looks like these.
func (p *Plan) GraphKey(row int32) string {
	switch n := &p.Nodes[row]; {
	case n.Key != "":
		return n.Key
	case n.Kind == Join:
		return "#" + strconv.Itoa(int(row))
	default:
		return n.Item.Path
	}
}

// dissolves reports whether a row is a join that a graph shows as the edges it stands for.
func (p *Plan) dissolves(row int32) bool {
	return p.Nodes[row].Kind == Join && len(p.Predecessors(row))*len(p.Outgoing(row)) <= joinEdgesMax
}

// pair is the ends of an edge, as nodes of the graph.
type pair struct{ from, to int32 }

// grapher collects the edges of a graph, each pair of ends once.
type grapher struct {
	plan    *Plan
	builder *dag.Builder
	id      []int32 // by row; -1: not in the graph
	edges   []dag.Edge
	pairs   map[pair]int // into edges
}

// edge adds an edge of the plan. One that leads to a join that dissolves leads to what is behind it, and what leaves such
// a join has been added by then. Joins do not follow each other: a sequence puts them between the steps of its elements.
func (g *grapher) edge(e Edge) {
	if g.id[e.From] < 0 {
		return
	}
	if g.id[e.To] >= 0 {
		g.add(e.From, e.To, g.attributes(e))
		return
	}
	for _, behind := range g.plan.Outgoing(e.To) {
		g.add(e.From, behind.To, dag.Attributes{Type: dag.Sequential})
	}
}

// body leads from a map to the rows of its body that wait for nothing else in it.
func (g *grapher) body(row int32) {
	for r := row + 1; r < g.plan.Nodes[row].End; r++ {
		if g.plan.Nodes[r].Map == row && g.plan.Nodes[r].Kind != Join && len(g.plan.Predecessors(r)) == 0 {
			g.add(row, r, dag.Attributes{Type: dag.Sequential})
		}
	}
}

// add adds an edge between two rows. Of two between the same rows the stronger type holds: a condition says more than an
// order, and an order more than a reading.
func (g *grapher) add(from, to int32, a dag.Attributes) {
	ends := pair{g.id[from], g.id[to]}
	i, ok := g.pairs[ends]
	if !ok {
		g.pairs[ends] = len(g.edges)
		g.edges = append(g.edges, dag.Edge{From: ends.from, To: ends.to, Attrs: a})
		return
	}
	was := &g.edges[i].Attrs
	a.DataFlow = a.DataFlow || was.DataFlow
	if was.Type == dag.Conditional || was.Type == dag.Sequential && a.Type == dag.Data {
		a.Type, a.Guards = was.Type, was.Guards
	}
	*was = a
}

func (g *grapher) attributes(e Edge) dag.Attributes {
	a := dag.Attributes{Type: dag.Sequential, DataFlow: e.Data}
	switch {
	case e.Guard:
		negated := g.plan.Nodes[e.To].Branch == Else
		a.Type, a.Guards = dag.Conditional, []dag.Guard{{Condition: condition(&g.plan.Nodes[e.From]), Negated: negated}}
	case e.Data && e.Read:
		a.Type = dag.Data
	}
	return a
}

// condition is the test of a gate as an expression without its braces, or the name of the Go function that decides. A
// bare step id is written out.
func condition(n *Node) string {
	switch {
	case n.Func != "":
		return n.Func
	case n.Item.TestID != "":
		return stepName(n.Item.TestID) + ".status == 'completed'"
	}
	text := strings.TrimSpace(n.Cond.Test)
	inner, opened := strings.CutPrefix(text, "{{")
	inner, closed := strings.CutSuffix(inner, "}}")
	if !opened || !closed {
		return text
	}
	return strings.TrimSpace(inner)
}

// stepName is how expressions name a step.
func stepName(id string) string {
	isWord := func(r rune) bool {
		return r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	if strings.ContainsFunc(id, func(r rune) bool { return !isWord(r) }) || '0' <= id[0] && id[0] <= '9' {
		return "steps[" + strconv.Quote(id) + "]"
	}
	return "steps." + id
}

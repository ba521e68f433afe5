package plan

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/dag"
)

// joinEdgesMax bounds the edges that replace a join in a graph; above it the join is shown: the edges between eight steps
// and eight others are still readable, those between fifty and fifty are not.
const joinEdgesMax = 64

// Graph returns the plan as a graph for other programs. Its nodes are the steps and maps in order, named by GraphKey; its
// edges are these:
//
//	sequential    the target waits for the source because of its place in the tree, a `needs` or a status it reads
//	conditional   the same, and the target runs only under its guards: the tests of the conditionals around it that the
//	              source stands outside of, the outermost first
//	data          the target waits for no other reason than that it reads the source's output
//
// DataFlow is set if the target reads the source's output. A map leads to the first steps of its body. Edges replace
// conditionals and joins. A conditional or join stays a node if the edges would be too many, and a conditional also if it
// has no predecessor, because its test would be lost. Graph costs O(nodes + edges).
func (p *Plan) Graph() (*dag.Graph, error) { return p.graph(false) }

// Diagram is Graph for people: conditionals are nodes, with their tests on the edges to their branches.
func (p *Plan) Diagram() (*dag.Graph, error) { return p.graph(true) }

func (p *Plan) graph(conditionals bool) (*dag.Graph, error) {
	g := &grapher{
		plan: p, builder: dag.NewBuilder(dag.TemplateGraph), conditionals: conditionals,
		id: make([]int32, len(p.Nodes)), entries: map[int32][]dag.Edge{}, pairs: map[pair]int{},
	}
	for row := range p.Nodes {
		r := int32(row)
		g.id[row] = -1
		if !g.dissolves(r) {
			g.id[row] = g.builder.AddNode(p.GraphKey(r))
		}
	}
	for row := range p.Nodes {
		r := int32(row)
		if g.id[row] >= 0 {
			for _, e := range g.into(r) {
				g.add(e)
			}
		}
	}
	slices.SortFunc(g.edges, func(a, b dag.Edge) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	for _, e := range g.edges {
		g.builder.AddEdge(e.From, e.To, e.Attrs)
	}
	return g.builder.Build()
}

// GraphKey returns the name of a row's node in Graph: the id of a step, map or named conditional. A conditional without an
// id is named by its place, such as `steps[2]`, a join by its row, such as `#7`; no id has these forms.
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

// pair is the ends of an edge, as nodes of the graph.
type pair struct{ from, to int32 }

// grapher collects the edges of a graph, each pair of ends once.
type grapher struct {
	plan         *Plan
	builder      *dag.Builder
	conditionals bool    // they are nodes
	id           []int32 // by row; -1: not in the graph
	entries      map[int32][]dag.Edge
	edges        []dag.Edge
	pairs        map[pair]int // into edges
}

// dissolves reports whether a row is replaced by its edges.
func (g *grapher) dissolves(row int32) bool {
	switch g.plan.Nodes[row].Kind {
	case Join:
	case Gate:
		if g.conditionals {
			return false
		}
	default:
		return false
	}
	n := len(g.into(row))
	return n > 0 && n*len(g.plan.Outgoing(row)) <= joinEdgesMax
}

// into returns the edges that lead to a row, including those through rows that dissolve. From and To are rows.
func (g *grapher) into(row int32) []dag.Edge {
	if list, known := g.entries[row]; known {
		return list
	}
	var list []dag.Edge
	for _, p := range g.plan.Predecessors(row) {
		e := g.plan.edge(p, row)
		if !g.dissolves(p) {
			list = append(list, dag.Edge{From: p, To: row, Attrs: attributes(e)})
			continue
		}
		for _, before := range g.into(p) {
			list = append(list, dag.Edge{From: before.From, To: row, Attrs: dag.Attributes{Type: dag.Sequential}})
		}
	}
	if each := g.plan.Nodes[row].Map; each >= 0 && g.plan.Nodes[row].Kind != Join && len(list) == 0 {
		list = append(list, dag.Edge{From: each, To: row, Attrs: dag.Attributes{Type: dag.Sequential}})
	}
	g.entries[row] = list
	return list
}

// add adds an edge between two rows. Of two edges between the same rows the stronger type is kept: an order is stronger than
// a read.
func (g *grapher) add(e dag.Edge) {
	if a := &e.Attrs; a.Type != dag.Data {
		if a.Guards = g.guards(e.From, e.To); len(a.Guards) > 0 {
			a.Type = dag.Conditional
		}
	}
	ends := pair{g.id[e.From], g.id[e.To]}
	i, ok := g.pairs[ends]
	if !ok {
		g.pairs[ends] = len(g.edges)
		g.edges = append(g.edges, dag.Edge{From: ends.from, To: ends.to, Attrs: e.Attrs})
		return
	}
	was := &g.edges[i].Attrs
	flow := was.DataFlow || e.Attrs.DataFlow
	if was.Type == dag.Data {
		*was = e.Attrs
	}
	was.DataFlow = flow
}

func attributes(e Edge) dag.Attributes {
	if e.Data && e.Read && !e.Guard {
		return dag.Attributes{Type: dag.Data, DataFlow: true}
	}
	return dag.Attributes{Type: dag.Sequential, DataFlow: e.Data}
}

// guards returns the tests that guard an edge, outermost first: the tests of the conditionals that contain its target and
// not its source. If conditionals are nodes, only the edges from them have guards.
func (g *grapher) guards(from, to int32) []dag.Guard {
	var list []dag.Guard
	for gate := g.plan.Nodes[to].Gate; gate >= 0; to, gate = gate, g.plan.Nodes[gate].Gate {
		n := &g.plan.Nodes[gate]
		if gate < from && from < n.End || g.conditionals && gate != from {
			break
		}
		list = append(list, dag.Guard{Condition: condition(n), Negated: g.plan.Nodes[to].Branch == Else})
	}
	slices.Reverse(list)
	return list
}

// edge returns the edge between two rows.
func (p *Plan) edge(from, to int32) Edge {
	out := p.Outgoing(from)
	i, _ := slices.BinarySearchFunc(out, to, func(e Edge, row int32) int { return int(e.To) - int(row) })
	return out[i]
}

// condition returns the test of a gate as an expression without braces, or the name of the Go function that decides. A bare
// step id is expanded.
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

// stepName returns the name of a step in expressions.
func stepName(id string) string {
	isWord := func(r rune) bool {
		return r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	if strings.ContainsFunc(id, func(r rune) bool { return !isWord(r) }) || '0' <= id[0] && id[0] <= '9' {
		return "steps[" + strconv.Quote(id) + "]"
	}
	return "steps." + id
}

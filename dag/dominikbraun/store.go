package dominikbraun

import (
	"errors"
	"strings"

	"github.com/dominikbraun/graph"

	"github.com/sluiceflow/sluice/dag"
)

// ErrReadOnly is returned by everything that would change the graph.
var ErrReadOnly = errors.New("dominikbraun: graph is read-only")

// Node is a vertex. ID is its hash; in a clone of the graph, vertices may be added with ids of one's own.
type Node struct {
	ID  int32
	Key string
}

// Hash gives the hash of a vertex.
func Hash(n Node) int32 { return n.ID }

// New gives a directed graph of the library that reads g. It has the Acyclic trait if g has no cycle. It is safe for
// concurrent use, as g is.
func New(g *dag.Graph) graph.Graph[int32, Node] {
	traits := []func(*graph.Traits){graph.Directed()}
	if g.CheckAcyclic() == nil {
		traits = append(traits, graph.Acyclic())
	}
	return graph.NewWithStore(Hash, graph.Store[int32, Node](store{g}), traits...)
}

// store implements graph.Store on a graph that does not change.
type store struct{ g *dag.Graph }

var _ graph.Store[int32, Node] = store{}

func (s store) has(id int32) bool { return uint32(id) < uint32(s.g.NodeCount()) }

// Vertex gives a node with its key as label, escaped for DOT: draw.DOT writes attributes as they are.
func (s store) Vertex(id int32) (Node, graph.VertexProperties, error) {
	if !s.has(id) {
		return Node{}, graph.VertexProperties{}, graph.ErrVertexNotFound
	}
	key := s.g.Key(id)
	return Node{id, key}, graph.VertexProperties{Attributes: map[string]string{"label": escape(key)}}, nil
}

// ListVertices gives all ids in order of insertion.
func (s store) ListVertices() ([]int32, error) {
	ids := make([]int32, 0, s.g.NodeCount())
	for id := range s.g.Nodes() {
		ids = append(ids, id)
	}
	return ids, nil
}

// VertexCount gives the number of nodes.
func (s store) VertexCount() (int, error) { return s.g.NodeCount(), nil }

// Edge gives the edges between two nodes as one.
func (s store) Edge(from, to int32) (graph.Edge[int32], error) {
	if !s.has(from) || !s.has(to) {
		return graph.Edge[int32]{}, graph.ErrEdgeNotFound
	}
	var parallel []dag.Edge
	for e := range s.g.OutEdges(from) {
		if e.To == to {
			parallel = append(parallel, e)
		}
	}
	if parallel == nil {
		return graph.Edge[int32]{}, graph.ErrEdgeNotFound
	}
	return merge(parallel), nil
}

// ListEdges gives one edge for every pair of nodes that has any, by (from, to).
func (s store) ListEdges() ([]graph.Edge[int32], error) {
	edges := make([]graph.Edge[int32], 0, s.g.EdgeCount())
	for e := range s.g.Edges() {
		if last := len(edges) - 1; last >= 0 && edges[last].Source == e.From && edges[last].Target == e.To {
			edges[last] = merge(append(edges[last].Properties.Data.([]dag.Edge), e))
			continue
		}
		edges = append(edges, merge([]dag.Edge{e}))
	}
	return edges, nil
}

// CreatesCycle answers from our own reachability; without it the library would copy the graph for every question.
func (s store) CreatesCycle(from, to int32) (bool, error) {
	if !s.has(from) || !s.has(to) {
		return false, graph.ErrVertexNotFound
	}
	return from == to || s.g.Reaches(to, from), nil
}

// AddVertex returns ErrReadOnly.
func (s store) AddVertex(int32, Node, graph.VertexProperties) error { return ErrReadOnly }

// RemoveVertex returns ErrReadOnly.
func (s store) RemoveVertex(int32) error { return ErrReadOnly }

// AddEdge returns ErrReadOnly.
func (s store) AddEdge(_, _ int32, _ graph.Edge[int32]) error { return ErrReadOnly }

// UpdateEdge returns ErrReadOnly.
func (s store) UpdateEdge(_, _ int32, _ graph.Edge[int32]) error { return ErrReadOnly }

// RemoveEdge returns ErrReadOnly.
func (s store) RemoveEdge(_, _ int32) error { return ErrReadOnly }

// merge makes one edge of the parallel edges between two nodes, of which there is at least one. Guards become its
// label, escaped for DOT. The attributes are never nil and nobody else's: options of the library write to them.
func merge(parallel []dag.Edge) graph.Edge[int32] {
	attributes := map[string]string{}
	for _, e := range parallel {
		if label := e.Attrs.Label(); label != "" {
			attributes["label"] = escape(label)
		}
	}
	first := parallel[0]
	return graph.Edge[int32]{
		Source:     first.From,
		Target:     first.To,
		Properties: graph.EdgeProperties{Attributes: attributes, Weight: 1, Data: parallel},
	}
}

// escape prepares text for a double-quoted DOT string, which the library does not.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text)
}

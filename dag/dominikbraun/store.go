package dominikbraun

import (
	"errors"
	"strings"

	"github.com/dominikbraun/graph"

	"github.com/sluiceflow/sluice/dag"
)

// ErrReadOnly is the error of methods that would change the graph.
var ErrReadOnly = errors.New("dominikbraun: graph is read-only")

// Key is the key of a node, which is both hash and vertex for the library. An id would not do: the library's search for
// components reads the zero hash as “none” and would lose node 0. No key is empty.
type Key string

// String returns the key escaped for a double-quoted DOT string, since draw.DOT does not escape it. Only keys with quotes,
// backslashes or line ends differ from string(k).
func (k Key) String() string { return escape(string(k)) }

// Hash returns the hash of a vertex, which is the vertex.
func Hash(k Key) Key { return k }

// New returns a directed graph of the library that reads g. It has the Acyclic trait if g has no cycle. It is safe for
// concurrent use, as g is.
func New(g *dag.Graph) graph.Graph[Key, Key] {
	traits := []func(*graph.Traits){graph.Directed()}
	if g.CheckAcyclic() == nil {
		traits = append(traits, graph.Acyclic())
	}
	return graph.NewWithStore(Hash, graph.Store[Key, Key](store{g}), traits...)
}

// store implements graph.Store on a graph that does not change.
type store struct{ g *dag.Graph }

var _ graph.Store[Key, Key] = store{}

// ids finds both ends of an edge.
func (s store) ids(source, target Key) (from, to int32, ok bool) {
	from, okFrom := s.g.Node(string(source))
	to, okTo := s.g.Node(string(target))
	return from, to, okFrom && okTo
}

// Vertex returns a node, with a label if draw.DOT would otherwise show its escapes.
func (s store) Vertex(key Key) (Key, graph.VertexProperties, error) {
	if !s.g.Has(string(key)) {
		return "", graph.VertexProperties{}, graph.ErrVertexNotFound
	}
	attributes := map[string]string{}
	if escaped := key.String(); escaped != string(key) {
		attributes["label"] = escaped
	}
	return key, graph.VertexProperties{Attributes: attributes}, nil
}

// ListVertices returns all keys in order of insertion.
func (s store) ListVertices() ([]Key, error) {
	keys := make([]Key, 0, s.g.NodeCount())
	for _, key := range s.g.Nodes() {
		keys = append(keys, Key(key))
	}
	return keys, nil
}

// VertexCount returns the number of nodes.
func (s store) VertexCount() (int, error) { return s.g.NodeCount(), nil }

// Edge returns the edges between two nodes as one.
func (s store) Edge(source, target Key) (graph.Edge[Key], error) {
	from, to, ok := s.ids(source, target)
	if !ok || !s.g.HasEdge(from, to) {
		return graph.Edge[Key]{}, graph.ErrEdgeNotFound
	}
	var parallel []dag.Edge
	for e := range s.g.OutEdges(from) {
		if e.To == to {
			parallel = append(parallel, e)
		}
	}
	return s.merge(parallel), nil
}

// ListEdges returns one edge for every pair of nodes that has any, by order of insertion of the nodes.
func (s store) ListEdges() ([]graph.Edge[Key], error) {
	edges := make([]graph.Edge[Key], 0, s.g.EdgeCount())
	var parallel []dag.Edge
	for e := range s.g.Edges() {
		if parallel != nil && (parallel[0].From != e.From || parallel[0].To != e.To) {
			edges = append(edges, s.merge(parallel))
			parallel = nil
		}
		parallel = append(parallel, e)
	}
	if parallel != nil {
		edges = append(edges, s.merge(parallel))
	}
	return edges, nil
}

// AddVertex returns ErrReadOnly.
func (s store) AddVertex(Key, Key, graph.VertexProperties) error { return ErrReadOnly }

// RemoveVertex returns ErrReadOnly.
func (s store) RemoveVertex(Key) error { return ErrReadOnly }

// AddEdge returns ErrReadOnly.
func (s store) AddEdge(_, _ Key, _ graph.Edge[Key]) error { return ErrReadOnly }

// UpdateEdge returns ErrReadOnly.
func (s store) UpdateEdge(_, _ Key, _ graph.Edge[Key]) error { return ErrReadOnly }

// RemoveEdge returns ErrReadOnly.
func (s store) RemoveEdge(_, _ Key) error { return ErrReadOnly }

// merge combines the parallel edges, at least one, between two nodes. Guards become the label, escaped for DOT. The attributes
// are never nil or shared, because options of the library write to them.
func (s store) merge(parallel []dag.Edge) graph.Edge[Key] {
	attributes := map[string]string{}
	for _, e := range parallel {
		if label := e.Attrs.Label(); label != "" {
			attributes["label"] = escape(label)
		}
	}
	first := parallel[0]
	return graph.Edge[Key]{
		Source:     Key(s.g.Key(first.From)),
		Target:     Key(s.g.Key(first.To)),
		Properties: graph.EdgeProperties{Attributes: attributes, Weight: 1, Data: parallel},
	}
}

// escape escapes text for a double-quoted DOT string. The library does not escape.
func escape(text string) string { return escapes.Replace(text) }

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

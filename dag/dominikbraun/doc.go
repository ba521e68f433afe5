// Package dominikbraun adapts a dag.Graph to github.com/dominikbraun/graph, so that the algorithms and the DOT export of
// that library run on it without a copy: shortest paths, all paths, transitive reduction, spanning trees.
//
//	h := dominikbraun.New(g)
//	path, err := graph.ShortestPath(h, "split", "join")
//	err = draw.DOT(h, os.Stdout)
//
// Vertices are node keys. Each pair of nodes has one edge, because the library has no parallel edges; all edges of the pair
// are in its EdgeProperties.Data, a []dag.Edge. The graph is read-only: methods that would change it return ErrReadOnly.
// Clone returns an ordinary graph of the library that can be changed.
//
// The algorithms that run for every workflow (order, cycles, reachability, ranks) are in dag.Graph itself, linear and
// deterministic. The library copies all edges into maps for most algorithms and returns several results in random order.
package dominikbraun

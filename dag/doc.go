// Package dag implements a compact immutable directed graph: nodes with string keys and dense int32 ids, typed edges, a
// stable topological order, cycle witnesses, traversals and exports. It is independent of workflows; templates compile to it
// and call graphs are projected onto it.
//
//	b := dag.NewBuilder(dag.TemplateGraph)
//	fetch, pay := b.AddNode("fetch"), b.AddNode("pay")
//	b.AddEdge(fetch, pay, dag.Attributes{Type: dag.Sequential})
//	g, err := b.Build()
//	for v := range g.Order() { fmt.Println(g.Key(v)) }
//
// # Layout
//
// Build packs the edges into compressed rows, once per direction, so the neighbours of a node are adjacent:
//
//	a -> b, a -> c, b -> c          node       a     b     c
//	                                outStart   0     2     3     3
//	edge   0    1    2              outTo     [b c] [c]   []
//	from   a    a    b              inStart    0     0     1     3
//	to     b    c    c              inFrom     []   [a]   [a b]
//
// Edges are numbered by (from, to, type), in whatever order they were added: two graphs with the same edges and the same nodes
// in the same order are equal, and so are all their exports. Conditions are interned and kept apart from the rows; an edge
// without one costs a single byte beyond its ends.
//
// # Contracts
//
// Ids are [0, NodeCount) in order of insertion, and insertion order breaks every tie. A method panics on an id outside that
// range, as indexing a slice does.
//
// A Graph is immutable and safe for concurrent use. A Builder belongs to one goroutine. Nothing here starts a
// goroutine, reads a clock or depends on the iteration order of a map. Keys are hashed with a random seed, so that no document
// can choose keys that collide; the seed affects only the layout of an internal table.
//
// A graph may have cycles: Build accepts them, CheckAcyclic reports them. Order and Rank then cover exactly the nodes that
// are neither on a cycle nor reachable from one.
//
// # Cost
//
// For n nodes and m edges, of which d leave the node in question:
//
//	Build                              O(n + m), about 90 bytes a node with three edges each and keys of 11 bytes
//	Node, Has, Key, Rank, degrees      O(1)
//	HasEdge, Edge                      O(log d)
//	Out, In, OutEdges, InEdges         O(d)
//	Nodes, Edges, Order, Roots, Leaves O(n + m) in total; less if the loop ends early
//	Ancestors, Descendants, Reaches    O(nodes and edges reached) and n/8 bytes of marks
//	Cycles                             O(n + m), only over the nodes without a place in the order
//
// Everything up to Leaves allocates nothing. Keys are substrings of one string that lives as long as any of them.
//
// The topological order is Kahn's (1962) with a priority queue over insertion order; components are found by Tarjan's
// algorithm (1972).
package dag

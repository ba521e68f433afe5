// Package layout computes the positions of the nodes of a directed graph and the lines of its edges: every edge leads down (or to
// the right), no boxes overlap, and few edges cross. It does not depend on workflows, and draws nothing.
//
//	p, err := layout.Lay(&layout.Graph{
//		Nodes: []layout.Node{{ID: "a", Width: 160, Height: 40, Group: -1}, {ID: "b", Width: 160, Height: 40, Group: -1}},
//		Edges: []layout.Edge{{From: 0, To: 1}},
//	})
//	p.Nodes[1]  // the box of b
//	p.Route(0)  // the points of the line from a to b
//
// # How
//
// A node is one layer below the lowest of its predecessors; one without predecessors is pulled down to its highest successor. Edges
// over several layers take a bend in each layer between. All such edges of one node share one chain of bends: a step with a hundred
// readers has one line past them, not a hundred. Sweeps over the layers, down and up, sort each layer by the mean position of the
// neighbours; the order with the fewest crossings, counted with a Fenwick tree, is used. Then the items of each layer move as near
// to their neighbours as the widths allow: a least-squares problem with order constraints, solved by pooling adjacent violators.
// Between two layers, lines run along horizontal tracks, up to 64: lines of different nodes that would overlap have different
// tracks. Nodes that lead to the same nodes share a track.
//
// An edge that closes a cycle is drawn upwards, from below its first node, past it, and into the top of its second, and marked in
// [Picture.Reversed]; with [Graph.RefuseCycles] it is an error. The content of a group is laid out first; in the layout around it,
// the group is one box, and lines pass its border straight down. If there would be too many bends, the longest chains have none
// and run beside the picture.
//
// # Contracts
//
// The picture depends only on the graph, and not on the order of its nodes and edges: the same nodes and edges in another order have
// the same boxes. Nothing here reads a clock, starts a goroutine, or depends on the iteration order of a map; products are not fused
// with sums, so every processor computes the same. Lay does not change the Graph.
//
// # Cost
//
// O(s log s) for a fixed number of sweeps, where s is the number of nodes, edges and bends. There are at most 20 bends for each
// node and edge, or 6 in large graphs. 10,000 nodes with 25,000 edges take 0.4 s, 100,000 nodes 2.6 s.
package layout

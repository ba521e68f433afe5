// Package callgraph records the calls of a run and, for each call, the calls that it had to wait for. It follows the root of a
// run while the journal's events are applied, and decides nothing. It has no clock and no goroutine and does no I/O.
//
//	events ──▶ Graph ──▶ Node: one request, from its beginning to its end
//	             └─────▶ Order: the calls for which a call waited (by the plan of a workflow, or the net of a playbook)
//	Graphs of several runs ──▶ Merge ──▶ one graph, of a parent and its children
package callgraph

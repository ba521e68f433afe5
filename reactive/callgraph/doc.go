// Package callgraph says what was called in a run, and which calls had to wait for which. It follows a run's root while the events of
// its journal are applied, and nothing is decided by it: no clock, no goroutine, no I/O.
//
//	events ──▶ Graph ──▶ Node: one request, from its beginning to its end
//	             └─────▶ Order: what a call waited for (of a workflow from its plan, of a playbook from its net)
//	Graphs of several runs ──▶ Merge ──▶ one graph, of a parent and its children
package callgraph

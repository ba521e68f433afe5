// Package reactive is the pure half of Sluice at run time: it computes the state of a run from its journal. It has no clock, does no I/O, starts
// no goroutine and draws no random number: the same plan and the same events give the same statuses, decisions and ids,
// live, recovered, or years later.
//
//	journal event ──▶ fold ──▶ facts: attempts, decisions, aborts, in the order of history
//	                             │ marks
//	                             ▼
//	                   gate bank, by rank ──▶ statuses ──▶ slots, in template order ──▶ ready
//	                             ▲              │
//	                             └── shows ─────┘
//
// Facts depend on the order of history and are folded, one event at a time, into flat arrays. Everything else is counted:
// every node counts its predecessors that are not satisfied, not settled, blocking or moved, in a signals.Bank over the
// plan's edges, and its status is recomputed only when such a count leaves or reaches zero. So an event costs as much as the
// edges of the nodes that it changed, even at a join of 100,000.
//
// The life of a step:
//
//	idle ─▶ waiting ─▶ ready ─▶ running ─▶ completed | failed | aborted      (skipped: branch not taken, or by timing)
//
// A failed step with attempts left stays failed until its retry is requested, and neither blocks nor satisfies anything
// meanwhile. A failure blocks along edges: what needs the step aborts, what runs beside it goes on. A conditional whose
// test reads the status or error of a failed step catches the failure.
//
// A Root is made of parts, each with one concept, a type and a file:
//
//	ledger.Ledger   the calls, as journaled: attempts, timers, requests, participants, tasks, messages, reports
//	places          the nodes, their names and their order
//	room            admission: slots (package slots), and what a process must have for a call
//	tree            statuses of nodes, with its gates (conditionals) and faults (causes of failures)
//	Calls           nodes in place of the tree's, where a Body such as that of package net decides which calls there are
//
// The tree is not a Body: a routed run has a tree as well, which holds the statuses and slots of its Calls. And it computes
// statuses within the fold, node by node, where a Body acts after each event.
//
// Packages above answer queries: inspect, callgraph, live. A Body answers those about itself, as plain data of packages routed and
// explain.
//
// Contracts: a Root is owned by one goroutine. Apply takes events in the order of the journal. An event that comes twice,
// too late or for an unknown node changes no status; its Effect says so.
//
// Cost (2 cores, one step with three predecessors, request and answer applied): see BenchmarkRoot.
package reactive

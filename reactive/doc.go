// Package reactive is the pure half of Sluice at run time: what a run's journal means. It has no clock, does no I/O, starts
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
// plan's edges, and is derived anew only when such a count leaves or reaches zero. So the cost of an event is that of the
// edges of the nodes it changed, also at a join of 100,000.
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
//	ledger.Ledger   what the journal says of calls: attempts, timers, requests, participants, tasks, messages, reports
//	places          what the nodes are, how they are named and how they follow one another
//	room            who may start: slots (package slots), and what a process must have for a call
//	tree            where nodes stand, with its gates (conditionals) and faults (why something has failed)
//	Calls           in place of the tree, where a Body such as package net decides which calls there are
//
// The tree is no Body: a routed run has a tree too, whose part is to hold the statuses and slots of Calls, and what it derives is
// derived within the fold, node by node, not after each event.
//
// What people ask is answered by packages above: inspect, callgraph, live.
//
// Contracts: a Root is owned by one goroutine. Apply takes events in the order of the journal. An event that comes twice,
// too late or for nobody changes no status, and is told apart by its Outcome.
//
// Cost (2 cores, one step with three predecessors, request and answer applied): see BenchmarkRoot.
package reactive

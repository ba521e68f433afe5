// Package reactive computes the state of a run from its journal. It has no clock, starts no goroutine, draws no random
// number and does no I/O: the same plan and the same events yield the same statuses, decisions and ids, whether the run is
// live, recovered, or replayed years later.
//
//	journal event ──▶ fold ──▶ facts: attempts, decisions, aborts, in the order of history
//	                             │ marks
//	                             ▼
//	                   gate bank, by rank ──▶ statuses ──▶ slots, in template order ──▶ ready
//	                             ▲              │
//	                             └── shows ─────┘
//
// Facts depend on the order of events and are folded, one event at a time, into flat arrays. Everything else is counted. A
// signals.Bank over the edges of the plan counts, for every node, the predecessors that are unsatisfied, unsettled, blocking
// or moved. A node's status is recomputed only when such a count leaves or reaches zero, so an event costs as much as the
// edges of the nodes that it changes, even at a join of 100,000.
//
// The life of a step:
//
//	idle ─▶ waiting ─▶ ready ─▶ running ─▶ completed | failed | aborted      (skipped: branch not taken, or by timing)
//
// A failed step with attempts left stays failed until its retry is requested; meanwhile it neither blocks nor satisfies
// other steps. A failure blocks along edges: steps that need the failed step abort, steps beside it go on. A conditional
// whose test reads the status or error of a failed step catches the failure.
//
// A Root has these parts, each a type in a file of its own:
//
//	ledger.Ledger   the calls, as journaled: attempts, timers, requests, participants, tasks, messages, reports
//	places          the nodes, their names and their order
//	room            admission: slots (package slots), and the resources that a process needs for a call
//	tree            statuses of nodes, with its gates (conditionals) and faults (causes of failures)
//	Calls           nodes in place of the tree's, where a Body such as that of package net decides which calls there are
//
// A routed run has a tree as well: it holds the statuses and slots of the run's Calls. It computes statuses within the fold,
// node by node, while a Body acts after each event.
//
// Packages above: decide says how a run goes on, bodies has the Body of each kind of routed workflow (net for playbooks, world for worlds),
// inspect, callgraph and live answer queries. A Body answers those about itself, as plain data of packages routed and explain.
// Package cells declares the operations of a run with cells.
//
// Contracts: a Root is owned by one goroutine. Apply takes events in the order of the journal. An event that is duplicate,
// late or about an unknown node changes no status; its Effect says which.
// BenchmarkRoot measures the cost of a step: its request and its answer, with three predecessors.
package reactive

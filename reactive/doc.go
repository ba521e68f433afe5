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
// Facts depend on the order of events: fold applies one event at a time to flat arrays. Everything else is derived. A
// signals.Bank over the edges of the plan counts, for every node, the predecessors that are unsatisfied, unsettled, blocking or
// moved. A node's status is recomputed only when such a count leaves or reaches zero, so an event costs as much as the edges of
// the nodes that it changes, even at a join of 100,000.
//
// The life of a step:
//
//	idle ─▶ waiting ─▶ ready ─▶ running ─▶ completed | failed | aborted      (skipped: branch not taken, or by timing)
//
// A failed step with attempts left stays failed until its retry is requested; meanwhile it neither blocks nor satisfies
// other steps. A failure blocks along edges: steps that need the failed step abort, steps beside it continue. A conditional
// whose test reads the status or error of a failed step catches the failure.
//
// A Root has these parts, each a type in a file of its own:
//
//	ledger.Ledger   the calls, as journaled: attempts, timers, requests, participants, tasks, messages, reports
//	places          the nodes, their names and their order
//	room            admission: slots (package slots), and the resources of the process that a call needs
//	tree            statuses of nodes, with its gates (conditionals) and faults (causes of failures)
//	Calls           nodes in place of the tree's, if a Body, such as a playbook's in package net, decides the calls
//
// A routed run has a tree as well: it holds the statuses and slots of the run's Calls. The tree computes statuses within the
// fold, node by node; the Body acts after each event.
//
// Packages above: decide decides the next events of a run, bodies has the Body of each kind of routed workflow (net for playbooks,
// world for worlds), and inspect, callgraph and live answer queries. A Body answers queries about itself, as plain data of packages
// routed and explain. Package cells declares the operations of a run with cells.
//
// Contracts: a Root belongs to one goroutine. Apply takes events in the order of the journal. An event that is a duplicate,
// late or about an unknown node changes no status; its Effect is the reason. BenchmarkRoot measures the cost of a step: its
// request and its answer, with three predecessors.
package reactive

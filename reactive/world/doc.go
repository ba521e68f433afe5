// Package world computes the state of a world from its journal. A world has the cells of keyed machines, which take messages
// one at a time, emit effects, and receive their results.
//
//	message ──▶ Receive: normal form, route ──▶ message.received ──▶ mailboxes of cells
//	                                                                     │
//	      ┌── ring: cells with mail take turns, one item each ◀──────────┘
//	      ▼
//	   Next: machine.Step(state, item) ──▶ cell.stepped: new state, raised events, effects, dropped intents
//	      │                                    │                │
//	      └── an invalid result: cell.failed   ▼                ▼
//	                               mailboxes of other cells   intents: calls of the root, timers
//	                                                            │
//	               receipt, rejection, frame ◀── call.responded, call.error, timer.fired, call.reported
//
// A World is a reactive.Body: its root manages the calls of its effects, with their attempts, timing and participants. A cell
// does not block on a call: when the call has ended, its mailbox receives the receipt.
//
// # Rules
//
// Every activation is one event, cell.stepped, with all its results. Applying the event runs no machine, so a run is recovered
// without the code of its machines, in time proportional to the events. An activation has all of its consequences, or none: in
// that case the cell fails, keeps its state and its intents, and its item is put aside until a person retries it.
//
// A cell's mailbox is in the order of the journal. Cells with mail that are not held take turns, one item each.
//
// A cell has a status, the first of these that holds: failed; waiting (for intents); running (it has mail, or is a process that
// has not completed); completed. A paused cell keeps its status.
//
// # Cost
//
// The cost of an event depends on the mail that it delivers and the intents that it opens and ends, not on the number of cells. With
// content, memory holds the cells that have changed since the newest snapshot, the cells with open calls or a pending turn, some
// others, and the timers that are due next; without content, it holds every cell.
package world

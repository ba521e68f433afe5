// Package world computes the state of a world from its journal: of the cells of keyed machines, which take messages one at a
// time, ask for effects, and receive their results.
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
// A World is a reactive.Body: its root keeps the calls of its effects, with their attempts, timing and participants. A cell
// does not wait for a call: when the call has ended, the cell finds the receipt in its mailbox.
//
// # Rules
//
// Every activation is one event, cell.stepped, which holds all that came of it. Applying the event runs no machine, so that a
// run is recovered without the code of its machines, and in time proportional to the events. An activation has all of its
// consequences, or none: then the cell fails, keeps its state and its intents, and its event is put aside until a person
// retries it.
//
// A cell's mailbox is in the order of the journal. Cells with mail that are not held take turns, one item each.
//
// A cell has a status, the first of these that holds: failed; waiting (for intents); running (it has mail, or is a process that
// has not completed); completed. A paused cell keeps its status.
//
// # Cost
//
// An event costs as much as the mail that it delivers and the intents that it opens and ends, however many cells there are.
// With content, memory holds the cells that have changed since the newest snapshot, those with open calls or a turn to come, some others,
// and the timers that are due next; else it holds every cell.
package world

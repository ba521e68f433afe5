// Package ledger keeps what the journal says of a run's calls: attempts and how they ended, whom they ask, what these answer, whether
// the task is done, reports, messages, and the timers that follow from all that. What the calls are for, and in which order they may
// start, is not its business: package reactive, whose Root holds a Ledger, says so as its Host.
//
//	event ──▶ Keeper ──▶ attempts ─┬─▶ timers     retry, timeout, hedge, deadline: what follows at an instant
//	                               ├─▶ fan-out    one dispatch per participant, until they decide the attempt
//	                               ├─▶ tasks      who says that the work is done: its answer, a call, a person
//	                               └─▶ requests   calls to make and to stop
//	             Host ◀── an attempt begins, is wanted, or is not wanted any more
//
// The owner folds events with a Keeper; a Ledger can only be read. Like the root it has no clock and does no I/O: instants are
// values on events. It is owned by one goroutine, and what it returns belongs to it unless it says otherwise.
package ledger

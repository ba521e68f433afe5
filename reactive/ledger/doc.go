// Package ledger records the calls of a run, as journaled: attempts and their ends, participants and their answers, the
// decisions about tasks, reports, messages, and the timers that follow from these. Package reactive determines the purpose
// of the calls and the order in which they may start; its Root holds a Ledger and is its Host.
//
//	event ──▶ Keeper ──▶ attempts ─┬─▶ timers     retry, timeout, hedge, deadline: the events due at an instant
//	                               ├─▶ fan-out    one dispatch per participant, until they decide the attempt
//	                               ├─▶ tasks      the source that decides whether the work is done: its answer, a call, a person
//	                               └─▶ requests   calls to make and to stop
//	             Host ◀── an attempt begins, is wanted, or is no longer wanted
//
// The owner folds events with a Keeper; a Ledger can only be read. Like the root, it has no clock and does no I/O: instants are
// values in events. It belongs to one goroutine, which also owns the returned values, unless their documentation says
// otherwise.
package ledger

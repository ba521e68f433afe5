// Package inspect answers queries about a run: its state, its changes, the outputs of its steps, and the reasons for their
// statuses. It reads a run's root while the events of its journal are applied. It has no clock and no goroutine and does no I/O:
// the same events lead to the same answers. A reactive.Body answers queries about its own decisions: see packages explain and
// routed.
//
//	            ┌─ States     the statuses of the run and its steps
//	events ─────┼─ Changes    the effects of each event
//	            └─ Explainer  why, with the event that decided
package inspect

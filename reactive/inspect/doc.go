// Package inspect answers what people ask of a run: where it stands, what has changed, what a step has returned, why something
// does not move or has ended as it has. It reads a run's root while the events of its journal are applied, and does nothing else:
// no clock, no goroutine, no I/O. The same events give the same answers, whoever asks.
//
//	            ┌─ States     where the run and its steps stand
//	events ─────┼─ Changes    what each event has changed
//	            └─ Explainer  why, with the event that decided
package inspect

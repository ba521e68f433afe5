// Package decide decides what happens next in one run: what may start, what has fallen due, which commands are refused, and how
// the run ends. It has no goroutines, no clock and does no I/O.
//
//	items, now ──▶ Stepper.Step ──▶ Outcome: events to append; then calls to make, calls to stop, replies
//	                    │
//	                    └── Host: Go functions, pure calls, room, participants
//
// Whoever drives a run appends the events of an Outcome first, and does the rest when they are durable. A Stepper is ahead of
// the journal by these events: where they cannot be appended, it is thrown away and made anew from the journal. The same items at
// the same instants make the same events.
package decide

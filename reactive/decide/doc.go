// Package decides the next events of a run: it starts steps, fires timers, refuses commands and ends the run. It has no
// goroutines, no clock and does no I/O.
//
//	items, now ──▶ Stepper.Step ──▶ StepResult: events to append; then calls to make, calls to stop, replies
//	                    │
//	                    └── Host: Go functions, pure calls, room, participants
//
// The driver of a run first appends the events of a StepResult, and carries out the rest when they are durable. A Stepper is
// ahead of the journal by these events: if they cannot be appended, the driver discards it and makes another from the journal.
// The same items at the same instants yield the same events.
//
//	stepper.go   one step: items, due timers, decisions      refuse.go, fits.go   refusals of commands
//	answer.go    events of calls that have ended, and        note.go              commands to runs that no process drives
//	             of steps that need no call                  start.go, limits.go  the first event and its limits
//	resume.go    calls to be repeated after a crash          waits.go, worker.go  the waits of a run
//
// A due timer becomes an event in reactive.Root.Fire, which Stepper.Step calls until no timer is due: package ledger, net or world
// makes the event, and refuse.go calls a playbook or a world for commands to its own parts.
package decide

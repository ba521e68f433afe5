// Package scenario tests workflows: documents of kind Scenario say how calls are answered, what happens meanwhile and what
// must come of it, and are run in virtual time by the engine itself.
//
//	func TestOrders(t *testing.T) { scenario.Run(t, "testdata/orders.yaml") }
//
//	kind: Scenario
//	name: a declined payment is apologised for
//	workflow: orders.yaml
//	operations:
//	  pay: {after: PT2S, error: {code: declined}}
//	  apologise: {output: sent}
//	expect: {run: completed, at: PT2S, steps: {ship: skipped, apologise: completed}}
//
// There is no second engine: a scenario is another driver of coordinator.Stepper, where the store is a slice, the world
// is the script, and the clock is a number that jumps to the next instant at which something is due.
//
//	script ──answers──▶ agenda ─┐
//	timeline ──wishes───────────┼─▶ Step(now, items) ─▶ journal ─▶ expectations
//	root.NextDue ──timers───────┘        │
//	script ◀──────────calls──────────────┘
//
// # Contracts
//
// A scenario makes no calls, reads no clock, sleeps never and gives the same report every time. Operations bound to commands
// and HTTP requests, and those registered in Go, must be scripted; value, fail, sleep, wait and workflow run as themselves
// unless they are. Within an instant answers come before timers, in the order in which they were asked for; Options.Seed
// shuffles them.
//
// A scripted answer belongs to its request: its instant counts from when the request was first made, and a crash neither
// moves nor repeats it. So Options.Crash, which rebuilds the engine from its journal after every append, must give the
// same journal, event for event.
//
// Expectations are checked against what an observer reads in the journals, not against the engine. A difference names the
// event that made things so.
package scenario

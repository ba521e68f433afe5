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
// There is no second engine: a scenario is another driver of decide.Stepper, where the store is a slice, the world
// is the script, and the clock is a number that jumps to the next instant at which something is due.
//
//	script ──answers──▶ agenda ─┐
//	timeline ──wishes───────────┼─▶ Step(now, items) ─▶ journal ─▶ expectations
//	root.NextDue ──timers───────┘        │
//	script ◀──────────calls──────────────┘
//
// Package script reads and hands out the answers; package program finds and compiles the workflow for them.
//
// # Expectations
//
// What is expected, at the end or at an instant of the timeline. Only what is named is checked:
//
//	invalid       a text, or several, that the refusal of the document holds
//	run           the run's status
//	reason        what the run is named after that did not complete
//	at            when the run ended, since its start
//	output        of the run
//	steps         statuses, by step; a map's by item too, such as check[0], a child run's such as quote/ask
//	reasons       why steps failed or were skipped
//	outputs       of steps
//	inputs        what the last call of a step was given; of an object, the keys that are named. Named as in operations:
//	              step, step[0], of a playbook step.task, step[0].task, or else what is called
//	attempts      how often steps were called; of a playbook also step.task
//	fulfillment   where tasks stand
//	dispatches    who was asked, and how that went: {participant, attempt, status}
//	calls         the order of first requests; an inner list may come in any order
//	counts        of events by their type, late and duplicate ones; of a playbook step-runs, tokens and branches
//	events        types of events, in this order; others may stand between
//	runs          of a playbook: step-runs in the order of scheduling
//	ctx           of a playbook: keys of the context
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

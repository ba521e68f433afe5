// Package scenario tests workflows. A document of kind Scenario scripts the answers of calls, a timeline of commands and the
// expected results; the engine runs it in virtual time.
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
// There is no second engine: a scenario is another driver of decide.Stepper, whose store is a slice, whose calls the script
// answers, and whose clock is a number that jumps to the next instant at which something is due.
//
//	script ──answers──▶ schedule ─┐
//	timeline ──commands───────────┼─▶ Step(now, items) ─▶ journal ─▶ expectations
//	root.NextDue ──timers─────────┘        │
//	script ◀──────────calls────────────────┘
//
// Package script reads and serves the answers; package program finds and compiles the workflow for them.
//
// # Expectations
//
// Expectations hold at the end or at an instant of the timeline. Only the keys that are present are checked:
//
//	invalid       a text, or several, that the error of the document contains
//	run           the run's status
//	reason        code of the failure of a run that did not complete
//	at            when the run ended, since its start
//	output        of the run
//	steps         statuses, by step; a map's by item too, such as check[0], a child run's such as quote/ask
//	reasons       why steps failed or were skipped
//	outputs       of steps
//	inputs        the input of the last call of a step; of an object, the given keys. Named as in operations: step,
//	              step[0], of a playbook step.task, step[0].task, or by operation
//	attempts      how often steps were called; of a playbook also step.task
//	fulfillment   the fulfillment of tasks
//	dispatches    the participants asked, with the outcomes: {participant, attempt, status}; of a playbook, while the call is open
//	calls         the order of first requests; an inner list may come in any order
//	counts        of events by their type, late and duplicate ones; of a playbook step-runs, tokens and branches
//	events        types of events, in this order; others may occur between
//	runs          of a playbook: step-runs in the order of scheduling; of a world: activations of cells, failed ones too
//	cells         of a world: status, state, inflight, held and reason of cells by address, or absent
//	raised        of a world: names of the events that cells have raised, in order
//	ctx           of a playbook: keys of the context
//
// # Contracts
//
// A scenario makes no calls, reads no clock, never sleeps and returns the same report every time. Operations bound to commands
// and HTTP requests, and those registered in Go, must be scripted; value, fail, sleep, wait and workflow run as themselves
// unless they are. Within an instant answers come before timers, in the order of their requests; Options.Seed
// shuffles them.
//
// A scripted answer belongs to its request: its delay counts from the first time the request was made, and a crash neither delays
// nor repeats it. So a run with Options.Crash, which rebuilds the engine from its journal after every append, must have the same
// journal, event for event.
//
// # Worlds
//
// In a world, calls are answered as order[o-1].pay, order.pay, pay, or by operation, and named so in expectations; calls are those
// of all cells, each by cell and effect. given has the states that cells begin with. Messages of one entry arrive together, before
// anything is stepped. A command that is refused is a difference, unless refused has texts of the error. snapshot keeps the state
// of the world as content, as an engine's store does: from then on, a crash recovers the run from its newest snapshot and the events
// that follow, and no longer from the whole journal. Every activation draws from a seed that Options.Seed determines. Machines in Go
// are those of Options.Machines, and those that a world built in Go brings along.
//
// Expectations are checked against the journals, as an observer reads them, not against the engine. A difference names the
// event that caused it.
package scenario

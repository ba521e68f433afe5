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
// There is no second engine: a scenario is another driver of decide.Stepper. Its store is a slice, the script answers its calls,
// and its clock is a number that jumps to the next due instant.
//
//	script ──answers──▶ schedule ─┐
//	timeline ──commands───────────┼─▶ Step(now, items) ─▶ journal ─▶ expectations
//	root.NextDue ──timers─────────┘        │
//	script ◀──────────calls────────────────┘
//
// Package script reads the answers and returns them in turn. Package program finds and compiles the workflow.
//
// # Expectations
//
// Expectations are checked at an instant of the timeline or at the end. Only the keys that are present count:
//
//	invalid       a text, or several, that the error of the document contains
//	run           the run's status
//	reason        code of the failure of a run that did not complete
//	at            the end of the run, since its start
//	output        of the run
//	steps         statuses, by step; a map's by item too, such as check[0], a child run's such as quote/ask
//	reasons       codes of the failures by which steps failed or were skipped
//	outputs       of steps
//	inputs        the input of the last call of a step; of an object, the given keys. Names as in operations: step,
//	              step[0], of a playbook step.task, step[0].task, or by operation
//	attempts      numbers of calls of steps; of a playbook also step.task
//	fulfillment   the fulfillment of tasks
//	dispatches    the participants asked, with the outcomes: {participant, attempt, status}; of a playbook, while the call is open
//	calls         the order of first requests; an inner list may come in any order
//	counts        of events by their type, late and duplicate ones; of a playbook step-runs, tokens and branches
//	events        types of events, in this order; others may occur in between
//	runs          of a playbook: step-runs in the order of scheduling; of a world: activations of cells, including failed ones
//	cells         of a world: status, state, inflight, held and reason of cells by address, or absent
//	raised        of a world: names of the events that cells have raised, in order
//	ctx           of a playbook: keys of the context
//
// # Contracts
//
// A scenario makes no calls, reads no clock, never sleeps and returns the same report every time. Operations bound to commands
// and HTTP requests, and those registered in Go, must be scripted. The built-ins value, fail, sleep, wait and workflow may be
// scripted; otherwise they run as in an engine. Within an instant answers come before timers, in the order of their requests;
// Options.Seed shuffles the answers.
//
// A scripted answer belongs to its request: its delay begins when the request is first made, and a crash neither delays nor repeats
// the answer. Options.Crash rebuilds the engine from its journal after every append; the journal must be the same, event for event.
//
// # Worlds
//
// In a world, the script and the expectations name calls by cell, machine, effect or operation, such as order[o-1].pay, order.pay
// or pay. The expectation calls covers the calls of all cells, each by cell and effect. given sets the first states of cells. The
// messages of one entry arrive together, before any cell is stepped. A refused command is a difference, unless the key refused has
// texts of the error. snapshot stores the state of the world as content, like the store of an engine: later crashes recover the run
// from its newest snapshot and the following events, not from the whole journal. Options.Seed determines the random numbers of all
// activations. Machines in Go come from Options.Machines; a world built in Go also provides its own.
//
// Expectations are checked against the journals, as an observer reads them, not against the engine. A difference names the causing event.
package scenario

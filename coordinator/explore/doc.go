// Package explore visits all states that a run can reach, up to a bound: in every order, calls answer, fail or time out, and gates open
// or stay closed. It makes no call, and no time passes.
//
//	report, err := explore.Run(plan, explore.Options{})
//	for _, f := range report.Findings { fmt.Println(f.Text, f.Trace) }
//
// A state is a journal. The moves from a state are: an open call answers with one of its guessed outputs, or fails, plainly or in a way
// that the document tests for; an awaited message arrives; a person decides a task, either way; a key of the context that a gate reads is
// set; or time passes to the next timer. Moves that lead to the same state are followed once. Every finding has a shortest trace, because
// states are visited in the order of their distance from the start.
//
//	start ─▶ state ─┬─ pay answers ──▶ state ─▶ …
//	                ├─ pay fails ────▶ state ─▶ …
//	                └─ time passes ──▶ state (known: merged)
//
// # Findings
//
// A state from which no end can be reached; a step that runs in no state; a final step that runs twice; a condition of Options.Never
// that holds in a state.
//
// # Precision
//
// The stepper of the engine decides. Two states are merged if all facts are equal that their next moves depend on.
// Outputs, messages and failures are guesses: the values with which the document compares parts of them, also by way of args, sets and
// loops, so that each of its tests both holds and fails; Options.Outputs sets others. The input of a workflow is guessed too, unless
// Options.Input sets it. A step that runs only for other outputs is reported as one that never runs. In a workflow without concurrency
// limits and timeouts, whose failure policy lets running steps go on, the order in which independent calls end makes no difference while
// no timer runs and no condition is checked in between: one call ends first, with each of its outcomes. Everywhere else, and with
// Options.AllOrders, all orders are explored.
package explore

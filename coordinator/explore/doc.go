// Package explore examines all possible courses of a run: every order in which calls answer, fail and time out, and gates open or
// do not, up to a bound. No call is made and no time passes.
//
//	report, err := explore.Run(plan, explore.Options{})
//	for _, f := range report.Findings { fmt.Println(f.Text, f.Trace) }
//
// A state is a journal. From each, the moves are: a call that is open answers with one of its guessed outputs, or fails
// plainly or in a way that is asked for; a message comes that is waited for; a person decides a task, either way; a key of
// the context that a gate reads is set; or time passes to the next timer. Moves that lead to the same state are followed once.
// Every finding has a shortest trace, since states are visited in the order of their distance from the start.
//
//	start ─▶ state ─┬─ pay answers ──▶ state ─▶ …
//	                ├─ pay fails ────▶ state ─▶ …
//	                └─ time passes ──▶ state (known: merged)
//
// # Findings
//
// A state from which no end can be reached; a step that runs in no state; a final step that runs twice; a
// condition that must never hold and does.
//
// # Precision
//
// The engine that is explored is the one that runs: the same stepper decides. States are merged when everything is equal
// that their next moves depend on. Outputs, messages and failures are guesses: values are made of what the document reads of
// them, also by way of args, sets and loops, so that what it asks comes out both ways; Options.Outputs says more. So is the
// input of a workflow, unless Options.Input sets it. A step that only runs for an output that was not guessed is reported as
// one that never runs. In a workflow whose policy lets what is running go on, and that has no limits on what runs at once and
// no timeouts, the order in which independent calls end does not matter as long as no timer runs and no condition looks at
// what is between: one of them is taken first, with all its outcomes. Everywhere else, and with Options.AllOrders, all orders
// are taken.
package explore

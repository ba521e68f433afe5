// Package rerun makes a new run of an existing one: it keeps results of the old run, and the rest runs again.
//
//	old run ──▶ source: its root, and the inputs of its steps
//	                 │ cut: which steps run again
//	                 ▼
//	            start + result.kept … + input.set …     one batch: the new run needs nothing of the old one
//	                 │
//	                 ├──▶ the engine begins the new run with it
//	                 └──▶ Preview drives the same stepper with it, without making a call
//
// A step of the new run adopts its kept result when it may start, see package decide. So a kept result has no effect if its branch is no
// longer taken, or its item is missing.
//
// # Kept results, inputs and events
//
// The new run keeps the results of steps that have completed, that were skipped by their timing, or whose failure a conditional has
// caught. All other steps run again, and so do those that follow a step that runs again, except with Only: then all results but one are kept. With
// Changed a result is kept on a condition: that the operation of the step, with its binding, target, fan-in and fulfillment, is
// the same, and that its input is the same when it may start.
//
// Values set by a person stay set when the run is rerun. A set result is kept like others; the input with which the step would have
// been asked counts as its input. A set input is kept if the step's document has the same input in the new workflow.
//
// A rerun of a playbook keeps its past, up to an event: see past.go.
//
// A step that has started a child run is repeated by a new child. The results and set inputs kept of the old child are journaled with the
// start of the run above, under the keys `step/step of the child`, and the new child begins with them.
package rerun

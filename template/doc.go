// Package template defines workflows: a workflow is a tree of steps, written as a document or built in Go. The package
// reads, checks and writes them.
//
//	checked, err := template.Load("orders.yaml", data, template.Known{Operation: registered})
//
//	YAML, JSON ──Parse──▶ *Workflow ──Check──▶ *Checked ──▶ package plan
//	Go: package flow ───▶    │ ▲
//	                         ▼ │ MarshalJSON, Hash
//	                      the same document again
//
// The tree is plain data and isomorphic to a document of kind Workflow: a Step calls an operation; Sequential, Parallel,
// Conditional and Map contain others and nest freely. The tree contains everything that an author can write and nothing that
// the engine derives.
//
// # Errors
//
// Parse reports faults of form, such as unknown keys and malformed durations; Check reports faults of meaning, such as
// unknown names and outputs that may be missing, for documents and built trees alike. Both report all faults, and Load
// reports the faults of both together, in the order of the document:
//
//	orders.yaml:12:9: steps[1].operation: unknown operation "ordr.split" (did you mean "order.split"?)
//
// # Identity
//
// Document returns the canonical form: without defaults, durations in one spelling. Its hash identifies the workflow in
// whatever form it was written, and Parse of its JSON returns an equal tree.
//
// # Contracts
//
// A Workflow belongs to its maker until it is passed to Check; from then on it must not change and is safe for concurrent
// use, like everything Check returns. The package has no clock, no goroutine and no side effects, and does not depend on the
// order of Go's maps. Cost is linear in the size of the workflow unless a comment says otherwise.
package template

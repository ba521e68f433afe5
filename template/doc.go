// Package template is what a workflow is: a tree of steps, written as a document or built in Go, read, checked and written
// again.
//
//	checked, err := template.Load("orders.yaml", data, template.Known{Operation: registered})
//
//	YAML, JSON ──Parse──▶ *Workflow ──Check──▶ *Checked ──▶ package plan
//	Go: package flow ───▶    │ ▲
//	                         ▼ │ MarshalJSON, Hash
//	                      the same document again
//
// The tree is plain data and isomorphic to a document of kind Workflow: a Step calls an operation; Sequential, Parallel,
// Conditional and Map hold others and nest freely. Everything an author can say is in it, what the engine derives is not.
//
// # Errors
//
// Parse reports what the tree cannot hold, such as unknown keys and malformed durations; Check reports what makes no sense,
// such as names nobody knows and outputs that may be missing, for documents and built trees alike. Both report all they
// find, and Load reports the findings of both together, in the order of the document:
//
//	orders.yaml:12:9: steps[1].operation: unknown operation "ordr.split" (did you mean "order.split"?)
//
// # Identity
//
// Document gives the canonical form: defaults left out, durations in one spelling. Its hash identifies the workflow
// wherever it was written, and Parse of its JSON gives an equal tree.
//
// # Contracts
//
// A Workflow belongs to whoever makes it until Check has seen it, and to nobody after: then it is read-only and safe for
// concurrent use, like everything Check returns. Nothing here has a clock, a goroutine or an effect; nothing depends on
// the order of Go's maps. Cost is linear in the size of the workflow unless a comment says otherwise.
package template

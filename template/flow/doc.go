// Package flow builds workflows in Go, with functions in the shape of the tree and typed handles for results. Passing the
// output of a step to a step that takes another type does not compile.
//
//	in := flow.Input[Order]()
//	lines := flow.Call("split", Split, in)
//	offer := flow.Call("solicit", Solicit, lines, flow.Timeout(30*time.Second))
//	contract := flow.Choose(flow.Completed(offer), flow.Call("open", Open, offer), flow.Call("own", OwnStock, lines))
//
//	procure, err := flow.New("procure", in, flow.Output(contract), // a Workflow[Order, Contract]
//		lines,
//		flow.Parallel(flow.MaxConcurrency(2),
//			flow.Each("check", lines, func(line flow.Ref[Line]) flow.Ref[Report] {
//				return flow.Call("screen", Screen, line)
//			}),
//			flow.Call("reserve", Reserve, in),
//		),
//		offer,
//		contract,
//	)
//
// Calling an operation returns a Ref, which is two things: the step, to be placed where it is to run, and its result, an Arg
// for other steps. A step that reads a result waits for it, wherever both are placed.
//
//	Call, Sub, Each, Choose     nodes with a result: an operation, a workflow, a step for each item, one of two steps
//	Sequential, Parallel, If    nodes that contain others; Nodes is a list of nodes that a program makes
//	Value, From, FromOr         a literal, a result, a result with a default; Coalesce has any default
//	Select, Struct, Object      a field of a result, and inputs made of several arguments
//	Func, NewFunc               the result of a Go function; Expr is an expression, for everything else
//
// New places everything and returns the workflow with its types; Define returns the tree of package template. Both report
// all faults: a handle that is read but not placed, placed twice, read although its branch may have been skipped, or read
// outside its body. Each fault names its line of Go. The result equals the workflow read from its document: same hash, same
// runs. It also carries the values that a document only names: implementations of operations, Go functions and the workflows
// of Sub. A program that recovers a run defines its workflow again.
//
// # Failures and defaults
//
// A failure aborts all steps that need the failed one. An If or Choose whose test reads a step's status (Completed, Failed,
// Status) catches its failure: it decides, and the steps after it run. The result of the step is still missing; inside the
// If or after it, FromOr and Coalesce replace it by their default, as for a step that was skipped. Elsewhere, beside the If
// or before it, the failure is not caught yet, and a reader is aborted like any other.
//
// Handles are immutable and may be used by several definitions concurrently.
package flow

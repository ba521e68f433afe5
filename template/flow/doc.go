// Package flow builds workflows in Go: plain functions in the shape of the tree they build, and typed handles for results.
// Passing one step's output to a step that takes another type does not compile.
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
// Calling an operation returns a Ref, which is two things: the step, to be placed where it shall run, and its result, an Arg
// for other steps. Reading a result makes a step wait for it, wherever both are placed.
//
//	Call, Sub, Each, Choose     nodes that have a result: an operation, a workflow, a step for each item, one of two steps
//	Sequential, Parallel, If    nodes that hold others; Nodes is a list of nodes that a program makes
//	Value, From, FromOr         a literal, a result, a result with a default; Coalesce has any default
//	Select, Struct, Object      a field of a result, and inputs made of several arguments
//	Func, NewFunc               what a Go function computes; Expr is an expression, where nothing else will do
//
// New places everything and returns the workflow with its types, Define the tree of package template; or everything that is
// wrong with it: a handle that is read but not placed, placed twice, read where its branch may have been skipped, or outside
// the body it belongs to. Each fault names the line of Go that it is about. The result is the same as if its document had
// been read: same hash, same runs. It also carries what a document holds only by name: implementations of operations, Go
// functions and the workflows of Sub. A program that recovers a run defines its workflow
// again.
//
// # Failures and defaults
//
// A failure aborts all steps that need the failed one. An If or Choose whose test reads a step's status (Completed, Failed,
// Status) catches its failure: it decides, and the steps after it run. The result of the step is still missing; FromOr and Coalesce,
// read inside the If or behind it, take their default for it, as they do for a step that was skipped. Read elsewhere, beside
// the If or in front of it, the failure is not caught yet, and the reader is aborted like any other.
//
// Handles are immutable and may be used by several definitions, also at the same time.
package flow

// Package flow builds workflows in Go: plain functions in the shape of the tree they build, and typed handles for results.
// Feeding one step's output into a step that wants another type does not compile.
//
//	in := flow.Input[Order]()
//	lines := flow.Call("split", Split, in)
//	offer := flow.Call("solicit", Solicit, lines, flow.Timeout(30*time.Second))
//	contract := flow.Call("contract", Open, offer)
//
//	w, err := flow.Define("procure",
//		lines,
//		flow.Parallel(flow.MaxConcurrency(2),
//			flow.Each("check", lines, func(line flow.Ref[Line]) flow.Ref[Report] {
//				return flow.Call("screen", Screen, line)
//			}),
//			flow.Call("reserve", Reserve, in),
//		),
//		offer,
//		flow.If(flow.Completed(offer), flow.Then(contract), flow.Else(apology)),
//	)
//
// Calling an operation gives a Ref, which is two things: the step, to be placed where it shall run, and its result, an Arg
// for other steps. Reading a result makes a step wait for it, wherever both are placed.
//
//	Ref        result of a step or map, the run's input, the item of a map
//	Value      a literal                      From, FromOr   a Ref; with a default for a step that is skipped
//	Select     a field of a result            Object         an input made of several arguments
//	Func       what a Go function computes    Expr           an expression, where nothing else will do
//
// Define places everything and gives the tree of package template, or everything that is wrong with it: a handle that is
// read but not placed, placed twice, read where its branch may have been skipped, or outside the body it belongs to. Each
// fault names the line of Go that it is about. The result is the same as if its document had been read: same hash, same
// runs. Go functions are the exception: the document holds their names, and whoever recovers a run must define the
// workflow again.
//
// Handles are immutable and may be used by several definitions, also at the same time.
package flow

// Package wrongtypes does not compile: each marked line gives something the wrong type.
package wrongtypes

import (
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/flow"
)

type (
	order  struct{ Lines []string }
	report struct{ OK bool }
)

var (
	split  = template.NewOp[order, []string]("split", nil)
	screen = template.NewOp[string, report]("screen", nil)
)

func _() {
	in := flow.Input[order]()
	lines := flow.Call("lines", split, in)

	_ = flow.Call("a", screen, lines)                                     // want: a list where a string belongs
	_ = flow.Call("b", split, flow.Value("text"))                         // want: a string where an order belongs
	_ = flow.Call("c", screen, flow.FromOr(lines, nil))                   // want: a default does not change the type
	_ = flow.Each("d", in, func(item flow.Ref[string]) flow.Ref[report] { // want: an order is no list
		return flow.Call("e", screen, item)
	})
	_ = flow.Each("f", lines, func(item flow.Ref[int]) flow.Ref[report] { // want: the items are strings
		panic("never called")
	})
	_ = flow.If(lines)                                                                  // want: a list is no test
	_ = flow.Call("g", screen, flow.Func("h", func(n int) string { return "" }, lines)) // want: the function takes an int
	_ = flow.Sequential(flow.MaxConcurrency(1))                                         // want: a sequence has no limit
	_ = flow.Parallel(flow.Deadline(1))                                                 // want: a deadline is the workflow's
}

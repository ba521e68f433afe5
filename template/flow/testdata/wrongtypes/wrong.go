// Package wrongtypes does not compile: each marked line has a wrong type.
package wrongtypes

import (
	"context"

	"github.com/sluiceflow/sluice"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/flow"
)

type (
	order  struct{ Lines []string }
	report struct{ OK bool }
	pair   struct {
		Name string
		Size int
	}
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

	report1, report2 := flow.Call("r1", screen, flow.Value("x")), flow.Call("r2", screen, flow.Value("y"))
	_ = flow.Choose(flow.Value(true), report1, lines)                          // want: both branches have one result
	_ = flow.Choose(flow.Value(true), report1, flow.Value(report{}))           // want: a value is no step
	_ = flow.Call("i", split, flow.Choose(flow.Value(true), report1, report2)) // want: a report where an order belongs
	_ = flow.Coalesce(report1, flow.Value("none"))                             // want: a default does not change the type
	_ = flow.Call("j", split, flow.Coalesce(report1, report2))                 // want: a report where an order belongs
	_ = flow.Call("k", split, flow.Parallel(report1))                          // want: a container is no argument

	_ = flow.Each("l", lines, func(item flow.Ref[string]) flow.Node { return flow.Call("m", screen, item) }) // want: a node may give nothing
	chosen := flow.Each("n", lines, func(item flow.Ref[string]) flow.Choice[report] {
		return flow.Choose(flow.Value(true), flow.Call("o", screen, item), flow.Call("p", screen, item))
	})
	_ = flow.Call("q", split, chosen) // want: a list of reports where an order belongs

	long := flow.NewFunc("long", func(p pair) bool { return len(p.Name) > p.Size })
	var p pair
	_ = flow.If(long.Of(flow.Struct(&p, flow.Set(&p.Name, flow.Value("x")), flow.Set(&p.Size, flow.Value(1)))))
	_ = flow.Struct(&p, flow.Set(&p.Size, flow.Value("x"))) // want: a string where a number belongs
	_ = flow.Struct(&p, flow.Set(&p.Length, flow.Value(1))) // want: a pair has no length
	_ = long.Of(lines)                                      // want: a list where a pair belongs
	_ = flow.Call("s", screen, long.Of(flow.Value(pair{}))) // want: a boolean where a string belongs

	child := flow.MustNew("child", in, flow.Output(lines), lines)
	_ = flow.Sub("t", child, flow.Value("x"))            // want: a string where an order belongs
	_ = flow.Call("u", screen, flow.Sub("v", child, in)) // want: a list where a string belongs
	var engine *coordinator.Engine
	run, _ := sluice.Start(context.Background(), engine, child, order{})
	_, _ = sluice.Start(context.Background(), engine, child, "x") // want: a string where an order belongs
	result, _ := run.Wait(context.Background())
	var _ []string = result.Output
	var _ string = result.Output // want: the output is a list

	list := flow.Nodes{report1, lines}
	_ = flow.Sequential(flow.Parallel(flow.MaxConcurrency(1), list), flow.Sequential(list...), flow.If(long.Of(flow.Value(p)), flow.Then(list)))
	_ = flow.Nodes{flow.MaxConcurrency(1)} // want: a limit is no node
	_ = flow.Sub("w", child.Tree(), in)    // want: a tree has no types
}

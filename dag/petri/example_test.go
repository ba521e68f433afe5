package petri_test

import (
	"fmt"

	"github.com/sluiceflow/sluice/dag/petri"
)

// A call that is retried after each failure, without end.
func Example() {
	b := petri.NewBuilder()
	idle, busy, failed := b.Place("idle", 1), b.Place("busy", 0), b.Place("failed", 0)
	call := b.Transition("call", []int32{idle}, []int32{busy})
	fail := b.Transition("fail", []int32{busy}, []int32{failed})
	b.Transition("retry", []int32{failed}, []int32{idle})
	net, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}

	m := net.Initial()
	for _, t := range []int32{call, fail, call} {
		fmt.Println(net.Fire(m, t), m)
	}
	for _, problem := range net.Check() {
		fmt.Println(net.Describe(problem))
	}
	// Output:
	// <nil> [0 1 0]
	// <nil> [0 0 1]
	// fire "call": petri: transition is not enabled [0 0 1]
	// nothing leads out of the cycle call -> fail -> retry -> call
}

func ExampleNet_Check() {
	b := petri.NewBuilder()
	in, asked, ok, out := b.Place("in", 1), b.Place("asked", 0), b.Place("ok", 0), b.Place("out", 0)
	b.Transition("ask", []int32{in}, []int32{asked})
	enter := b.Transition("enter", []int32{asked}, []int32{ok})
	approve := b.Transition("approve", []int32{ok}, nil)
	b.Transition("leave", []int32{out}, nil)
	b.Gate(enter, false, approve) // opened by a transition that only comes after it
	net, _ := b.Build()
	for _, problem := range net.Check() {
		fmt.Println(net.Describe(problem))
	}
	// Output:
	// nothing can open the gate "enter": approve can never fire
	// "approve" can never fire: nothing puts a token into "ok"
	// "leave" can never fire: nothing puts a token into "out"
}

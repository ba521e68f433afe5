package petri_test

import (
	"fmt"
	"testing"

	"github.com/sluiceflow/sluice/dag/petri"
)

// rings builds n rings of three transitions that feed each other in a row, with an exit from every second one.
func rings(n int) *petri.Net {
	b := petri.NewBuilder()
	before := b.Place("begin", 1)
	for i := range n {
		name := func(what string) string { return fmt.Sprintf("%s-%d", what, i) }
		x, y := b.Place(name("x"), 0), b.Place(name("y"), 0)
		b.Transition(name("enter"), []int32{before}, []int32{x})
		b.Transition(name("there"), []int32{x}, []int32{y})
		b.Transition(name("back"), []int32{y}, []int32{x})
		if i%2 == 0 {
			b.Transition(name("out"), []int32{x}, nil)
		}
		before = y
	}
	net, err := b.Build()
	if err != nil {
		panic(err)
	}
	return net
}

func BenchmarkFire(b *testing.B) {
	n := rings(100)
	m := n.Initial()
	if n.Fire(m, 0) != nil {
		b.Fatal("the first transition is enabled")
	}
	b.ReportAllocs()
	for b.Loop() {
		if n.Fire(m, 1) != nil || n.Fire(m, 2) != nil {
			b.Fatal("a ring is broken")
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, size := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("rings=%d", size), func(b *testing.B) {
			n := rings(size)
			if got := len(n.Check()); got != 2 {
				b.Fatalf("%d problems", got)
			}
			b.ReportAllocs()
			for b.Loop() {
				n.Check()
			}
		})
	}
}

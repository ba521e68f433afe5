package reactive_test

import (
	"fmt"
	"testing"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

// BenchmarkRoot drives a layered graph with three predecessors per step from start to end: the request and the answer of every
// step, in the order in which the steps may start.
func BenchmarkRoot(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			width := max(10, n/100)
			all := &template.Parallel{}
			for i := range n {
				s := &template.Step{ID: fmt.Sprint("s", i), Operation: "op"}
				for k := range 3 {
					if row := i / width; row > 0 {
						s.Needs = append(s.Needs, fmt.Sprint("s", (row-1)*width+(i%width+7*k)%width))
					}
				}
				all.Steps = append(all.Steps, s)
			}
			p := compile(b, &template.Workflow{Name: "layered", Steps: []template.Node{all}})
			b.ReportAllocs()
			for b.Loop() {
				root := reactive.New(p)
				root.Apply(&journal.Event{Type: journal.RunStarted, Detail: &journal.Detail{Start: &journal.Start{}}})
				for v, ok := root.NextStart(nil); ok; v, ok = root.NextStart(nil) {
					e := journal.Event{Type: journal.CallRequested, Node: root.Key(v), Hint: v + 1, Attempt: 1}
					root.Apply(&e)
					e.Type = journal.CallResponded
					root.Apply(&e)
				}
				if !root.Done() {
					b.Fatal("it has not ended")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/step")
		})
	}
}

package progress_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

func wide(n int) *template.Workflow {
	p := &template.Parallel{}
	for i := range n {
		p.Steps = append(p.Steps, &template.Step{ID: fmt.Sprintf("s%d", i), Operation: "work"})
	}
	return &template.Workflow{Name: "wide", Steps: []template.Node{p}}
}

// run applies all changes of n steps.
func run(tree *progress.Tree, n int) {
	u := coordinator.Update{Event: journal.Event{At: epoch}, Changes: make([]coordinator.StepChange, 1)}
	for i := range n {
		key := fmt.Sprintf("s%d", i)
		for from := reactive.Idle; from < reactive.Completed; from++ {
			u.Changes[0] = coordinator.StepChange{Step: key, From: from, To: from + 1}
			tree.Apply(&u)
		}
	}
}

func BenchmarkApply(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			w := wide(n)
			b.ReportAllocs()
			for b.Loop() {
				tree := progress.New(w)
				run(tree, n)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/step")
		})
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, n := range []int{100, 1_000, 100_000} {
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			tree := progress.New(wide(n))
			run(tree, n/2)
			frame := progress.Frame{Width: 120, Height: 50, Now: epoch}
			require.Len(b, strings.Split(tree.Draw(frame), "\n"), 50)
			b.ReportAllocs()
			for b.Loop() {
				tree.Draw(frame)
			}
		})
	}
}

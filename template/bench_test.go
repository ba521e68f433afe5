package template_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

// ladder returns a workflow of n steps; each step reads the output of the step before it.
func ladder(n int) *template.Workflow {
	w := &template.Workflow{Name: "ladder"}
	for i := range n {
		s := &template.Step{ID: fmt.Sprintf("s%d", i), Operation: "add"}
		if i > 0 {
			s.Input = value.Value(fmt.Sprintf("{{ steps.s%d.output + 1 }}", i-1))
		}
		w.Steps = append(w.Steps, s)
	}
	return w
}

func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			w := ladder(n)
			checked, err := template.Check(w, template.Known{Lenient: true})
			require.NoError(b, err)
			require.Len(b, checked.Items, n)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = template.Check(w, template.Known{Lenient: true})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/step")
		})
	}
}

// text returns a document of n steps in block style.
func text(n int) []byte {
	var b strings.Builder
	b.WriteString("kind: Workflow\nname: ladder\nsteps:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - operation: add\n    id: s%d\n    input: \"{{ input + %d }}\"\n", i, i)
	}
	return []byte(b.String())
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			data := text(n)
			checked, err := template.Load("ladder.yaml", data, template.Known{Lenient: true})
			require.NoError(b, err)
			require.Len(b, checked.Items, n)
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				_, _ = template.Load("ladder.yaml", data, template.Known{Lenient: true})
			}
		})
	}
}

func BenchmarkHash(b *testing.B) {
	w := ladder(10_000)
	_, err := w.Hash()
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = w.Hash()
	}
}

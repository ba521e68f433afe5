package playbook_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/playbook"
)

// chained returns a document of n steps, each with a call, two rules and two guarded arcs.
func chained(n int) string {
	var b strings.Builder
	b.WriteString(head + "workflow:\n")
	for i := range n {
		fmt.Fprintf(&b, `  - step: s%d
    tool:
      kind: work
      n: "{{ ctx.n ?? 0 }}"
      spec: {policy: {rules: [{when: '{{ outcome.status == "error" }}', then: {do: retry}}, {else: {then: {set_ctx: {n: "{{ outcome.result.n }}"}}}}]}}
    next: {arcs: [{step: s%d, when: "{{ ctx.n > 3 }}"}, {step: s%d, when: '{{ event.name == "step.done" }}', args: {i: %d}}]}
`, i, (i+1)%n, (i*7+1)%n, i)
	}
	return b.String()
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{10, 1_000} {
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			nodes, err := document.Parse("p.yaml", []byte(chained(n)), document.Limits{})
			if err != nil {
				b.Fatal(err)
			}
			load := func() {
				w, err := playbook.ParseNode(nodes[0])
				if err != nil {
					b.Fatal(err)
				}
				checked, err := template.Check(w, template.Known{Lenient: true})
				if err != nil {
					b.Fatal(err)
				}
				if book, _ := playbook.Of(checked.Workflow); len(book.CallSites) != n {
					b.Fatalf("%d sites", len(book.CallSites))
				}
			}
			load()
			b.ReportAllocs()
			for b.Loop() {
				load()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/step")
		})
	}
}

package playbook_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/playbook"
)

// keys returns the document of the package documentation that shows all keys.
func keys(t *testing.T) string {
	source, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(source), "\n// # Keys\n")
	require.True(t, ok)
	section, _, ok := strings.Cut(rest, "\n// # ")
	require.True(t, ok)
	var text strings.Builder
	for line := range strings.Lines(section) {
		if code, ok := strings.CutPrefix(line, "//\t"); ok {
			text.WriteString(code)
		}
	}
	return text.String()
}

func book(t *testing.T, text string) *playbook.Playbook {
	checked, err := playbook.Load("keys.yaml", []byte(text), template.Known{})
	require.NoError(t, err)
	book, ok := playbook.Of(checked.Workflow)
	require.True(t, ok)
	return book
}

func TestTheDocumentOfAllKeysSaysWhatTheyStandForWhenLeftOut(t *testing.T) {
	full := book(t, keys(t))
	require.Empty(t, full.Warnings)
	short := book(t, `
kind: Playbook
apiVersion: sluice/v1
metadata: {name: short}
executor: {spec: {final_step: last, max_concurrency: 8, policy: {on_blocked: wait}}}
workflow:
  - step: first
    loop: {in: "{{ [1, 2] }}", iterator: row}
    spec: {join: {}, policy: {admit: {rules: [{when: "{{ ctx.open == true }}", then: {allow: true}}]}}}
    tool:
      - name: ask
        kind: http
        url: "http://127.0.0.1:9001"
        spec: {policy: {rules: [{when: '{{ outcome.status == "error" }}', then: {do: retry}}]}}
    next: {arcs: [{step: tell, when: '{{ event.name == "loop.done" }}'}]}
  - {step: tell, tool: {kind: noop}}
  - {step: last, tool: {kind: noop}}
`)
	require.Equal(t, short.Executor, full.Executor)
	a, b := short.Steps[0], full.Steps[0]
	require.Equal(t, a.Loop.Parallel, b.Loop.Parallel)
	require.Equal(t, a.Loop.Conflict, b.Loop.Conflict)
	require.Equal(t, a.BestEffort, b.BestEffort)
	require.Equal(t, a.Join.Mode, b.Join.Mode)
	require.Equal(t, a.Join.FireMiss, b.Join.FireMiss)
	require.Equal(t, a.Admit.Discard, b.Admit.Discard)
	require.Equal(t, a.Admit.Coalesce, b.Admit.Coalesce)
	require.Equal(t, a.Tasks[0].Unmatched, b.Tasks[0].Unmatched)
	require.Equal(t, a.Tasks[0].Rules[0].Attempts, b.Tasks[0].Rules[0].Attempts)
	require.Equal(t, a.Tasks[0].Rules[0].Backoff, b.Tasks[0].Rules[0].Backoff)
	require.Equal(t, a.Next.Inclusive, b.Next.Inclusive)
	require.Equal(t, a.Next.Arcs[0].Inherit, b.Next.Arcs[0].Inherit)
}

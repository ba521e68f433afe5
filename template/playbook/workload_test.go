package playbook_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/playbook"
)

func TestWorkloadsThatAreRefused(t *testing.T) {
	ours := func(workload string) string { return root("workload: " + workload) }
	jinja := func(workload string) string { return strings.Replace(ours(workload), "sluice/v1", "noetl.io/v2", 1) }
	for _, c := range []struct{ name, text, want string }{
		{"what does not exist yet", ours(`{a: "{{ ctx.x }}"}`), `p.yaml:5:15: workload.a: unknown name "ctx"; known here: workload`},
		{"the same in Jinja", jinja(`{a: ["{{ iter.x }}"]}`), `p.yaml:5:16: workload.a[0]: iter does not exist when a run starts`},
		{"a result", jinja(`{a: "{{ s.rows }}"}`), `p.yaml:5:15: workload.a: s does not exist when a run starts`},
		{"all of it", ours(`{a: "{{ keys(workload) }}"}`), `p.yaml:5:15: workload.a: the workload is not complete`},
		{"a secret", jinja(`{a: "{{ keychain.shop.token }}"}`), `p.yaml:5:15: workload.a: only tools can read the keychain`},
		{"no expression", ours(`{a: {b: "{{ 1 + }}"}}`), `p.yaml:5:19: workload.a.b:`},
		{"a cycle", ours(`{a: "{{ workload.b }}", b: {k: ["{{ workload.c.x }}"]}, c: {x: "{{ workload.a }}"}}`), `cycle: a -> b.k.0 -> c.x -> a`},
		{"a cycle of names", jinja(`{a: "{{ b }}", b: "{{ a }}"}`), `cycle: a -> b -> a`},
		{"a value inside itself", ours(`{a: {b: {c: "{{ workload.a.b }}"}}}`), `cycle: a.b.c -> a.b.c`},
		{"a step whose name is a key", jinja(`{s: 1, a: "{{ s }}"}`), ""},
		{"its own key", jinja(`{a: "{{ a | default(1) }}", b: {c: "{{ workload.b.c }}"}}`), ""},
		{"neighbours", ours(`{a: {b: 1, c: "{{ workload.a.b }}", d: ["{{ workload.a.c }}"]}}`), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.want == "" {
				require.Empty(t, refusal(c.text))
			} else {
				require.Contains(t, refusal(c.text), c.want)
			}
		})
	}
}

// TestTheWorkloadIsOfOneRun: what a run makes of the workload does not change the document, nor another run.
func TestTheWorkloadIsOfOneRun(t *testing.T) {
	checked, err := playbook.Load("p.yaml", []byte(root(`workload: {list: ["{{ workload.n }}", {k: "{{ workload.n }}"}], n: 1, bad: "{{ workload.n.x }}"}`)), template.Known{})
	require.NoError(t, err)
	book := checked.Workflow.Routing.(*playbook.Playbook)
	of := func(n int64) any { return book.WorkloadOf(map[string]any{"n": n, "bad": true})["list"] }
	require.Equal(t, []any{int64(2), map[string]any{"k": int64(2)}}, of(2))
	require.Equal(t, []any{int64(3), map[string]any{"k": int64(3)}}, of(3))
	require.Equal(t, "{{ workload.n }}", book.Workload["list"].([]any)[0])
	require.NoError(t, book.CheckInput(map[string]any{"bad": nil}))
	require.ErrorContains(t, book.CheckInput(nil), "workload.bad: ")
	require.Equal(t, "{{ workload.n.x }}", book.WorkloadOf(nil)["bad"], "it stays as it is written")
}

// TestALargeWorkloadIsReadOnce: texts that all read the same keys are visited once.
func TestALargeWorkloadIsReadOnce(t *testing.T) {
	lines := strings.Repeat(`"{{ workload.b }}", `, 5000)
	require.Empty(t, refusal(root("workload: {a: ["+lines+"], b: ["+strings.ReplaceAll(lines, "workload.b", "workload.c")+"], c: 1}")))
}

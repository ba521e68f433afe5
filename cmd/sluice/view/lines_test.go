package view

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

func TestLinesShowWhereTokensWait(t *testing.T) {
	checked, err := kinds.Load("p.yaml", []byte(`
apiVersion: sluice/v1
kind: Playbook
metadata: {name: p}
workflow:
  - step: first
    spec: {policy: {admit: {rules: [{when: "{{ ctx.first == true }}", then: {allow: true}}]}}}
    next: {arcs: [{step: second}]}
  - step: second
    spec: {policy: {admit: {rules: [{when: "{{ ctx.second == true }}", then: {allow: true}}]}}}
    tool: {kind: noop}
`), template.Known{})
	require.NoError(t, err)
	at := func(seq uint64, status reactive.RunStatus, changes ...coordinator.StepChange) *coordinator.Update {
		u := &coordinator.Update{Event: journal.Event{Seq: seq, Type: journal.ContextPatched}, Status: status, Changes: changes}
		if seq == 1 {
			u.Event.Type, u.Event.Detail = journal.RunStarted, &journal.Detail{Start: &journal.Start{Run: "r"}}
		}
		return u
	}
	updates := []*coordinator.Update{
		at(1, reactive.RunWaiting, coordinator.StepChange{Step: "first", From: reactive.Idle, To: reactive.Waiting}),
		at(2, reactive.RunRunning),
		at(3, reactive.RunWaiting,
			coordinator.StepChange{Step: "first@1", From: reactive.Waiting, To: reactive.Running},
			coordinator.StepChange{Step: "first@1", From: reactive.Running, To: reactive.Completed},
			coordinator.StepChange{Step: "second", From: reactive.Idle, To: reactive.Waiting}),
	}
	lines := func(seen uint64) string {
		var out bytes.Buffer
		v := newLineView(&out, &Run{Workflow: checked.Workflow, Seen: seen})
		for _, u := range updates {
			v.Update(u, u.Event.Seq > seen)
		}
		return out.String()
	}
	require.Equal(t, `+0.000s  ▶ started    run  r
+0.000s  · waiting    first
+0.000s  ● running    first@1
+0.000s  ✓ completed  first@1  0ms
+0.000s  · waiting    second
`, lines(0))
	require.Equal(t, "+0.000s  · waiting    second\n", lines(3), "resumed at the second gate")
	require.Equal(t, "+0.000s  ● running    first@1\n+0.000s  ✓ completed  first@1  0ms\n+0.000s  · waiting    second\n", lines(2), "the first gate is open")
}

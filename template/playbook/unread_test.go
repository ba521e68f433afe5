package playbook_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// An answer is unread if no expression can read it, in its step or in later ones.
func TestAnswersThatNothingReadsAreKnown(t *testing.T) {
	const text = `
apiVersion: sluice/v1
kind: Playbook
metadata: {name: p}
workflow:
  - step: a
    tool:
      - {name: x, kind: command, output: text, argv: [echo]%s}
      - {name: y, kind: command, output: text, argv: [echo]%s}
    next: {arcs: [{step: b%s}]}
  - step: b
    tool: {kind: %s}
`
	rule := func(s string) string {
		return fmt.Sprintf(`, spec: {policy: {rules: [{when: %q, then: {do: fail}}]}}`, s)
	}
	when := func(s string) string { return fmt.Sprintf(`, when: %q`, s) }
	const command = `command, output: text, argv: [echo]`
	for _, c := range []struct {
		x, y, arc, b string
		unread       []bool
	}{
		{b: command, unread: []bool{true, true, true}},
		{x: rule("{{ outcome.status == 'error' and outcome.error.code == 'c' }}"), arc: when("{{ event.name == 'step.done' }}"), b: command,
			unread: []bool{true, true, true}},
		{x: rule("{{ outcome.result == 1 }}"), b: command, unread: []bool{false, false, true}},
		{y: rule("{{ outcome.data == 1 }}"), b: command, unread: []bool{false, false, true}},
		{y: rule("{{ output == null }}"), b: command, unread: []bool{false, false, true}},
		{y: rule("{{ _prev == 1 }}"), b: command, unread: []bool{false, false, true}},
		{y: rule("{{ results.x == 1 }}"), b: command, unread: []bool{false, false, true}},
		{arc: when("{{ outcome[event.name] == 1 }}"), b: command, unread: []bool{false, false, true}},
		{arc: when("{{ event.result == 1 }}"), b: command, unread: []bool{false, false, false}},
		{arc: `, args: {all: "{{ event }}"}`, b: command, unread: []bool{false, false, false}},
		{b: `command, output: text, argv: [echo, "{{ args.x }}"]`, unread: []bool{true, true, true}},
		{b: `http, url: "http://localhost"`, unread: []bool{true, true, false}},
	} {
		document := fmt.Sprintf(text, c.x, c.y, c.arc, c.b)
		w, err := kinds.Load("p.yaml", []byte(document), template.Known{})
		require.NoError(t, err, document)
		for i, unread := range c.unread {
			require.Equal(t, unread, w.Workflow.Routing.CallSite(i).Unread, "%d: %s", i, document)
		}
	}
}

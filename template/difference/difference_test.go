package difference_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/difference"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
)

func compiled(t *testing.T, text string) *plan.Plan {
	checked, err := kinds.Load("w.yaml", []byte(text), template.Known{Lenient: true})
	require.NoError(t, err)
	p, err := plan.Compile(checked)
	require.NoError(t, err)
	return p
}

// changedParts returns the names of the changed parts of a difference.
func changedParts(d *difference.Difference) map[string][]string {
	out := map[string][]string{}
	for _, s := range d.Changed {
		for _, p := range s.Parts {
			out[s.ID] = append(out[s.ID], p.What)
		}
	}
	for _, p := range d.Whole {
		out[""] = append(out[""], p.What)
	}
	return out
}

const tree = `
kind: Workflow
name: order
operations: {say: {value: "{{ input }}"}, pay: {command: {argv: [pay]}}}
steps:
  - {id: a, operation: say, input: 1}
  - {id: b, operation: pay, timing: {timeout: PT1S}}
  - map: {id: each, over: "{{ input }}", as: one, steps: [{id: c, operation: say, input: "{{ one }}"}]}
  - conditional: {id: big, test: "{{ steps.a.output > 1 }}", then: [{id: d, operation: pay}]}
output: "{{ steps.a.output }}"
`

func TestEachPartOfAStepIsCompared(t *testing.T) {
	for name, c := range map[string]struct {
		now            string
		words          map[string][]string
		added, removed []string
	}{
		"nothing": {now: tree},
		"an input, a binding and a timing": {now: `
kind: Workflow
name: order
operations: {say: {value: "{{ input }}"}, pay: {command: {argv: [pay, twice]}}}
steps:
  - {id: a, operation: say, input: 2}
  - {id: b, operation: pay, timing: {timeout: PT2S}}
  - map: {id: each, over: "{{ input }}", as: one, steps: [{id: c, operation: say, input: "{{ one }}"}]}
  - conditional: {id: big, test: "{{ steps.a.output > 1 }}", then: [{id: d, operation: pay}]}
output: "{{ steps.a.output }}"
`, words: map[string][]string{"a": {"input"}, "b": {"operation", "timing"}, "d": {"operation"}}},
		"edges, guards and the whole": {now: `
kind: Workflow
name: order
max_concurrency: 3
operations: {say: {value: "{{ input }}"}, pay: {command: {argv: [pay]}}}
steps:
  - parallel: {steps: [{id: a, operation: say, input: 1}, {id: b, operation: pay, timing: {timeout: PT1S}}]}
  - map: {id: each, over: "{{ [input] }}", as: one, steps: [{id: c, operation: say, input: "{{ one }}"}]}
  - conditional: {id: big, test: "{{ steps.a.output > 2 }}", then: [{id: d, operation: pay}]}
`, words: map[string][]string{"b": {"edges"}, "each": {"edges", "over"}, "big": {"test"}, "d": {"guards"}, "": {"max_concurrency", "output"}}},
		"steps that come and go": {now: `
kind: Workflow
name: order
operations: {say: {value: "{{ input }}"}, pay: {command: {argv: [pay]}}}
steps:
  - {id: a, operation: say, input: 1}
  - {id: b, operation: pay, timing: {timeout: PT1S}}
  - map: {id: each, over: "{{ input }}", as: one, steps: [{id: c2, operation: say, input: "{{ one }}"}]}
  - conditional: {id: big, test: "{{ steps.a.output > 1 }}", then: [{id: d, operation: pay}]}
output: "{{ steps.a.output }}"
`, added: []string{"c2"}, removed: []string{"c"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := difference.Between(compiled(t, tree), compiled(t, c.now))
			if c.words == nil {
				c.words = map[string][]string{}
			}
			require.Equal(t, c.words, changedParts(d))
			require.Equal(t, c.added, d.Added)
			require.Equal(t, c.removed, d.Removed)
			require.Equal(t, name == "nothing", d.None())
		})
	}
}

func TestStepsOfPlaybooksAreCompared(t *testing.T) {
	head := "apiVersion: sluice/v1\nkind: Playbook\nmetadata: {name: p}\n"
	old := compiled(t, head+"workflow: [{step: a, tool: {kind: noop}, next: {arcs: [{step: b}]}}, {step: b, tool: {kind: noop}}]\n")
	now := compiled(t, head+"workload: {n: 1}\nworkflow: [{step: a, tool: {kind: noop}, next: {arcs: [{step: c}]}}, {step: c, tool: {kind: noop}}]\n")
	d := difference.Between(old, now)
	require.Equal(t, map[string][]string{"a": {"edges"}, "": {"workload"}}, changedParts(d))
	require.Equal(t, []string{"c"}, d.Added)
	require.Equal(t, []string{"b"}, d.Removed)
}

func TestMachinesOfWorldsAreCompared(t *testing.T) {
	world := func(change string) *plan.Plan {
		return compiled(t, `
kind: World
name: tally
types:
  Vote: {record: {poll: text, yes: bool}}
machines:
  poll:
    key: text
    state: {record: {yes: nat}}
    event: [Vote]
    emits: []
    lifecycle: entity
    rules:
      - {event: Vote, set: {yes: "`+change+`"}}
routing:
  subscriptions:
    - {event: Vote, machine: poll, key_field: poll}
`)
	}
	d := difference.Between(world("{{ 1 }}"), world("{{ 2 }}"))
	require.Equal(t, map[string][]string{"poll": {"rules"}}, changedParts(d))
}

package drawing_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/drawing"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
)

func draw(t *testing.T, text string) *drawing.Drawing {
	t.Helper()
	checked, err := kinds.Load("document.yaml", []byte(text), template.Known{Lenient: true})
	require.NoError(t, err)
	p, err := plan.Compile(checked)
	require.NoError(t, err)
	d, err := drawing.Of(p)
	require.NoError(t, err)
	require.Len(t, d.Kinds, len(d.Keys))
	require.Len(t, d.Boxes, 4*len(d.Keys))
	require.Len(t, d.To, len(d.From))
	require.Len(t, d.Points, len(d.From))
	require.Len(t, d.Words, len(d.From))
	return d
}

func TestAMapIsOneNodeAndATestIsOnItsConditional(t *testing.T) {
	d := draw(t, `{kind: Workflow, name: order, operations: {a: {value: 1}},
	  steps: [{operation: a, id: first}, {map: {id: each, over: "{{ [1, 2] }}", steps: [{operation: a, id: inner}, {operation: a, id: second}]}},
	    {conditional: {test: "{{ steps.first.output == 1 }}", then: [{operation: a, id: yes}], else: [{operation: a, id: no}]}}]}`)
	require.Equal(t, "smcss", d.Kinds)
	require.Equal(t, []string{"first", "each", "steps[2]", "yes", "no"}, d.Keys)
	require.Equal(t, "steps.first.output == 1", d.Labels[2])
	require.Contains(t, d.Words, "unless steps.first.output == 1")
	for e := range d.From {
		first, last := d.Points[e][:2], d.Points[e][len(d.Points[e])-2:]
		from, to := d.Boxes[4*d.From[e]:], d.Boxes[4*d.To[e]:]
		require.Equal(t, from[1]+from[3], first[1], "a line begins below its node")
		require.Equal(t, to[1], last[1], "and ends on top of the other")
	}
}

func TestAStepSaysHowAnswersBecomeOne(t *testing.T) {
	d := draw(t, `{kind: Workflow, name: ask, steps: [
	  {operation: a, id: alone},
	  {operation: a, id: one, target: {resolve: static, participants: [p, q]}, fan_in: {}},
	  {operation: a, id: every, target: {resolve: static, participants: [p, q]}, fan_in: {policy: all}},
	  {operation: a, id: some, target: {resolve: static, participants: [p, q]}, fan_in: {policy: quorum, min_responses: 2}},
	  {operation: a, id: best, target: {resolve: static, participants: [p, q]}, fan_in: {policy: best_of, score_field: price, score_order: asc}, timing: {timeout: PT2S}},
	  {operation: a, id: most, target: {resolve: static, participants: [p, q]}, fan_in: {policy: best_of, score_field: /price, min_responses: 2}, timing: {timeout: PT2S}}]}`)
	require.Equal(t, []string{"", "any one", "all of them", "quorum of 2", "best of /price, lowest", "best of /price, highest, of at least 2"}, d.Labels)
}

func TestAPlaybookHasGates(t *testing.T) {
	text, err := os.ReadFile("../../examples/fetch/playbook.yaml")
	require.NoError(t, err)
	d := draw(t, string(text))
	require.Equal(t, []string{"pages", "release", "apologize", "report"}, d.Keys)
	require.Equal(t, "msss", d.Kinds)
	require.Equal(t, "allow if ctx.approved == true, else deny", d.Labels[1])
}

func TestALargeWorkflowIsFewBytes(t *testing.T) {
	var b strings.Builder
	b.WriteString("{kind: Workflow, name: large, operations: {a: {value: 1}}, steps: [")
	for layer := range 20 {
		fmt.Fprintf(&b, "{parallel: {steps: [")
		for i := range 20 {
			fmt.Fprintf(&b, "{operation: a, id: s%d-%d},", layer, i)
		}
		b.WriteString("]}},")
	}
	b.WriteString("]}")
	d := draw(t, b.String())
	data, err := json.Marshal(d)
	require.NoError(t, err)
	require.Less(t, len(data), 250*len(d.Keys))
	require.Equal(t, d, draw(t, b.String()), "the drawing depends on the workflow alone")
}

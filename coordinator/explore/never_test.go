package explore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/explore"
	"github.com/sluiceflow/sluice/template/value"
)

const mapped = "kind: Workflow\nname: w\nsteps:\n  - {map: {id: m, over: \"{{ [1, 2] }}\", steps: [{operation: b}]}}\n  - {operation: c}\n"

// A condition that can never be evaluated would never hold.
func TestAConditionThatNamesNothingIsRefused(t *testing.T) {
	book := head + "workflow:\n  - {step: begin, tool: {kind: call}}\n"
	for _, tt := range []struct{ text, never, says string }{
		{workflowOf(""), "{{ steps.nobody.status == 'failed' }}", `unknown step "nobody"`},
		{workflowOf(""), "{{ steps.s2.status == 'failed' }}", `did you mean "s1"?`},
		{workflowOf(""), "x", "reads nothing of the run"},
		{workflowOf(""), "{{ 1 > 2 }}", "reads nothing of the run"},
		{workflowOf(""), "{{ runs.a > 1 }}", "only playbooks have runs"},
		{workflowOf(""), "{{ steps.a.status }}", "can be evaluated in no state: a condition must give true or false"},
		{workflowOf(""), "{{ steps.a.output.n + 1 > steps.a.status }}", "can be evaluated in no state"},
		{mapped, "{{ steps.b.status == 'failed' }}", `step "b" is inside map "m": name an item of it, such as steps["b[0]"]`},
		{book, "{{ runs.begn > 1 }}", `unknown step "begn" (did you mean "begin"?)`},
		{book, "{{ steps.begn.status == 'failed' }}", `unknown step "begn" (did you mean "begin"?)`},
	} {
		_, err := explore.Run(compile(t, tt.text), explore.Options{Never: []string{tt.never}})
		require.ErrorContains(t, err, tt.says, tt.never)
	}
}

func TestAConditionMayBeAboutAnItem(t *testing.T) {
	r := explored(t, mapped, explore.Options{Never: []string{`{{ steps["b[1]"].status == "failed" && steps["b[0]"].output.n == 7 }}`}})
	require.Equal(t, []string{explore.NeverHolds + " "}, kindsOf(r))
	require.Equal(t, []string{`b[0] answers {"n":7}`, "b[1] fails"}, r.Findings[0].Trace)
	require.Empty(t, explored(t, mapped, explore.Options{Never: []string{`{{ steps["b[2]"].status != "idle" || steps["b[2]"].error != null }}`}}).Findings)
}

func TestAnAnswerOfNobodyIsRefused(t *testing.T) {
	text := head + "workflow:\n  - {step: begin, tool: [{name: ask, kind: call}]}\n"
	for name, says := range map[string]string{"begn": `unknown step "begn" (did you mean "begin"?)`, "begin.aks": `did you mean "begin.ask"?`} {
		_, err := explore.Run(compile(t, text), explore.Options{Outputs: map[string][]value.Value{name: {nil}}})
		require.ErrorContains(t, err, says)
	}
	for _, name := range []string{"begin", "begin.ask"} {
		_, err := explore.Run(compile(t, text), explore.Options{Outputs: map[string][]value.Value{name: {nil}}})
		require.NoError(t, err)
	}
}

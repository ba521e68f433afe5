package httpapi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/draft"
	"github.com/sluiceflow/sluice/coordinator/workers"
)

// TestACheckFindsWhatAPublishRefuses: bindings that are not allowed here, and a workflow that is not there.
func TestACheckFindsWhatAPublishRefuses(t *testing.T) {
	s := newSite(t, nil)
	s.token = "author"
	for _, document := range []string{
		`{kind: Workflow, name: w, operations: {say: {command: {shell: "echo hi"}}}, steps: [{operation: say}]}`,
		`{kind: Workflow, name: w, operations: {sub: {workflow: {path: sub.yaml}}}, steps: [{operation: sub}]}`,
		`{kind: Workflow, name: w, operations: {sub: {workflow: {name: sub}}}, steps: [{operation: sub}]}`,
		approval,
	} {
		found := ok[draft.Check](s, "POST", "/v1/check", sent(document))
		code, detail, status := s.outcome("POST", "/v1/workflows?dry=true", sent(document))
		require.Less(t, status, 500)
		if code == "" {
			require.Empty(t, found.Faults, document)
			continue
		}
		require.NotEmpty(t, found.Faults, "%s: %s", document, detail)
		require.Equal(t, detail, found.Faults[0].Text)
	}
}

// TestACheckWarnsAsAPublishDoes: of operations that workers carry out, also in workflows that it starts, and of mistakes that any kind of document
// allows.
func TestACheckWarnsAsAPublishDoes(t *testing.T) {
	s := siteOf(t, coordinator.Config{Workers: workers.NewKey()}, nil)
	s.token = "author"
	below := `{kind: Workflow, name: below, steps: [{operation: pack}]}`
	warned := ok[api.Done](s, "POST", "/v1/workflows", sent(below)).Warning
	require.Contains(t, warned, "no worker serves pack now")
	_, _, err := s.engine.Workers().Take(t.Context(), workers.Worker{Token: "t", Name: "w"}, []string{"pack"}, 1, 0)
	require.NoError(t, err)
	for _, document := range []string{
		below,
		`{kind: Workflow, name: above, operations: {sub: {workflow: {name: below}}}, steps: [{operation: sub}, {operation: charge}]}`,
		`{kind: Workflow, name: none, operations: {o: {value: 1}}, steps: [{operation: o}]}`,
	} {
		found := ok[draft.Check](s, "POST", "/v1/check", sent(document))
		would := ok[PublishPreview](s, "POST", "/v1/workflows?dry=true", sent(document)).Warning
		done := ok[api.Done](s, "POST", "/v1/workflows", sent(document))
		require.Empty(t, found.Faults)
		require.Equal(t, done.Warning, would)
		if done.Warning == "" {
			require.Empty(t, found.Warnings)
			require.Contains(t, document, "name: none")
			continue
		}
		require.Equal(t, []draft.Fault{{Text: done.Warning}}, found.Warnings)
		require.Contains(t, done.Warning, "pack: workers carry that out")
		require.Equal(t, strings.Contains(document, "charge"), strings.HasSuffix(done.Warning, "no worker serves charge now"), done.Warning)
	}
}

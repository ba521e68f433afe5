package httpapi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/draft"
)

// TestACheckFindsWhatAPublishRefuses: what is not allowed here, and a workflow that is not there.
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

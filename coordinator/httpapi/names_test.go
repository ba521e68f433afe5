package httpapi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/api"
)

// TestNamesThatNobodyCanSeeAreRefused: a request with an invisible name is refused, and changes nothing.
func TestNamesThatNobodyCanSeeAreRefused(t *testing.T) {
	s := newSite(t, nil)
	s.start("a")
	before := ok[api.Run](s, "GET", "/v1/runs/a", "")
	for _, test := range []struct{ method, path, body, says string }{
		{"POST", "/v1/runs/a/messages", `{"name": "go\u0000"}`, `message "go\x00": remove the character U+0000, which cannot be seen`},
		{"POST", "/v1/runs/a/messages", `{"name": ""}`, "message"},
		{"POST", "/v1/runs", `{"workflow": "approval", "id": "b\u200b"}`, `run id: "b\u200b": remove the character U+200B`},
		{"POST", "/v1/runs", `{"workflow": "approval", "id": "b", "labels": {"te\u200bam": "x"}}`, `label "te\u200bam": remove the character U+200B`},
		{"GET", "/v1/runs?q=label.te%E2%80%8Bam:x", "", `label "te\u200bam": remove the character U+200B`},
		{"GET", "/v1/runs?labels=%7B%22te%E2%80%8Bam%22:%22x%22%7D", "", `label "te\u200bam": remove the character U+200B`},
	} {
		p := s.refused(CodeBadRequest, test.method, test.path, test.body)
		require.Contains(t, p.Detail, test.says, test.path)
	}
	require.Equal(t, before.Events, ok[api.Run](s, "GET", "/v1/runs/a", "").Events)
	s.refused("run_not_found", "GET", "/v1/runs/b", "")
}

package httpapi

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/httpapi/audit"
)

// Acts are recorded with their actors, and so are refusals; nothing else is recorded, and no payload, token or secret.
func TestActsAndRefusalsAreRecorded(t *testing.T) {
	dir := t.TempDir()
	log, err := audit.Open(dir, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	s := newSite(t, func(c *Config) { c.Audit = log })
	const canary = "canary-7f3a"
	ok[api.Run](s, "POST", "/v1/runs", `{"workflow": "approval", "id": "a", "input": "`+canary+`"}`)
	ok[api.Done](s, "POST", "/v1/runs/a/messages", `{"name": "other", "payload": "`+canary+`"}`)
	s.refused("step_not_found", "POST", "/v1/runs/a/steps/none/abort", `{"reason": "`+canary+`"}`)
	ok[api.Run](s, "GET", "/v1/runs/a", "")
	s.refused("run_not_found", "GET", "/v1/runs/b", "")
	s.refused(CodeForbidden, "DELETE", "/v1/runs/a", "")
	s.refused(CodeForbidden, "GET", "/v1/audit", "")
	s.token = canary
	s.refused(CodeUnauthorized, "GET", "/v1/runs", "")
	s.refused(CodeUnauthorized, "POST", "/v1/session", `{"token": "`+canary+`"}`)
	s.token = "admin"
	ok[Me](s, "POST", "/v1/session", `{"token": "viewer"}`)
	resp := s.do("POST", "/v1/runs/a/cancel", `{"reason": "`+canary+`"}`, "Accept", LinesType)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.NoError(t, resp.Body.Close())
	ok[PublishPreview](s, "POST", "/v1/workflows?dry=true", `{"document": "{kind: Workflow, name: w, operations: {o: {value: 1}}, steps: [{operation: o}]}"}`)
	ok[api.Done](s, "POST", "/v1/workflows", `{"document": "{kind: Workflow, name: w, operations: {o: {value: 1}}, steps: [{operation: o}]}"}`)
	require.Eventually(t, func() bool { // an answer of lines is recorded a moment after it has arrived
		return len(ok[audit.Page](s, "GET", "/v1/audit", "").Items) == 10
	}, time.Minute, time.Millisecond)
	require.NoError(t, log.Close())

	page := ok[audit.Page](s, "GET", "/v1/audit", "")
	var got [][]any
	for _, e := range page.Items {
		require.False(t, e.At.IsZero())
		require.Len(t, e.Request, 16)
		require.Equal(t, "127.0.0.1", e.From)
		got = append(got, []any{e.Kind, e.Actor, e.Method + " " + e.Route, e.Run, e.Step + e.Name, e.Status, e.Code})
	}
	require.ElementsMatch(t, [][]any{
		{"act", "the admin", "POST /v1/workflows", "", "w", 200, ""},
		{"act", "the admin", "POST /v1/runs/{run}/cancel", "a", "", 200, ""},
		{"login", "the viewer", "POST /v1/session", "", "", 200, ""},
		{"refused", "", "POST /v1/session", "", "", 401, CodeUnauthorized},
		{"refused", "", "GET /v1/runs", "", "", 401, CodeUnauthorized},
		{"refused", "the operator", "GET /v1/audit", "", "", 403, CodeForbidden},
		{"refused", "the operator", "DELETE /v1/runs/{run}", "a", "", 403, CodeForbidden},
		{"act", "the operator", "POST /v1/runs/{run}/steps/{key}/abort", "a", "none", 404, "step_not_found"},
		{"act", "the operator", "POST /v1/runs/{run}/messages", "a", "", 200, ""},
		{"act", "the operator", "POST /v1/runs", "a", "", 201, ""},
	}, got)
	require.Empty(t, page.Next)
	require.Len(t, ok[audit.Page](s, "GET", "/v1/audit?kind=refused&limit=3", "").Items, 3)
	page = ok[audit.Page](s, "GET", "/v1/audit?run=a&actor=the+operator&limit=2", "")
	require.Len(t, page.Items, 2)
	first := page.Next
	page = ok[audit.Page](s, "GET", "/v1/audit?run=a&actor=the+operator&limit=2&cursor="+page.Next, "")
	require.Len(t, page.Items, 2)
	require.Empty(t, page.Next)
	for _, query := range []string{"cursor=made-up", "cursor=2026-11-28-0", "run=b&cursor=" + first, "kind=act&run=a&actor=the+operator&cursor=" + first, "kind=acts"} {
		s.refused(CodeBadRequest, "GET", "/v1/audit?"+query, "")
	}
	s.refused(CodeBadRequest, "GET", "/v1/audit?limit=0", "")
	s.refused(CodeMethod, "POST", "/v1/audit", "{}")

	files, err := filepath.Glob(filepath.Join(dir, audit.Dir, "*"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NotContains(t, string(text), canary)
	}
}

func TestAServerWithoutAnAuditSaysSo(t *testing.T) {
	s := newSite(t, nil)
	s.token = "admin"
	s.refused("not_possible", "GET", "/v1/audit", "")
}

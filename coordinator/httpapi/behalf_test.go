package httpapi

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/httpapi/audit"
	"github.com/sluiceflow/sluice/coordinator/httpapi/names"
)

// TestForWhomAnActIsDoneIsKept: the journal and the audit record the represented person, beside the name of the token.
func TestForWhomAnActIsDoneIsKept(t *testing.T) {
	log, err := audit.Open(t.TempDir(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	s := newSite(t, func(c *Config) { c.Audit = log })
	s.start("a")
	ok[api.Done](s, "POST", "/v1/runs/a/pause", `{}`, "On-Behalf-Of", "J%C3%BCrgen")
	ok[api.Done](s, "POST", "/v1/runs/a/resume", `{}`)
	s.refused(CodeBadRequest, "POST", "/v1/runs/a/pause", `{}`, "On-Behalf-Of", strings.Repeat("x", 300))
	var actors []string
	for _, e := range ok[EventPage](s, "GET", "/v1/runs/a/events", "").Items {
		if e.Type == "run.paused" || e.Type == "run.resumed" {
			actors = append(actors, e.Actor)
		}
	}
	require.Equal(t, []string{"the operator on_behalf_of Jürgen", "the operator"}, actors)
	require.NoError(t, log.Close())
	page, err := log.Read(t.Context(), audit.Query{Kind: audit.Act, Run: "a", Limit: 10})
	require.NoError(t, err)
	var behalf []string
	for _, e := range page.Items {
		if e.Code == "" {
			behalf = append(behalf, e.Actor+","+e.OnBehalfOf)
		}
	}
	require.Equal(t, []string{"the operator,", "the operator,Jürgen", "the operator,"}, behalf)
}

// TestForWhomNobodyCanActIsRefused: every route refuses an invalid person, before anything is done or recorded.
func TestForWhomNobodyCanActIsRefused(t *testing.T) {
	log, err := audit.Open(t.TempDir(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	s := newSite(t, func(c *Config) { c.Audit = log })
	s.start("a")
	before := s.everything()
	for i := range routes {
		r := &routes[i]
		for _, values := range [][]string{
			{"bob", "eve"}, {"bob", ""}, {"b%00b"}, {"b%0Ab"}, {"b%E2%80%AEb"}, {"b%FFb"}, {"b\xffb"}, {"b%zz"}, {strings.Repeat("x", 257)}, {strings.Repeat("%C3%BC", 129)},
		} {
			s.token = strings.Replace(r.Role.String(), "nobody", "admin", 1)
			req := httptest.NewRequestWithContext(t.Context(), r.Method, "http://127.0.0.1"+filled(r.Path), strings.NewReader("{}"))
			req.Header = http.Header{"Authorization": {"Bearer " + s.token}, "Content-Type": {"application/json"}, names.BehalfHeader: values}
			answer := httptest.NewRecorder()
			s.server.ServeHTTP(answer, req)
			var p Problem
			require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &p), "%s %s: %s", r.Method, r.Path, answer.Body)
			require.Equal(t, CodeBadRequest, p.Code, "%s %s %q", r.Method, r.Path, values)
			require.Equal(t, "header/"+names.BehalfHeader, p.Errors[0].Pointer, "%s %s %q", r.Method, r.Path, values)
		}
	}
	s.token = "unknown"
	s.refused(CodeUnauthorized, "POST", "/v1/runs/a/pause", `{}`, names.BehalfHeader, "b%00b")
	s.token = "admin"
	long := strings.Repeat("x", coordinator.ActorMax-len("the admin on_behalf_of "))
	s.refused(CodeBadRequest, "POST", "/v1/keep", `{"keep": "30d"}`, names.BehalfHeader, long+"x")
	require.Equal(t, before, s.everything())
	ok[api.Done](s, "POST", "/v1/keep", `{"keep": "30d"}`, names.BehalfHeader, long)
	require.NoError(t, log.Close())
	page, err := log.Read(t.Context(), audit.Query{Limit: 10_000})
	require.NoError(t, err)
	for _, e := range page.Items {
		require.True(t, e.OnBehalfOf == "" || e.OnBehalfOf == long, e.OnBehalfOf)
		require.True(t, e.Kind != audit.Act || e.Actor != "", "an act of a token that is not known: %v", e)
	}
}

// TestWhatIsRecordedNamesForWhom: the description of each recorded route has the header.
func TestWhatIsRecordedNamesForWhom(t *testing.T) {
	for i := range routes {
		r := &routes[i]
		records := r.Method != http.MethodGet && r.Role >= Operator || r.Path == "/v1/session" && r.Method != http.MethodGet || r.Path == "/login"
		records = records && r.Path != "/v1/diff" && r.Path != "/v1/check"
		require.Equal(t, records, slices.Contains(r.headers(), behalfOf), "%s %s", r.Method, r.Path)
	}
}

package httpapi

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/httpapi/audit"
)

// TestForWhomAnActIsDoneIsKept, beside the name of the token, by the journal and by the audit.
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

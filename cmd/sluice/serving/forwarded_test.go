package serving

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/httpapi"
	"github.com/sluiceflow/sluice/coordinator/httpapi/audit"
	"github.com/sluiceflow/sluice/coordinator/httpapi/tokens"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// The audit and the limits of requests without a token and of streams use the client address that the proxy reports; without a proxy, the
// address of the connection.
func TestLimitsGoByTheAddressThatTheProxyTells(t *testing.T) {
	for proxy, knows := range map[string]bool{"127.0.0.1/32": true, "": false} {
		dir := t.TempDir()
		logger := slog.New(slog.DiscardHandler)
		engine, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{Logger: logger})
		require.NoError(t, err)
		token, err := tokens.Of(dir).Create("ann", "admin", time.Now(), time.Time{})
		require.NoError(t, err)
		record, err := audit.Open(dir, logger)
		require.NoError(t, err)
		f := Flags{Listen: "127.0.0.1:0", Proxy: proxy}
		at, err := f.Start(t.Context(), engine, record, dir, "", "ann", logger)
		require.NoError(t, err)
		client := &http.Client{Transport: &http.Transport{}}
		get := func(path, token, forwarded string) *http.Response {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at.URL+path, nil)
			require.NoError(t, err)
			req.Header.Set("X-Forwarded-For", "198.51.100.9, "+forwarded)
			if token != "" {
				req.Header.Set("Authorization", "Bearer "+token)
			}
			resp, err := client.Do(req)
			require.NoError(t, err)
			t.Cleanup(func() { _ = resp.Body.Close() })
			return resp
		}
		for range httpapi.StreamsOfAClientMax {
			require.Equal(t, http.StatusOK, get("/v1/feed", token, "192.0.2.1").StatusCode)
		}
		require.Equal(t, http.StatusTooManyRequests, get("/v1/feed", token, "192.0.2.1").StatusCode)
		require.Equal(t, knows, get("/v1/feed", token, "192.0.2.2").StatusCode == http.StatusOK)

		status := 0
		for range 1000 { // more than the rate allows during the loop
			resp := get("/v1/runs", "", "192.0.2.3")
			_, _ = io.Copy(io.Discard, resp.Body)
			if status = resp.StatusCode; status != http.StatusUnauthorized {
				break
			}
		}
		require.Equal(t, http.StatusTooManyRequests, status)
		if knows { // otherwise one more request is allowed a moment later
			require.Equal(t, http.StatusUnauthorized, get("/v1/runs", "", "192.0.2.4").StatusCode)
		}

		want := map[bool]string{true: "192.0.2.3", false: "127.0.0.1"}[knows]
		require.Eventually(t, func() bool { // entries are written in batches, a little later
			var page audit.Page
			require.NoError(t, json.NewDecoder(get("/v1/audit?kind=refused&limit=1", token, "192.0.2.5").Body).Decode(&page))
			return len(page.Items) == 1 && page.Items[0].From == want
		}, time.Minute, 20*time.Millisecond)
		client.CloseIdleConnections()
		require.NoError(t, engine.Shutdown(context.Background()))
	}
}

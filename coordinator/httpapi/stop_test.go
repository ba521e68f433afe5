package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// TestAWaitingRequestIsAnsweredWhenTheServerStops: /readyz reports the stop for as long as a request is under way.
func TestAWaitingRequestIsAnsweredWhenTheServerStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{})
		require.NoError(t, err)
		defer func() { require.NoError(t, engine.Shutdown(context.Background())) }()
		server, err := Handler(engine, Config{Open: Identity{Name: "ann", Role: Admin}})
		require.NoError(t, err)
		ask := func(method, path, body string) *httptest.ResponseRecorder {
			w, req := httptest.NewRecorder(), httptest.NewRequest(method, path, strings.NewReader(body))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Prefer", "wait=60")
			server.ServeHTTP(w, req)
			return w
		}
		answered := make(chan *httptest.ResponseRecorder, 1)
		go func() { answered <- ask("POST", "/v1/runs", `{"id": "a", "document": `+quoted(approval)+`}`) }()
		synctest.Wait()
		began := time.Now()
		end := server.requests.Begin() // a request that takes its time
		drained := make(chan struct{})
		go func() {
			server.Drain(t.Context())
			close(drained)
		}()
		answer := <-answered
		require.Equal(t, http.StatusCreated, answer.Code, answer.Body)
		require.Contains(t, answer.Body.String(), `"waiting"`)
		require.Equal(t, began, time.Now(), "at once")
		for path, code := range map[string]int{"/readyz": 503, "/livez": 200, "/v1/runs": 503} {
			require.Equal(t, code, ask("GET", path, "").Code, path)
		}
		synctest.Wait()
		select {
		case <-drained:
			t.Fatal("a request is under way")
		default:
		}
		end()
		<-drained
	})
}

// TestWhoFollowsLearnsThatTheServerStops: lines end with an error, and a feed ends after its last frame, to be resumed there.
func TestWhoFollowsLearnsThatTheServerStops(t *testing.T) {
	for _, one := range []struct{ path, accept, ends string }{
		{"/v1/runs/a/feed", LinesType, `{"error":{"code":"shutdown"`},
		{"/v1/runs/a/feed?view=log", LinesType, `"code":"shutdown"`},
		{"/v1/runs/w/cells/clock%5Ba%5D?await=state.n==2", LinesType, `"code":"shutdown"`},
		{"/v1/runs/w/cells/clock%5Ba%5D?await=state.n==2", "", `"code":"shutdown"`},
		{"/v1/runs/a/feed", "", `{"event":"snapshot","id":"2"`},
		{"/v1/runs/a/feed", "text/event-stream", "event: snapshot"},
		{"/v1/feed?run=a", "", `{"event":"snapshot"`},
		{"/v1/feed", "", `{"event":"ready"`},
		{"/v1/runs/a/feed?view=log", "", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			engine, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{})
			require.NoError(t, err)
			defer func() { require.NoError(t, engine.Shutdown(context.Background())) }()
			server, err := Handler(engine, Config{Open: Identity{Name: "ann", Role: Admin}, Logger: slog.New(slog.DiscardHandler)})
			require.NoError(t, err)
			ask := func(method, path, body, accept string) *httptest.ResponseRecorder {
				w, req := httptest.NewRecorder(), httptest.NewRequest(method, path, strings.NewReader(body))
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Accept", accept)
				server.ServeHTTP(w, req)
				return w
			}
			require.Equal(t, 201, ask("POST", "/v1/runs", `{"id": "a", "document": `+quoted(approval)+`}`, "").Code)
			require.Equal(t, 201, ask("POST", "/v1/runs", `{"id": "w", "document": `+quoted(alarm)+`}`, "").Code)
			require.Equal(t, 200, ask("POST", "/v1/runs/w/messages", `{"name": "Set", "payload": {"id": "a"}}`, "").Code)
			answered := make(chan *httptest.ResponseRecorder, 1)
			go func() { answered <- ask("GET", one.path, "", one.accept) }()
			synctest.Wait()
			require.Empty(t, len(answered), one.path)
			began := time.Now()
			server.Drain(t.Context())
			answer := <-answered
			require.Equal(t, began, time.Now(), "at once")
			text := strings.TrimSpace(answer.Body.String())
			require.Contains(t, text[strings.LastIndex(text, "\n\n")+1:], one.ends, "%s %s: %s", one.path, one.accept, text)
			if strings.Contains(one.ends, "shutdown") {
				require.Contains(t, []int{200, 503}, answer.Code, "%s: %s", one.path, text)
			} else {
				require.NotContains(t, text, "error", one.path)
			}
		})
	}
}

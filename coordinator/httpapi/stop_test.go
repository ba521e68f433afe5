package httpapi

import (
	"context"
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

// TestAWaitingRequestIsAnsweredWhenTheServerStops, and /readyz says that it does for as long as a request is under way.
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

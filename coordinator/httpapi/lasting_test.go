package httpapi

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/workers"
	"github.com/sluiceflow/sluice/coordinator/workers/wire"
)

// revocable is a site with workers whose tokens can be revoked. looks receives each check of a token except the admin's.
func revocable(t *testing.T) (_ *site, _ *atomic.Bool, looks <-chan struct{}) {
	revoked, looked := &atomic.Bool{}, make(chan struct{}, 1000)
	s := siteOf(t, coordinator.Config{Workers: workers.NewKey()}, func(c *Config) {
		known := c.Authenticate
		c.Authenticate = func(token string) (Identity, bool) {
			who, ok := known(token)
			who.Operations = []string{"charge"}
			if token != "admin" {
				looked <- struct{}{}
			}
			return who, ok && (token == "admin" || !revoked.Load())
		}
	})
	return s, revoked, looked
}

// A request that lasts ends when its token does: no frame follows, though the run goes on, and no answer.
func TestWhatLastsEndsWithItsToken(t *testing.T) {
	for _, path := range []string{"/v1/runs/a/feed", "/v1/runs/a/feed?view=events", "/v1/feed", "/v1/feed?run=a", "lines"} {
		s, revoked, _ := revocable(t)
		s.start("a")
		s.token = "viewer"
		headers := []string{}
		if path == "lines" {
			path, headers = "/v1/runs/a/feed", []string{"Accept", LinesType}
		}
		resp := s.do("GET", path, "", headers...)
		r := bufio.NewReader(resp.Body)
		_, err := r.ReadString('\n')
		require.NoError(t, err)
		revoked.Store(true)
		s.token = "admin"
		ok[api.Done](s, "POST", "/v1/runs/a/messages", `{"name": "approved", "payload": {"by": "`+canary+`"}}`)
		rest, err := io.ReadAll(r)
		require.NoError(t, err)
		resp.Body.Close()
		require.NotContains(t, string(rest), canary, path)
		require.NotContains(t, string(rest), "completed", path)
		require.Contains(t, string(rest), CodeUnauthorized, path)
	}
}

func TestAWaitEndsWithItsToken(t *testing.T) {
	s, revoked, looks := revocable(t)
	s.start("a")
	<-looks
	s.token = "viewer"
	answered := make(chan int)
	go func() {
		answer := s.answered("GET", "/v1/runs/a", strings.NewReader(""), "Prefer", "wait=60")
		answered <- answer.Code
	}()
	<-looks // when it comes
	<-looks // while it waits
	revoked.Store(true)
	require.Equal(t, 401, <-answered)
}

// A call is not handed to a worker whose token was revoked while it waited.
func TestATakeEndsWithItsToken(t *testing.T) {
	s, revoked, looks := revocable(t)
	s.token = "worker"
	answered := make(chan *http.Response)
	go func() { answered <- s.do("POST", "/v1/worker/take", `{"worker": "w", "wait": "60s"}`) }()
	<-looks // when it comes
	<-looks // while it waits
	revoked.Store(true)
	s.token = "admin"
	ok[api.Run](s, "POST", "/v1/runs", `{"id": "a", "document": "{kind: Workflow, name: w, steps: [{operation: charge, input: `+canary+`}]}"}`)
	resp := <-answered
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Contains(t, string(answer), CodeUnauthorized)
	require.NotContains(t, string(answer), canary)
	taken := ok[wire.TakeAnswer](s, "POST", "/v1/worker/take", `{"worker": "w", "operations": ["charge"]}`)
	require.Len(t, taken.Calls, 1, "it is another's")
	require.Empty(t, ok[wire.TakeAnswer](s, "POST", "/v1/worker/take", `{"worker": "w", "operations": ["none"], "wait": "PT0.001S"}`).Calls)
	for _, wait := range []string{"PT2M", "2m", "PT", "P1M", "-1s", "1"} {
		s.refused(CodeBadRequest, "POST", "/v1/worker/take", `{"worker": "w", "operations": ["none"], "wait": "`+wait+`"}`)
	}
}

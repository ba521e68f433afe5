package httpapi

import (
	"bufio"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/api"
)

// revocable is a site of which the tokens can be revoked.
func revocable(t *testing.T) (*site, *atomic.Bool) {
	revoked := &atomic.Bool{}
	s := newSite(t, func(c *Config) {
		known := c.Authenticate
		c.Authenticate = func(token string) (Identity, bool) {
			who, ok := known(token)
			return who, ok && (token == "admin" || !revoked.Load())
		}
	})
	return s, revoked
}

// What goes on for a token ends when the token does: no frame follows, though the run goes on, and no answer.
func TestWhatLastsEndsWithItsToken(t *testing.T) {
	for _, path := range []string{"/v1/runs/a/feed", "/v1/runs/a/feed?view=events", "/v1/feed", "/v1/feed?run=a", "lines"} {
		s, revoked := revocable(t)
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
	s, revoked := revocable(t)
	s.start("a")
	s.token = "viewer"
	answered := make(chan int)
	go func() {
		answer := s.answered("GET", "/v1/runs/a", strings.NewReader(""), "Prefer", "wait=60")
		answered <- answer.Code
	}()
	for s.server.standing.Count() == 0 {
		runtime.Gosched() // the request has not come
	}
	revoked.Store(true)
	require.Equal(t, 401, <-answered)
	require.Zero(t, s.server.standing.Count(), "nothing is left of it")
}

package httpapi

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/api"
)

const canary = "canary-7f3a"

// An observer looks in every corner, while a run has a secret text in its input, in messages, outputs, errors and reasons.
func TestAnObserverSeesNoPayload(t *testing.T) {
	s := newSite(t, nil)
	s.token = "admin"
	const w = `{kind: Workflow, name: w, operations: {ask: {wait: {message: go}}, no: {fail: {code: refused, message: "no {{ input }}"}}},
 steps: [{operation: ask}, {operation: "no", input: "{{ steps.ask.output }}"}]}`
	ok[api.Run](s, "POST", "/v1/runs", `{"id": "a", "input": "`+canary+`", "document": `+quoted(w)+`}`)
	s.start("open")
	ok[api.Done](s, "POST", "/v1/runs/open/messages", `{"name": "other", "payload": "`+canary+`"}`)
	ok[api.Done](s, "POST", "/v1/runs/open/pause", `{"reason": "`+canary+`"}`)
	ok[api.Done](s, "POST", "/v1/runs/a/messages", `{"name": "go", "payload": "`+canary+`"}`)
	require.Equal(t, "failed", ok[api.Run](s, "GET", "/v1/runs/a", "", "Prefer", "wait=60").Status)
	seen := func(path string, headers ...string) (int, string) {
		t.Helper()
		resp := s.do("GET", path, "", headers...)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(text)
	}
	_, text := seen("/v1/runs/a")
	require.Contains(t, text, canary, "a viewer sees it")
	s.token = "observer"
	for i := range routes {
		r := &routes[i]
		if r.Method != http.MethodGet || r.Role == Nobody || r.Path == "/v1/feed" {
			continue
		}
		status, text := seen(filled(r.Path))
		require.NotContains(t, text, canary, r.Path)
		if r.Role > Observer {
			require.Equal(t, 403, status, r.Path)
		}
		status, text = seen(filled(r.Path), "Accept", LinesType)
		require.Equal(t, 403, status, r.Path)
		require.NotContains(t, text, canary, r.Path)
	}
	for _, path := range []string{"/v1/runs/a/feed", "/v1/runs/a/feed?after=0", "/v1/feed?run=a"} {
		status, text := seen(path)
		require.Equal(t, 200, status)
		require.Contains(t, text, `"failed"`)
		require.NotContains(t, text, canary)
	}
	for _, path := range []string{"/v1/runs/a/feed?view=events", "/v1/runs/a/feed?view=log", "/v1/feed?view=log", "/v1/feed?view=events", "/v1/feed?view=events&run=a"} {
		s.refused(CodeForbidden, "GET", path, "")
	}
	_, text = seen("/v1/runs")
	require.Contains(t, text, `"open"`)
	require.Contains(t, text, `"refused"`, "the code of a failure is no payload")
	require.False(t, strings.Contains(text, "no "+canary))
	s.refused(CodeForbidden, "POST", "/v1/runs/open/cancel", `{}`)
}

// The wait of a run may have a name that is made of the run's input: an observer sees the kind alone.
func TestAnObserverIsToldTheKindOfAWait(t *testing.T) {
	s := newSite(t, nil)
	resp := s.do("GET", "/v1/feed", "", "Authorization", "Bearer observer")
	defer resp.Body.Close()
	feed := bufio.NewReader(resp.Body)
	_, err := feed.ReadString('\n')
	require.NoError(t, err)
	s.token = "admin"
	const w = `{kind: Workflow, name: w, operations: {ask: {wait: {message: "m-{{ input }}"}}}, steps: [{operation: ask, input: "{{ input }}"}]}`
	ok[api.Run](s, "POST", "/v1/runs", `{"id": "a", "input": "`+canary+`", "document": `+quoted(w)+`}`)
	require.Equal(t, []api.Wait{{Kind: "message", Name: "m-" + canary, Step: "ask"}}, ok[RunPage](s, "GET", "/v1/runs", "").Items[0].Waits)
	s.token = "observer"
	require.Equal(t, []api.Wait{{Kind: "message"}}, ok[RunPage](s, "GET", "/v1/runs", "").Items[0].Waits)
	line, err := feed.ReadString('\n')
	for err == nil && !strings.Contains(line, `"waits"`) {
		line, err = feed.ReadString('\n')
	}
	require.NoError(t, err)
	require.Contains(t, line, `"waits":[{"kind":"message"}]`)
}

// A client that lacks a role gets an error that names the role, in every form of answer.
func TestAnObserverIsToldWhatIsMissing(t *testing.T) {
	s := newSite(t, nil)
	s.token = "observer"
	p := s.refused(CodeForbidden, "POST", "/v1/runs", `{"workflow": "approval"}`, "Accept", LinesType)
	require.Contains(t, p.Detail, "this needs the role operator")
	p = s.refused(CodeForbidden, "GET", "/v1/runs", "", "Accept", LinesType)
	require.Contains(t, p.Detail, "the command, and other clients that read lines of replies, need the role viewer")
}

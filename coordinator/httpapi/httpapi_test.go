package httpapi

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/drawing"
	"github.com/sluiceflow/sluice/coordinator/feed"
	"github.com/sluiceflow/sluice/coordinator/httpapi/names"
	"github.com/sluiceflow/sluice/coordinator/httpapi/rates"
	"github.com/sluiceflow/sluice/coordinator/parcel"
	"github.com/sluiceflow/sluice/coordinator/query"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

var update = flag.Bool("update", false, "write openapi.json")

// site is a server with an engine, and the token of the requests to it.
type site struct {
	t      *testing.T
	engine *coordinator.Engine
	server *Server
	url    string
	token  string

	close func() // waits until each request has ended
}

const approval = `{kind: Workflow, name: approval,
 operations: {ask: {wait: {message: approved}}, no: {fail: {code: refused}}, say: {value: "by {{ input }}"}},
 steps: [{operation: ask}, {operation: say, input: "{{ steps.ask.output.by }}"}], output: "{{ steps.say.output }}"}`

func newSite(t *testing.T, change func(*Config)) *site {
	return siteOf(t, coordinator.Config{}, change)
}

// siteOf is newSite with an engine of that configuration.
func siteOf(t *testing.T, of coordinator.Config, change func(*Config)) *site {
	engine, err := coordinator.New(t.Context(), memory.New(), of)
	require.NoError(t, err)
	config := Config{
		Version: "1.2.3", Hosts: []string{"127.0.0.1"}, Logger: slog.New(slog.DiscardHandler),
		Authenticate: func(token string) (Identity, bool) {
			role := ParseRole(token)
			return Identity{Name: "the " + token, Role: role}, role != Nobody
		},
	}
	if change != nil {
		change(&config)
	}
	server, err := Handler(engine, config)
	require.NoError(t, err)
	listening := httptest.NewServer(server)
	t.Cleanup(func() {
		require.NoError(t, engine.Shutdown(context.Background()))
		listening.Close()
	})
	checked, err := kinds.Load("approval.yaml", []byte(approval), template.Known{})
	require.NoError(t, err)
	p, err := parcel.Of(t.Context(), engine, checked.Workflow)
	require.NoError(t, err)
	_, _, err = parcel.Publish(t.Context(), engine, p, "test")
	require.NoError(t, err)
	return &site{t, engine, server, listening.URL, "operator", listening.Close}
}

// do makes a request with headers, each a name and a value.
func (s *site) do(method, path, body string, headers ...string) *http.Response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(s.t, err)
	return resp
}

// ok decodes the answer of a request that is carried out.
func ok[T any](s *site, method, path, body string, headers ...string) (v T) {
	s.t.Helper()
	resp := s.do(method, path, body, headers...)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	require.Less(s.t, resp.StatusCode, 300, string(data))
	require.Equal(s.t, "application/json", resp.Header.Get("Content-Type"))
	require.Equal(s.t, "nosniff", resp.Header.Get("X-Content-Type-Options"))
	require.NoError(s.t, json.Unmarshal(data, &v), string(data))
	return v
}

// refused returns the problem of a request that is refused, by its code.
func (s *site) refused(code, method, path, body string, headers ...string) *Problem {
	s.t.Helper()
	resp := s.do(method, path, body, headers...)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	require.Equal(s.t, "application/problem+json", resp.Header.Get("Content-Type"), string(data))
	p := &Problem{}
	require.NoError(s.t, json.Unmarshal(data, p))
	require.Equal(s.t, code, p.Code, string(data))
	require.Equal(s.t, names.Status(code), resp.StatusCode)
	require.Equal(s.t, resp.StatusCode, p.Status)
	require.Equal(s.t, "/problems/"+code, p.Type)
	require.NotEmpty(s.t, p.RequestID)
	require.Equal(s.t, resp.Header.Get(requestHeader), p.RequestID)
	return p
}

func (s *site) start(id string) {
	s.t.Helper()
	ok[api.Run](s, "POST", "/v1/runs", `{"workflow": "approval", "id": "`+id+`"}`)
}

func TestARunIsStartedShownAndChanged(t *testing.T) {
	s := newSite(t, nil)
	resp := s.do("POST", "/v1/runs", `{"workflow": "approval", "id": "a", "input": {"n": 9007199254740993}, "labels": {"team": "<b>"}}`)
	resp.Body.Close()
	require.Equal(t, 201, resp.StatusCode)
	require.Equal(t, "/v1/runs/a", resp.Header.Get("Location"))
	tag := resp.Header.Get("ETag")
	run := ok[api.Run](s, "GET", "/v1/runs/a", "")
	require.Equal(t, "waiting", run.Status)
	require.Equal(t, "the operator", run.Actor)
	require.Equal(t, map[string]string{"team": "<b>"}, run.Labels)
	require.Equal(t, tag, etag(run.Events))

	page := ok[EventPage](s, "GET", "/v1/runs/a/events?limit=1", "")
	require.Equal(t, `{"n":9007199254740993}`, string(page.Items[0].Value))
	var types []string
	for path := "/v1/runs/a/events?limit=1"; ; path = "/v1/runs/a/events?limit=1&cursor=" + page.Next {
		page = ok[EventPage](s, "GET", path, "")
		types = append(types, page.Items[0].Type)
		if page.Next == "" {
			break
		}
	}
	require.Equal(t, []string{"run.started", "call.requested"}, types)
	require.Contains(t, ok[coordinator.Explanation](s, "GET", "/v1/runs/a/explain?step=ask", "").Status, "running")
	require.NotEmpty(t, ok[CallList](s, "GET", "/v1/runs/a/graph", "").Items)

	s.refused(CodeChanged, "POST", "/v1/runs/a/pause", `{}`, "If-Match", `"1"`)
	done := ok[api.Done](s, "POST", "/v1/runs/a/pause", `{"reason": "lunch"}`, "If-Match", tag)
	require.Equal(t, "pause", done.Did)
	require.Equal(t, "paused", ok[api.Run](s, "GET", "/v1/runs/a", "").Status)
	require.Equal(t, "waiting", ok[api.Run](s, "GET", "/v1/runs/a?at=2", "").Status)
	ok[api.Done](s, "POST", "/v1/runs/a/resume", "")
	before := ok[api.Run](s, "GET", "/v1/runs/a", "").Events
	for range 2 {
		ok[api.Done](s, "POST", "/v1/runs/a/messages", `{"name": "later"}`, "Idempotency-Key", "k")
	}
	require.Equal(t, before+1, ok[api.Run](s, "GET", "/v1/runs/a", "").Events)
	ok[api.Done](s, "POST", "/v1/runs/a/messages", `{"name": "approved", "payload": {"by": "ann"}}`)
	run = ok[api.Run](s, "GET", "/v1/runs/a", "", "Prefer", "wait=60")
	require.Equal(t, "completed", run.Status)
	require.Equal(t, "by ann", ok[string](s, "GET", "/v1/runs/a/output", ""))
	require.Equal(t, "by ann", ok[string](s, "GET", "/v1/runs/a/steps/say/output", ""))
	require.Len(t, ok[StepList](s, "GET", "/v1/runs/a/steps", "").Items, 2)
	require.Equal(t, "completed", ok[api.Step](s, "GET", "/v1/runs/a/steps/say", "").Status)
	s.refused("finished", "POST", "/v1/runs/a/cancel", `{"reason": "late"}`)
	s.refused("finished", "POST", "/v1/runs/a/steps/ask/decide", `{"decision": "fulfilled"}`)
	s.refused("finished", "POST", "/v1/runs/a/steps/say/abort", ``)
	s.refused(CodeForbidden, "DELETE", "/v1/runs/a", "")
	s.token = "admin"
	ok[api.Done](s, "DELETE", "/v1/runs/a", "")
	s.refused("deleted", "GET", "/v1/runs/a", "")

	s.start("b")
	s.refused("step_not_found", "POST", "/v1/runs/b/steps/asc/abort", ``)
	s.refused("not_possible", "POST", "/v1/runs/b/patch", `{"changes": {"x": 1}}`)
	s.refused("not_possible", "POST", "/v1/runs/b/steps/ask/decide", `{"decision": "fulfilled"}`)
	s.refused(CodeBadRequest, "POST", "/v1/runs/b/steps/ask/decide", `{"decision": "maybe"}`)
	ok[api.Done](s, "POST", "/v1/runs/b/steps/ask/abort", `{"reason": "no"}`)
	ok[api.Run](s, "GET", "/v1/runs/b", "", "Prefer", "wait=60")
	ok[api.Done](s, "POST", "/v1/runs/b/steps/ask/retry", `{}`)
	ok[api.Done](s, "POST", "/v1/runs/b/cancel", ``)
	require.Equal(t, "aborted", ok[api.Run](s, "GET", "/v1/runs/b", "", "Prefer", "wait=60").Status)
	require.Equal(t, VersionAnswer{Version: "1.2.3"}, ok[VersionAnswer](s, "GET", "/version", ""))
}

func TestAStartWithAKeyIsRepeatedWithoutHarm(t *testing.T) {
	s := newSite(t, nil)
	start := func(body string) api.Run { return ok[api.Run](s, "POST", "/v1/runs", body, "Idempotency-Key", "k 1") }
	first := start(`{"workflow": "approval", "input": 1}`)
	require.Equal(t, first.Run, start(`{"workflow": "approval", "input": 1}`).Run)
	s.refused(CodeKeyUsed, "POST", "/v1/runs", `{"workflow": "approval", "input": 2}`, "Idempotency-Key", "k 1")
	s.token = "admin"
	require.NotEqual(t, first.Run, start(`{"workflow": "approval", "input": 2}`).Run, "keys of another client are others")
	s.refused(CodeBadRequest, "POST", "/v1/runs", `{"workflow": "approval", "id": "x"}`, "Idempotency-Key", "k")
	s.refused(CodeBadRequest, "POST", "/v1/runs", `{"workflow": "approval"}`, "Idempotency-Key", strings.Repeat("k", 257))
}

func TestListsGoOnBehindACursor(t *testing.T) {
	s := newSite(t, nil)
	for i := range 5 {
		s.start(fmt.Sprint("r", i))
	}
	var got []string
	page := ok[RunPage](s, "GET", "/v1/runs?limit=2&q=workflow:approval", "")
	for {
		for _, r := range page.Items {
			got = append(got, r.Run)
		}
		if page.Next == "" {
			break
		}
		s.refused(CodeBadRequest, "GET", "/v1/runs?q=status:failed&cursor="+page.Next, "")
		page = ok[RunPage](s, "GET", "/v1/runs?limit=2&q=workflow:approval&cursor="+page.Next, "")
	}
	require.ElementsMatch(t, []string{"r0", "r1", "r2", "r3", "r4"}, got)
	s.refused(CodeBadRequest, "GET", "/v1/runs?cursor=made-up", "")
	s.refused(CodeBadRequest, "GET", "/v1/runs?q=statsu:failed", "")
	for _, limit := range []string{"0", "-1", "1001", "x", "99999999999999999999"} {
		s.refused(CodeBadRequest, "GET", "/v1/runs?limit="+limit, "")
	}
	s.refused(CodeBadRequest, "GET", "/v1/runs/r0/events?cursor=-1", "")
	s.refused(CodeBadRequest, "GET", "/v1/runs/r0?at=noon", "")
	s.refused("no_moment", "GET", "/v1/runs/r0?at=99", "")
}

func TestBadBodiesAreRefused(t *testing.T) {
	s := newSite(t, nil)
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	for name, body := range map[string]string{
		"no object": `[1]`, "two": `{} {}`, "cut": `{"workflow": "appr`, "duplicate": `{"workflow": "approval", "workflow": "b"}`,
		"unknown": `{"workflow": "approval", "wrokflow": 1}`, "another case": `{"Workflow": "approval"}`, "UTF-8": "{\"workflow\": \"\xff\"}",
		"deep": `{"workflow": "approval", "input": ` + deep + `}`, "type": `{"workflow": 7}`, "none": ``, "empty": `{}`, "NUL": "\x00",
		"schema": `{"$schema": "x", "workflow": "approval"}`,
	} {
		t.Run(name, func(t *testing.T) { s.refused(CodeBadRequest, "POST", "/v1/runs", body) })
	}
	p := s.refused(CodeBadRequest, "POST", "/v1/runs", `{"workflow": "approval", "a/b~": "a secret"}`)
	require.Equal(t, "/a~1b~0", p.Errors[0].Pointer)
	require.NotContains(t, fmt.Sprint(p), "a secret")
	s.refused(CodeBodyTooLarge, "POST", "/v1/runs", `{"workflow": "`+strings.Repeat("x", documentsMax)+`"}`)
	s.refused(CodeBodyTooLarge, "POST", "/v1/decisions/x", `{"reason": "`+strings.Repeat("x", api.RequestMax)+`"}`)
	s.refused(CodeBodyTooLarge, "POST", "/v1/runs/x/pause", `{"reason": "`+strings.Repeat("x", api.RequestMax)+`"}`, "Idempotency-Key", "k")
	s.refused(CodeMediaType, "POST", "/v1/runs", `{"workflow": "approval"}`, "Content-Type", "text/plain")
	s.refused(CodeMediaType, "POST", "/v1/runs", `{"workflow": "approval"}`, "Content-Type", "application/x-www-form-urlencoded")
	s.refused("not_published", "POST", "/v1/runs", `{"workflow": "aproval"}`)
	require.Empty(t, ok[RunPage](s, "GET", "/v1/runs", "").Items, "nothing was started")
}

func TestWhatTheAskerGotWrongIsNoFaultOfTheServer(t *testing.T) {
	s := newSite(t, nil)
	s.start("r0")
	s.token = "admin"
	long, bad, deep := strings.Repeat("x", 2000), `\u0000`, strings.Repeat("[", 4000)+strings.Repeat("]", 4000)
	for name, c := range map[string]struct{ code, path, body string }{
		"id too long":          {CodeBadRequest, "/v1/runs", `{"workflow": "approval", "id": "` + long + `"}`},
		"id of 129 bytes":      {CodeBadRequest, "/v1/runs", `{"workflow": "approval", "id": "` + long[:129] + `"}`},
		"id with a slash":      {CodeBadRequest, "/v1/runs", `{"workflow": "approval", "id": "a/b"}`},
		"id with NUL":          {CodeBadRequest, "/v1/runs", `{"workflow": "approval", "id": "` + bad + `"}`},
		"id of other streams":  {CodeBadRequest, "/v1/runs", `{"workflow": "approval", "id": "blob"}`},
		"id with a #":          {CodeBadRequest, "/v1/runs", `{"workflow": "approval", "id": "#held"}`},
		"label without a name": {CodeBadRequest, "/v1/runs", `{"workflow": "approval", "labels": {"": "x"}}`},
		"label too long":       {"limit", "/v1/runs", `{"workflow": "approval", "labels": {"a": "` + long + `"}}`},
		"name too long":        {"limit", "/v1/runs", `{"workflow": "approval", "labels": {"` + long + `": "a"}}`},
		"workflow too long":    {"not_published", "/v1/runs", `{"workflow": "` + long + `"}`},
		"workflow with NUL":    {"not_published", "/v1/runs", `{"workflow": "` + bad + `"}`},
		"deep input":           {CodeBadRequest, "/v1/runs", `{"workflow": "approval", "input": ` + deep + `}`},
		"deep payload":         {CodeBadRequest, "/v1/runs/r0/messages", `{"name": "approved", "payload": ` + deep + `}`},
		"message without name": {CodeBadRequest, "/v1/runs/r0/messages", `{"name": ""}`},
		"patch of no context":  {"not_possible", "/v1/runs/r0/patch", `{"changes": {"a": 1}}`},
		"patch of no path":     {"not_possible", "/v1/runs/r0/patch", `{"changes": {"": 1}}`},
		"retry of no step":     {"step_not_found", "/v1/runs/r0/steps/" + long + "/retry", `{}`},
		"gone":                 {"run_not_found", "/v1/runs/" + long + "/pause", `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			resp := s.do("POST", c.path, c.body)
			defer resp.Body.Close()
			var p Problem
			require.NoError(t, json.NewDecoder(resp.Body).Decode(&p))
			require.Equal(t, c.code, p.Code, p.Detail)
			require.Less(t, p.Status, 500)
		})
	}
	require.Len(t, ok[RunPage](s, "GET", "/v1/runs", "").Items, 1, "nothing was started")
}

func TestPathsAreWhatTheySay(t *testing.T) {
	s := newSite(t, nil)
	s.start("run-1")
	for _, path := range []string{
		"/elsewhere", "/v1", "/v1/runs/", "/v1/runs/run-1/", "//v1/runs", "/v1/../v1/runs", "/v1/runs/run-1/nothing", "/v1/runs/%2e%2e/runs",
	} {
		s.refused(CodeNoRoute, "GET", path, "")
	}
	for path, status := range map[string]int{"/nonsense": 404, "/runs/a/b": 404, "//runs": 404, "/runs/": 404, "/start": 404, "/runs": 200, "/runs/a": 200} {
		resp := s.do("GET", path, "", "Accept", "text/html,*/*;q=0.8", "If-None-Match", "*")
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, status, resp.StatusCode, path)
		require.Equal(t, "text/html; charset=utf-8", resp.Header.Get("Content-Type"), path)
		require.Contains(t, resp.Header.Get("Content-Security-Policy"), "script-src 'self'")
		require.Contains(t, string(text), `<div id="page">`)
	}
	for _, path := range []string{"/v1", "/v1/", "/v1/nothing", "//v1/nothing"} {
		s.refused(CodeNoRoute, "GET", path, "", "Accept", "text/html")
	}
	for _, path := range []string{"/v1/runs/run", "/v1/runs/..%2frun-1", "/v1/runs/%00", "/v1/runs/def%2fx", "/v1/runs/%23wf%2fapproval"} {
		s.refused("run_not_found", "GET", path, "")
	}
	s.refused("run_not_found", "POST", "/v1/runs/run/cancel", "{}") // no act by a prefix
	s.refused("step_not_found", "GET", "/v1/runs/run-1/steps/..%2f..%2fetc", "")
	s.refused(CodeBadRequest, "GET", "/v1/runs?verbose=1", "")
	s.refused(CodeBadRequest, "GET", "/v1/runs?q=&q=", "")
	resp := s.do("PUT", "/v1/runs/run-1", "")
	resp.Body.Close()
	require.Equal(t, 405, resp.StatusCode)
	require.Equal(t, "GET, DELETE", resp.Header.Get("Allow"))
	s.refused(CodeMethod, "PUT", "/v1/runs/run-1", "")
}

func TestAWorkflowIsDrawn(t *testing.T) {
	s := newSite(t, nil)
	s.start("a")
	path := "/v1/workflows/approval/versions/" + ok[api.Run](s, "GET", "/v1/runs/a", "").Hash + "/layout"
	d := ok[drawing.Drawing](s, "GET", path, "")
	require.Equal(t, []string{"ask", "say"}, d.Keys)
	resp := s.do("GET", path, "", "Accept-Encoding", "gzip")
	defer resp.Body.Close()
	require.Equal(t, "gzip", resp.Header.Get("Content-Encoding"))
	require.Contains(t, resp.Header.Get("Cache-Control"), "immutable")
	z, err := gzip.NewReader(resp.Body)
	require.NoError(t, err)
	var again drawing.Drawing
	require.NoError(t, json.NewDecoder(z).Decode(&again))
	require.Equal(t, d, again)
	s.refused("not_published", "GET", strings.Replace(path, "approval", "other", 1), "")
	s.refused("not_published", "GET", "/v1/workflows/approval/versions/"+strings.Repeat("0", 64)+"/layout", "")
}

func TestRunsAreCounted(t *testing.T) {
	s := newSite(t, nil)
	for _, id := range []string{"a", "b", "c"} {
		s.start(id)
	}
	ok[api.Done](s, "POST", "/v1/runs/c/cancel", `{}`)
	counts := ok[query.Counts](s, "GET", "/v1/counts", "")
	require.Equal(t, query.Tally{Count: 2}, counts.Status["waiting"])
	require.Equal(t, query.Tally{Count: 1}, counts.Status["aborted"])
	require.Equal(t, query.Tally{Count: 2}, counts.Waits["message"])
	require.Equal(t, query.Tally{}, ok[query.Counts](s, "GET", "/v1/counts?q=workflow:other", "").Status["waiting"])
	s.refused(CodeBadRequest, "GET", "/v1/counts?q=staus:x", "")
	require.Equal(t, Me{"the operator", "operator", false}, ok[Me](s, "GET", "/v1/me", ""))
}

// guesses makes a thousand requests without a valid token, and then leaves no room for another, however long they took.
func (s *site) guesses(one func(i int) *http.Response) {
	s.t.Helper()
	began, answers := time.Now(), map[int]int{}
	for i := range 1000 {
		resp := one(i)
		resp.Body.Close()
		answers[resp.StatusCode]++
	}
	require.Equal(s.t, 1000, answers[http.StatusUnauthorized]+answers[http.StatusTooManyRequests], answers)
	heard := rateOfWrong * (int(time.Since(began)/time.Second) + 11) // those of ten seconds at once, and of the time since
	require.LessOrEqual(s.t, answers[http.StatusUnauthorized], heard)
	for s.server.wrong.Take("127.0.0.1", time.Now().Add(time.Hour)) {
	}
}

func TestOnlyThoseWhoMayAreServed(t *testing.T) {
	s := newSite(t, nil)
	s.start("a")
	s.guesses(func(i int) *http.Response {
		s.token = fmt.Sprint("guess-", i)
		return s.do("GET", "/v1/runs", "")
	})
	s.refused(CodeRate, "GET", "/v1/runs", "")
	s.server.wrong = rates.New(rateOfWrong)
	s.refused(CodeUnauthorized, "GET", "/v1/runs", "", "Authorization", "Basic dmlld2VyOg==")
	s.refused(CodeUnauthorized, "GET", "/v1/runs", "", "Authorization", "viewer")
	s.refused(CodeUnauthorized, "GET", "/openapi.json", "")
	require.Equal(t, HealthAnswer{Status: "ok"}, ok[HealthAnswer](s, "GET", "/livez", "", "Host", "anything"))
	require.Equal(t, HealthAnswer{Status: "ok"}, ok[HealthAnswer](s, "GET", "/readyz", "", "Host", "anything"))
	for i := range routes { // a viewer reads, and changes nothing
		if r := &routes[i]; r.Role > Viewer {
			s.token = "viewer"
			s.refused(CodeForbidden, r.Method, filled(r.Path), "{}")
		}
	}
	s.token = "operator"
	s.refused(CodeHost, "GET", "/v1/runs", "", "Host", "rebound.example")
	s.refused(CodeCrossOrigin, "POST", "/v1/runs/a/cancel", "{}", "Sec-Fetch-Site", "cross-site")
	s.refused(CodeCrossOrigin, "POST", "/v1/runs/a/cancel", "{}", "Origin", "http://evil.example")
	require.Equal(t, "waiting", ok[api.Run](s, "GET", "/v1/runs/a", "").Status)
	_, err := Handler(s.engine, Config{})
	require.Error(t, err)
}

// filled returns the path of a route about the run a.
func filled(path string) string {
	return strings.NewReplacer("{run}", "a", "{key}", "ask", "{name}", "approval", "{id}", "1", "{cell}", "c", "{hash}", "h").Replace(path)
}

// line is a frame of a feed in lines of JSON.
type line struct {
	Event, ID string
	Data      json.RawMessage
}

func lines(t *testing.T, from io.Reader) (list []line) {
	for s := bufio.NewScanner(from); s.Scan(); {
		var l line
		require.NoError(t, json.Unmarshal(s.Bytes(), &l), s.Text())
		list = append(list, l)
	}
	return list
}

func TestARunIsFollowedToItsEnd(t *testing.T) {
	s := newSite(t, nil)
	s.start("a")
	resp := s.do("GET", "/v1/runs/a/feed", "", "Accept", "text/event-stream")
	defer resp.Body.Close()
	require.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
	require.Equal(t, "no-store", resp.Header.Get("Cache-Control"))
	scanner := bufio.NewScanner(resp.Body)
	next := func(prefix string) string {
		for scanner.Scan() {
			if text, ok := strings.CutPrefix(scanner.Text(), prefix); ok {
				return text
			}
		}
		require.Fail(t, "the stream has ended before "+prefix)
		return ""
	}
	next("event: snapshot")
	require.Equal(t, "2", next("id: "))
	ok[api.Done](s, "POST", "/v1/runs/a/messages", `{"name": "approved", "payload": {"by": "<script>"}}`)
	next("event: end")

	read := func(path string, headers ...string) []line {
		resp := s.do("GET", path, "", headers...)
		defer resp.Body.Close()
		require.Equal(t, 200, resp.StatusCode)
		return lines(t, resp.Body)
	}
	all := read("/v1/runs/a/feed?view=events&after=0")
	run := ok[api.Run](s, "GET", "/v1/runs/a", "")
	var u feed.Update
	require.NoError(t, json.Unmarshal(all[0].Data, &u))
	require.Len(t, u.Events, int(run.Events))
	require.Equal(t, []string{"update", "end"}, []string{all[0].Event, all[1].Event})
	rest := read("/v1/runs/a/feed?view=events", "Last-Event-ID", "3")
	require.NoError(t, json.Unmarshal(rest[0].Data, &u))
	require.Equal(t, uint64(4), u.From)
	for _, id := range []string{"-1", "1.5", "x", "99", "99999999999999999999999"} {
		s.refused(CodeBadRequest, "GET", "/v1/runs/a/feed", "", "Last-Event-ID", id)
	}
	s.refused(CodeBadRequest, "GET", "/v1/runs/a/feed?view=all", "")
	s.refused(CodeBadRequest, "GET", "/v1/feed?q=nothing:1", "")
	s.refused("run_not_found", "GET", "/v1/runs/b/feed", "")
	s.close()
	require.Zero(t, s.server.streams.Count())
}

func TestAllRunsAreFollowed(t *testing.T) {
	s := newSite(t, nil)
	resp := s.do("GET", "/v1/feed?q=workflow:approval", "")
	defer resp.Body.Close()
	decoder := json.NewDecoder(resp.Body)
	var l line
	require.NoError(t, decoder.Decode(&l))
	require.Equal(t, feed.KindReady, l.Event)
	s.start("a")
	require.NoError(t, decoder.Decode(&l))
	var c feed.Changed
	require.NoError(t, json.Unmarshal(l.Data, &c))
	require.Equal(t, "a", c.Runs[0].Run)
	require.Equal(t, "approval", c.Runs[0].Head.Workflow)
	s.server.Close() // ends them
	_, err := io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	s.refused("shutdown", "GET", "/readyz", "")
}

func TestMetricsPassALinterAndNameNoRun(t *testing.T) {
	s := newSite(t, nil)
	s.start("a-secret-run")
	s.refused("run_not_found", "GET", "/v1/runs/none", "")
	resp := s.do("GET", "/metrics", "")
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	require.NoError(t, err)
	require.Empty(t, problems)
	require.NotContains(t, string(text), "a-secret-run")
	require.NotContains(t, string(text), "operator")
	for _, line := range []string{`sluice_open_runs{status="waiting"} 1`, `sluice_http_refusals_total{code="run_not_found"} 1`, "sluice_feed_observers 0",
		`sluice_events_total{type="call.requested"} 1`, "sluice_append_duration_seconds_count 1"} {
		require.Contains(t, string(text), line)
	}
}

func TestStreamsAreBounded(t *testing.T) {
	s := newSite(t, func(c *Config) { c.Streams, c.StreamsOfAClient = 20, 16 })
	s.start("a")
	open := func(n int) {
		for range n {
			resp := s.do("GET", "/v1/runs/a/feed", "")
			require.Equal(t, 200, resp.StatusCode)
			t.Cleanup(func() { resp.Body.Close() })
		}
	}
	open(16)
	for range 100 {
		s.refused(CodeStreams, "GET", "/v1/runs/a/feed", "")
	}
	s.token = "viewer"
	open(4)
	s.refused(CodeStreams, "GET", "/v1/runs/a/feed", "")
	resp := s.do("GET", "/v1/feed", "")
	resp.Body.Close()
	require.Equal(t, "1", resp.Header.Get("Retry-After"))
}

func TestOpenAPIIsWhatTheRoutesAre(t *testing.T) {
	const name = "openapi.json"
	made, err := OpenAPI()
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(name, made, 0o644))
	}
	kept, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, string(kept), string(made), "write it anew: go test ./coordinator/httpapi -run OpenAPI -update")
	s := newSite(t, nil)
	doc := ok[struct {
		Paths      map[string]map[string]any
		Components struct{ Schemas map[string]any }
	}](s, "GET", "/openapi.json", "")
	n := 0
	for _, methods := range doc.Paths {
		n += len(methods)
	}
	require.Equal(t, len(routes), n)
	for _, ref := range strings.Split(string(made), `"#/components/schemas/`)[1:] {
		name, _, _ := strings.Cut(ref, `"`)
		require.Contains(t, doc.Components.Schemas, name)
	}
}

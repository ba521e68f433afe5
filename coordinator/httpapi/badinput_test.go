package httpapi

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/feed"
)

// answered is the answer to a request that reaches the server without a connection.
func (s *site) answered(method, path string, body io.Reader, headers ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequestWithContext(s.t.Context(), method, "http://127.0.0.1"+path, body)
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	answer := httptest.NewRecorder()
	s.server.ServeHTTP(answer, req)
	return answer
}

// endless is a body without an end, and counts the bytes that were read of it.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.read += int64(len(p))
	return len(p), nil
}

// No route reads more of a body than it may have. The one for files of runs has a larger bound.
func TestEveryBodyIsBounded(t *testing.T) {
	s := newSite(t, nil)
	s.start("a")
	s.token = "admin"
	for i := range routes {
		r := &routes[i]
		if r.Body == nil || strings.HasPrefix(r.Path, "/v1/decisions") { // which looks for the decision first, and has a test
			continue
		}
		body := &endless{}
		answer := s.answered(r.Method, filled(r.Path), io.MultiReader(strings.NewReader(`{"x": "`), body), "Idempotency-Key", "k")
		require.Equal(t, http.StatusRequestEntityTooLarge, answer.Code, "%s: %s", r.Path, answer.Body)
		most := max(api.RequestMax, r.Most)
		if r.Large {
			most = max(documentsMax, most)
		}
		require.LessOrEqual(t, body.read, 2*most, r.Path)
	}
}

// bodyKeys returns the keys of the body of a route, as openapi.json has them.
func bodyKeys(t *testing.T, r *Route) []string {
	data, err := OpenAPI()
	require.NoError(t, err)
	var doc struct {
		Paths map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct {
					Schema struct {
						Ref string `json:"$ref"`
					}
				}
			}
		}
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	require.NoError(t, json.Unmarshal(data, &doc))
	ref := doc.Paths[r.Path][strings.ToLower(r.Method)].RequestBody.Content["application/json"].Schema.Ref
	return slices.Sorted(maps.Keys(doc.Components.Schemas[ref[strings.LastIndexByte(ref, '/')+1:]].Properties))
}

// The server answers a body with any value of any key, and does not fail.
func TestNoBodyIsAFaultOfTheServer(t *testing.T) {
	s := newSite(t, nil)
	s.start("a")
	s.token = "admin"
	values := []string{
		`null`, `true`, `7`, `-1`, `1.5`, `1e400`, `9007199254740993`, `99999999999999999999`, `"x"`, `""`, `"\u0000"`, `"\u202e<b>"`, `[]`, `[null]`, `[{}]`, `{}`, `{"x": null}`,
		`"` + strings.Repeat("y", 2000) + `"`, strings.Repeat("[", 70) + strings.Repeat("]", 70),
	}
	asked := 0
	for i := range routes {
		r := &routes[i]
		if r.Body == nil {
			continue
		}
		path := filled(r.Path)
		if slices.ContainsFunc(r.Query, func(p Param) bool { return p.Name == "dry" }) {
			path += "?dry=true"
		}
		for _, key := range bodyKeys(t, r) {
			for _, v := range values {
				answer := s.answered(r.Method, path, strings.NewReader(`{"`+key+`": `+v+`}`))
				if asked++; answer.Code >= 500 {
					t.Errorf("%s %s: %.80s: %s", path, key, v, answer.Body)
				}
			}
		}
	}
	require.Greater(t, asked, 500)
}

// Keys that a body does not have are refused wherever they are, so that none is ignored.
func TestUnknownKeysAreRefusedAtAnyDepth(t *testing.T) {
	s := newSite(t, nil)
	s.token = "admin"
	for body, pointer := range map[string]string{
		`{"worker": "w", "results": [{"lease": "a", "output": 1}, {"lease": "a", "otuput": 1}]}`:  "/results/1/otuput",
		`{"worker": "w", "results": [{"lease": "a", "Output": 1}]}`:                               "/results/0/Output",
		`{"worker": "w", "results": [{"lease": "a", "error": {"code": "x", "retriable": true}}]}`: "/results/0/error/retriable",
		`{"worker": "w", "reports": [{"lease": "a", "kind": "k", "a/b~c": {"payload": 1}}]}`:      "/reports/0/a~1b~0c",
		`{"worker": "w", "log": [{"lease": "a", "text": "t", "level": "warn"}]}`:                  "/log/0/level",
	} {
		p := s.refused(CodeBadRequest, "POST", "/v1/worker/give", body)
		require.Equal(t, pointer, p.Errors[0].Pointer)
		require.Contains(t, p.Detail, "the keys are ")
		s.refused(CodeBadRequest, "POST", "/v1/worker/give", strings.Replace(body, `"worker": "w"`, `"worker": 7`, 1))
	}
	// A field of any JSON has any keys.
	s.refused("no_workers", "POST", "/v1/worker/give", `{"worker": "w", "results": [{"lease": "a", "output": {"x": [{"y": 1}]}, "about": {"z": {}}}]}`)
	ok[api.Run](s, "POST", "/v1/runs", `{"workflow": "approval", "input": {"Workflow": {"id": 1}}, "labels": {"ID": "x"}}`)
}

// A cursor or a place of one list means nothing to another.
func TestPlacesOfOtherListsAreRefused(t *testing.T) {
	s := newSite(t, nil)
	for i := range 3 {
		s.start(fmt.Sprint("r", i))
	}
	ofRuns := ok[RunPage](s, "GET", "/v1/runs?limit=1", "").Next
	ofEvents := ok[EventPage](s, "GET", "/v1/runs/r0/events?limit=1", "").Next
	require.NotEmpty(t, ofRuns+ofEvents)
	for _, path := range []string{
		"/v1/runs/r0/events", "/v1/runs/r0/history", "/v1/runs/r0/views", "/v1/workflows", "/v1/workflows?begins=a", "/v1/workflows/approval/versions",
		"/v1/decisions", "/v1/runs?q=status:failed",
	} {
		at := path + "?cursor="
		if strings.Contains(path, "?") {
			at = path + "&cursor="
		}
		for _, cursor := range []string{"made-up", "-1", "%00", "9999", "99999999999999999999", ofRuns} {
			s.refused(CodeBadRequest, "GET", at+cursor, "")
		}
	}
	s.refused(CodeBadRequest, "GET", "/v1/runs?cursor="+ofEvents, "")
	s.token = "author"
	ok[api.Done](s, "POST", "/v1/workflows", sent(strings.Replace(approval, "name: approval", "name: assent", 1)))
	ofNames := ok[WorkflowPage](s, "GET", "/v1/workflows?begins=a&limit=1", "").Next
	require.Equal(t, "assent", ok[WorkflowPage](s, "GET", "/v1/workflows?begins=a&limit=5&cursor="+ofNames, "").Items[0].Name)
	for _, path := range []string{"/v1/workflows?", "/v1/workflows?begins=as&", "/v1/workflows/approval/versions?"} {
		s.refused(CodeBadRequest, "GET", path+"cursor="+ofNames, "")
	}
}

// A feed that is resumed behind an id that is not its own refuses it, or begins anew; it never goes on from elsewhere.
func TestFeedsResumeBehindTheirOwnIDsOnly(t *testing.T) {
	s := newSite(t, nil)
	for i := range 3 {
		s.start(fmt.Sprint("r", i))
	}
	first := func(path, place string) line {
		resp := s.do("GET", path, "", "Last-Event-ID", place)
		defer resp.Body.Close()
		var l line
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&l))
		return l
	}
	id := func(path string) string {
		l := first(path, "")
		require.NotEmpty(t, l.ID)
		return l.ID
	}
	const ofRun, ofAll, ofOne, ofTwo, ofBoth = "/v1/runs/r0/feed", "/v1/feed", "/v1/feed?run=r0", "/v1/feed?run=r0&run=r1", "/v1/feed?run=r0&q="
	several := []string{ofAll, ofOne, ofTwo, ofBoth, "/v1/feed?run=r1", "/v1/feed?run=r1&run=r0", "/v1/feed?q=status:waiting&run=r1", "/v1/feed?q=status:waiting", "/v1/feed?q=status:failed"}
	for _, path := range append(several, ofRun, ofRun+"?view=events") {
		own := id(path)
		bad := []string{"-1", "no number", "1.5", "0x1", "99999999999999999999", "f", "f-", "f-1", "x" + own, "٣"}
		if strings.HasPrefix(path, ofRun) {
			bad = append(bad, own+".1", own+"x", "3000000")
		} else {
			bad = append(bad, id(ofRun))
		}
		for _, other := range several {
			if other != path {
				bad = append(bad, id(other))
			}
		}
		for _, one := range bad {
			s.refused(CodeBadRequest, "GET", path, "", "Last-Event-ID", one)
			s.refused(CodeBadRequest, "GET", with(path, "after="+url.QueryEscape(one)), "")
		}
	}
	s.refused(CodeBadRequest, "GET", ofRun+"?until=x", "")
	begin := func(path string) string { return id(path)[:strings.Index(id(path), "-")+1] }
	for path, beyond := range map[string]string{ofOne: "3000000", ofTwo: "3.3000000"} { // the other run goes on
		resp := s.do("GET", path, "", "Last-Event-ID", begin(path)+beyond)
		text := make([]byte, 512)
		n, _ := resp.Body.Read(text)
		resp.Body.Close()
		require.Contains(t, string(text[:n]), CodeBadRequest, path)
	}
	for _, unknown := range []string{"3000000", "-1", "x"} { // as after the folder was restored from a backup: observers go on
		require.Equal(t, feed.KindReset, first(ofAll, begin(ofAll)+unknown).Event)
	}
}

// with returns a path with one more parameter.
func with(path, parameter string) string {
	if strings.Contains(path, "?") {
		return path + "&" + parameter
	}
	return path + "?" + parameter
}

// A text that people write stays data in every output: in JSON, in the frames of a feed, in metrics, and in the log.
func TestMarkupAndLongLinesStayData(t *testing.T) {
	var logged notes
	s := newSite(t, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&logged, nil)) })
	s.token = "admin"
	evil := "<script>alert(1)</script>\u202e\n\nevent: end\ndata: {}\n\n" + strings.Repeat("long", 200<<10)
	const w = `{kind: Workflow, name: w, operations: {ask: {wait: {message: go}}, no: {fail: {code: "<b>", message: "{{ input }}"}}},
 steps: [{operation: ask}, {operation: "no", input: "{{ steps.ask.output }}"}]}`
	short := evil[:25] // a label is visible
	ok[api.Run](s, "POST", "/v1/runs", `{"id": "a", "labels": {"<i>": `+quoted(short)+`}, "document": `+quoted(w)+`}`)
	ok[api.Done](s, "POST", "/v1/runs/a/messages", `{"name": "go", "payload": `+quoted(evil)+`}`, "Idempotency-Key", "<k>")
	run := ok[api.Run](s, "GET", "/v1/runs/a", "", "Prefer", "wait=60")
	require.Equal(t, short, run.Labels["<i>"])
	require.Equal(t, evil, ok[string](s, "GET", "/v1/runs/a/steps/ask/output", ""))
	require.Less(t, len(s.answered("GET", "/v1/runs", nil).Body.String()), 16<<10, "a list has no long texts")

	frames := s.answered("GET", "/v1/runs/a/feed?view=events&after=0", nil, "Accept", "text/event-stream").Body.String()
	ends := 0
	for text := range strings.Lines(frames) {
		name, _, found := strings.Cut(strings.TrimSuffix(text, "\n"), ":")
		require.True(t, found || text == "\n", "%.80q", text)
		require.Contains(t, []string{"", "retry", "event", "id", "data", "\n"}, name)
		if strings.HasPrefix(text, "event: end") {
			ends++
		}
	}
	require.Equal(t, 1, ends)
	kinds := ""
	for d := json.NewDecoder(s.answered("GET", "/v1/runs/a/feed?view=events&after=0", nil).Body); d.More(); {
		var l line
		require.NoError(t, d.Decode(&l))
		kinds += l.Event + " "
	}
	require.Regexp(t, "^(update )+end $", kinds)
	s.refused("run_not_found", "POST", "/v1/runs/%0aevent:%20end%3Cb%3E/cancel", "{}")
	for text := range strings.Lines(logged.String()) {
		require.True(t, strings.HasPrefix(text, "time="), "%.80q", text)
	}
	require.NotContains(t, s.answered("GET", "/metrics", nil).Body.String(), "<")
}

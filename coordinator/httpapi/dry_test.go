package httpapi

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/httpapi/audit"
	"github.com/sluiceflow/sluice/coordinator/httpapi/names"
)

// acts are the routes that change something, with bodies that some run accepts.
var acts = map[string]string{
	"DELETE /v1/runs/{run}":                   "",
	"POST /v1/runs/{run}/rerun":               `{"from": "ask", "id": "again"}`,
	"POST /v1/runs/{run}/move":                `{"document": ` + quoted(strings.Replace(approval, "name: approval", `name: approval, version: "2"`, 1)) + `}`,
	"POST /v1/runs/{run}/cancel":              `{"reason": "storm"}`,
	"POST /v1/runs/{run}/pause":               `{}`,
	"POST /v1/runs/{run}/resume":              `{}`,
	"POST /v1/runs/{run}/messages":            `{"name": "approved", "payload": {"by": "ann"}}`,
	"POST /v1/runs/{run}/patch":               `{"changes": {"x": 1}}`,
	"POST /v1/runs/{run}/steps/{key}/retry":   `{}`,
	"POST /v1/runs/{run}/steps/{key}/abort":   `{}`,
	"POST /v1/runs/{run}/steps/{key}/decide":  `{"decision": "fulfilled"}`,
	"POST /v1/runs/{run}/cells/{cell}/pause":  `{}`,
	"POST /v1/runs/{run}/cells/{cell}/resume": `{}`,
	"POST /v1/runs/{run}/snapshot":            `{}`,
	"POST /v1/runs/{run}/sweep":               `{}`,
	"POST /v1/workflows":                      `{"document": "{kind: Workflow, name: other, operations: {o: {value: 1}}, steps: [{operation: o}]}"}`,
	"POST /v1/decisions/{id}":                 `{"decision": "fulfilled"}`,
	"POST /v1/bulk":                           `{"act": "cancel", "q": "workflow:approval", "expect": 1}`,
	"DELETE /v1/bulk/{id}":                    "",
	"POST /v1/keep":                           `{"keep": "30d", "q": "status:failed"}`,
	"POST /v1/gc":                             `{}`,
}

// unseen are those that have no preview: the run or job that they begin is new, or a copy.
var unseen = []string{"POST /v1/runs", "POST /v1/import", "POST /v1/backup", "POST /v1/doctor"}

const alarm = `{kind: World, name: alarm, types: {Set: {record: {id: text}}},
 machines: {clock: {key: text, state: {record: {n: int}}, event: [Set], emits: [], lifecycle: entity, rules: [{event: Set, set: {n: 1}}]}},
 routing: {subscriptions: [{event: Set, machine: clock, key_field: id}]}}`

// actStates begin the run a in states in which acts differ.
var actStates = map[string]func(*site){
	"waiting": func(s *site) { s.start("a") },
	"paused":  func(s *site) { s.start("a"); ok[api.Done](s, "POST", "/v1/runs/a/pause", "{}") },
	"ended":   func(s *site) { s.start("a"); ok[api.Done](s, "POST", "/v1/runs/a/cancel", "{}") },
	"failed": func(s *site) {
		ok[api.Run](s, "POST", "/v1/runs", `{"id": "a", "document": "{kind: Workflow, name: w, operations: {no: {fail: {code: no}}}, steps: [{id: ask, operation: \"no\"}]}"}`, "Prefer", "wait=10")
	},
	"undecided": func(s *site) {
		ok[api.Run](s, "POST", "/v1/runs", `{"id": "a", "document": "{kind: Workflow, name: w, operations: {one: {value: 1}}, steps: [{id: ask, operation: one, fulfillment: {policy: requester_confirmation}}]}"}`)
	},
	"world": func(s *site) {
		ok[api.Run](s, "POST", "/v1/runs", `{"id": "a", "document": `+quoted(alarm)+`}`)
		ok[api.Done](s, "POST", "/v1/runs/a/messages", `{"name": "Set", "payload": {"id": "a"}}`)
	},
	"held cell": func(s *site) {
		ok[api.Run](s, "POST", "/v1/runs", `{"id": "a", "document": `+quoted(alarm)+`}`)
		ok[api.Done](s, "POST", "/v1/runs/a/messages", `{"name": "Set", "payload": {"id": "a"}}`)
		ok[api.Done](s, "POST", "/v1/runs/a/cells/clock%5Ba%5D/pause", "{}")
	},
	"nothing": func(*site) {},
}

// pathOf returns a path of a route, about the run that the states have begun.
func pathOf(route string) string {
	if strings.Contains(route, "decisions") {
		return "/v1/decisions/" + names.Decision{Run: "a", Step: "ask", Attempt: 1}.String()
	}
	return strings.NewReplacer("{key}", "ask", "{cell}", "clock%5Ba%5D", "{run}", "a", "{id}", "1").Replace(route)
}

// statuses returns the statuses that openapi.json describes of each route.
func statuses(t *testing.T) map[string][]string {
	var doc struct {
		Paths map[string]map[string]struct{ Responses map[string]any }
	}
	text, err := OpenAPI()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &doc))
	described := map[string][]string{}
	for path, methods := range doc.Paths {
		for method, m := range methods {
			described[strings.ToUpper(method)+" "+path] = slices.Collect(maps.Keys(m.Responses))
		}
	}
	return described
}

// TestEachActHasAPreview: it changes nothing, it is refused as the act is, and its status is described.
func TestEachActHasAPreview(t *testing.T) {
	described := statuses(t)
	for i := range routes {
		r := &routes[i]
		act := r.Method + " " + r.Path
		if r.Method == http.MethodGet || r.Role < Operator || r.Role == Worker || act == "POST /v1/diff" || act == "POST /v1/check" {
			continue // it changes nothing, or no run
		}
		if slices.Contains(unseen, act) {
			continue
		}
		body, known := acts[act]
		require.True(t, known, "%s has a preview, or a reason why not", act)
		accepted := false
		for state, begin := range actStates {
			s := newSite(t, nil)
			s.token = "admin"
			begin(s)
			path := pathOf(r.Path)
			before := s.everything()
			code, detail, status := s.outcome(r.Method, path+"?dry=true", body)
			require.Equal(t, before, s.everything(), "the preview of %s changes nothing, %s", act, state)
			is, why, was := s.outcome(r.Method, path, body)
			require.Equal(t, is+" "+why, code+" "+detail, "%s, %s", act, state)
			require.Equal(t, is != "", status >= 400 && was >= 400, act)
			accepted = accepted || is == ""
			for _, got := range []int{status, was} {
				require.True(t, got >= 400 || slices.Contains(described[act], strconv.Itoa(got)), "%s answers %d, which openapi.json does not have", act, got)
			}
		}
		require.True(t, accepted || act == "POST /v1/runs/{run}/patch" || act == "DELETE /v1/bulk/{id}", "some run accepts %s", act)
	}
}

// TestAPartOfAnOutputIsDescribed: its status is not that of the whole.
func TestAPartOfAnOutputIsDescribed(t *testing.T) {
	s := newSite(t, nil)
	s.token = "admin"
	ok[api.Run](s, "POST", "/v1/runs", `{"id": "a", "document": "{kind: Workflow, name: w, operations: {one: {value: text}}, steps: [{id: ask, operation: one}], output: \"{{ steps.ask.output }}\"}"}`, "Prefer", "wait=10")
	for _, route := range []string{"GET /v1/runs/{run}/output", "GET /v1/runs/{run}/steps/{key}/output"} {
		resp := s.do("GET", strings.TrimPrefix(pathOf(route), "GET "), "", "Range", "bytes=1-2")
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusPartialContent, resp.StatusCode)
		require.Contains(t, statuses(t)[route], "206")
	}
}

// TestAPreviewOfARerunIsRefusedAsTheRerun is, also because of the id and the labels of the run that it would start.
func TestAPreviewOfARerunIsRefusedAsTheRerun(t *testing.T) {
	s := newSite(t, nil)
	s.start("a")
	s.start("taken")
	ok[api.Done](s, "POST", "/v1/runs/a/cancel", "{}")
	for body, wanted := range map[string]string{
		`{"from": "ask", "id": "taken"}`:                   "run_exists",
		`{"from": "ask", "id": "x/y"}`:                     "bad_request",
		`{"from": "ask", "labels": {"": "x"}}`:             "",
		`{"from": "nowhere", "id": "b"}`:                   "step_not_found",
		`{"from": "ask", "id": "b", "labels": {"k": "v"}}`: "",
	} {
		code, detail, _ := s.outcome("POST", "/v1/runs/a/rerun?dry=true", body)
		is, why, _ := s.outcome("POST", "/v1/runs/a/rerun", body)
		require.Equal(t, is+" "+why, code+" "+detail, body)
		if wanted != "" {
			require.Equal(t, wanted, is, body)
		}
	}
	body := `{"from": "ask", "id": "b", "labels": {"k": "v"}}`
	code, _, _ := s.outcome("POST", "/v1/runs/a/rerun?dry=true", body)
	require.Empty(t, code, "the run is there, and the same")
}

// outcome returns the code and the detail of a refusal, "" if there is none, and the status.
func (s *site) outcome(method, path, body string) (code, detail string, status int) {
	resp := s.do(method, path, body)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	var p Problem
	if resp.StatusCode >= 400 {
		require.NoError(s.t, json.Unmarshal(data, &p), string(data))
	}
	return p.Code, p.Detail, resp.StatusCode
}

// everything returns the runs, published workflows, acts and rules of the journal, in short.
func (s *site) everything() (list []string) {
	ctx := s.t.Context()
	for h, err := range s.engine.Runs(ctx, "") {
		require.NoError(s.t, err)
		list = append(list, fmt.Sprint(h.Run, h.Last, h.Status))
	}
	rules, err := s.engine.Rules(ctx)
	require.NoError(s.t, err)
	for name, err := range s.engine.Published(ctx, "") {
		require.NoError(s.t, err)
		list = append(list, name)
	}
	for act, err := range s.engine.BulkActs(ctx) {
		require.NoError(s.t, err)
		list = append(list, fmt.Sprint(act.ID))
	}
	return append(list, fmt.Sprint(rules))
}

// TestAPreviewSaysWhatWouldBeJournaled, as data.
func TestAPreviewSaysWhatWouldBeJournaled(t *testing.T) {
	s := newSite(t, nil)
	s.start("a")
	done := ok[api.Done](s, "POST", "/v1/runs/a/cancel?dry=true", `{"reason": "storm"}`)
	require.True(t, done.Dry)
	require.Equal(t, "cancel", done.Did)
	require.Len(t, done.Would, 2)
	require.Equal(t, "run.cancelled", done.Would[0].Type)
	require.Equal(t, "storm", done.Would[0].Reason)
	require.Equal(t, "run.finished", done.Would[1].Type)
	require.Equal(t, "waiting", ok[api.Run](s, "GET", "/v1/runs/a", "").Status)
	s.token = "admin"
	kept := ok[api.Done](s, "POST", "/v1/keep?dry=true", `{"keep": "30d"}`)
	require.Equal(t, "retention.set", kept.Would[0].Type)
	ok[api.Done](s, "POST", "/v1/runs/a/cancel", "{}")
	require.Equal(t, []string{"a"}, ok[api.Done](s, "DELETE", "/v1/runs/a?dry=true", "").Deletes)
	_, err := s.engine.Run(t.Context(), "a")
	require.NoError(t, err)
	require.ErrorIs(t, api.Handle(t.Context(), s.engine, &api.Request{Verb: api.Begin, Name: "approval", Actor: "ann", Dry: true}, func(*api.Reply) error { return nil }), api.ErrBadRequest,
		"a verb without a preview does not act in its place")
}

// answerOf returns the status and the body of an answer to a request with a key; times are left out.
func (s *site) answerOf(method, path, body, key string) string {
	resp := s.do(method, path, body, "Idempotency-Key", key)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	if resp.StatusCode >= 400 {
		var p Problem
		require.NoError(s.t, json.Unmarshal(data, &p), string(data))
		return fmt.Sprint(resp.StatusCode, p.Code, p.Detail)
	}
	return fmt.Sprint(resp.StatusCode, string(data))
}

// TestAPreviewWithAKeySaysWhatTheActWithItWould: it does not take the key, and returns the answer of an act that has taken it.
func TestAPreviewWithAKeySaysWhatTheActWithItWould(t *testing.T) {
	for act, body := range acts {
		method, route, _ := strings.Cut(act, " ")
		accepted := false
		for state, begin := range actStates {
			s := newSite(t, nil)
			s.token = "admin"
			begin(s)
			path := pathOf(route)
			other := body + " "           // as bytes
			before := len(s.everything()) // runs go on meanwhile
			s.answerOf(method, path+"?dry=true", other, "k")
			preview := s.answerOf(method, path+"?dry=true", body, "k")
			require.Len(t, s.everything(), before, "%s, %s", act, state)
			did := s.answerOf(method, path, body, "k")
			require.NotContains(t, did, CodeKeyUsed, "no preview has taken the key of %s, %s", act, state)
			after := len(s.everything())
			if strings.HasPrefix(did, "2") {
				accepted = true
				require.Equal(t, did, s.answerOf(method, path+"?dry=true", body, "k"), "%s, %s", act, state)
				require.Contains(t, s.answerOf(method, path+"?dry=true", other, "k"), "409"+CodeKeyUsed, "%s, %s", act, state)
				require.Equal(t, did, s.answerOf(method, path, body, "k"), "%s, %s", act, state)
			} else {
				require.Equal(t, did, preview, "what is refused takes no key: %s, %s", act, state)
			}
			require.Len(t, s.everything(), after, "%s, %s", act, state)
		}
		require.True(t, accepted || act == "POST /v1/runs/{run}/patch" || act == "DELETE /v1/bulk/{id}", "some run accepts %s", act)
	}
}

// TestEachActTakesAKey, except the import of a file of runs, which is not read twice.
func TestEachActTakesAKey(t *testing.T) {
	for i := range routes {
		r := &routes[i]
		act := audit.KindOf(r.Method, r.Path, r.Role > Viewer, http.StatusOK) == audit.Act
		require.Equal(t, act && r.Path != "/v1/import", r.Once, "%s %s", r.Method, r.Path)
		require.Equal(t, r.Once, slices.Contains(r.Headers, idemKey), "%s %s", r.Method, r.Path)
		if r.Once {
			require.Subset(t, []Param{dryParam}, r.Query, "an answer is kept of a path: %s", r.Path)
		}
	}
}

package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/client"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/catalog"
	"github.com/sluiceflow/sluice/coordinator/httpapi"
	"github.com/sluiceflow/sluice/coordinator/httpapi/audit"
	"github.com/sluiceflow/sluice/coordinator/httpapi/columns"
	"github.com/sluiceflow/sluice/coordinator/httpapi/jobs"
	"github.com/sluiceflow/sluice/coordinator/parcel"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// site is an engine, used directly and by HTTP.
type site struct {
	engine *coordinator.Engine
	server *httpapi.Server
	remote *client.Client
	url    string

	mu     sync.Mutex
	called map[string]bool // routes
}

func newSite(t *testing.T) *site {
	engine, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{})
	require.NoError(t, err)
	log, err := audit.Open(t.TempDir(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, log.Close()) })
	handler, err := httpapi.Handler(engine, httpapi.Config{Audit: log, Logger: slog.New(slog.DiscardHandler), Allow: catalog.Allow{"command"}, Authenticate: func(token string) (httpapi.Identity, bool) {
		return httpapi.Identity{Name: "ann", Role: httpapi.Admin}, token == "secret"
	}})
	require.NoError(t, err)
	s := &site{engine: engine, server: handler, called: map[string]bool{}}
	listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		handler.ServeHTTP(w, req)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.called[req.Pattern] = true
	}))
	t.Cleanup(func() {
		require.NoError(t, engine.Shutdown(context.Background()))
		listening.Close()
	})
	s.url = listening.URL
	s.remote, err = client.Dial(listening.URL, "secret")
	require.NoError(t, err)
	t.Cleanup(s.remote.Close)
	return s
}

func workflow(t *testing.T, text string) *template.Workflow {
	checked, err := kinds.Load("w.yaml", []byte(text), template.Known{})
	require.NoError(t, err)
	return checked.Workflow
}

const approval = `{kind: Workflow, name: approval,
 operations: {ask: {wait: {message: approved}}, say: {value: "by {{ input }}"}},
 steps: [{operation: ask}, {operation: say, input: "{{ steps.ask.output.by }}"}], output: "{{ steps.say.output }}"}`

const judged = `{kind: Workflow, name: judged, operations: {work: {value: 7}}, steps: [{operation: work, fulfillment: {policy: requester_confirmation}}]}`

const printing = `{kind: Workflow, name: printing, operations: {say: {command: {shell: "echo '<hi>'; echo oh >&2"}}}, steps: [{operation: say}]}`

const broken = `{kind: Workflow, name: broken, operations: {no: {fail: {code: refused}}}, steps: [{operation: "no"}]}`

// Each method of an engine means the same by HTTP.
func TestAnEngineAndAClientAreTheSame(t *testing.T) {
	for name, of := range map[string]func(*site) client.Engine{
		"engine": func(s *site) client.Engine { return client.Of(s.engine) },
		"client": func(s *site) client.Engine { return s.remote },
	} {
		t.Run(name, func(t *testing.T) { conforms(t, of(newSite(t))) })
	}
}

func conforms(t *testing.T, e client.Engine) {
	ctx := t.Context()
	v, err := e.Publish(ctx, workflow(t, approval))
	require.NoError(t, err)
	require.Equal(t, uint64(1), v.Number)
	run, err := e.StartNamed(ctx, "approval", 0, client.Options{ID: "a", Labels: map[string]string{"team": "x"}})
	require.NoError(t, err)
	require.Equal(t, "a", run.ID())
	_, err = e.StartNamed(ctx, "aproval", nil, client.Options{})
	require.ErrorIs(t, err, parcel.ErrNotPublished)
	_, err = e.StartNamed(ctx, "approval", 1, client.Options{ID: "a"})
	require.ErrorIs(t, err, coordinator.ErrRunExists)
	_, err = e.Run(ctx, "b")
	require.ErrorIs(t, err, coordinator.ErrRunNotFound)

	x, err := run.Explain(ctx, "ask")
	require.NoError(t, err)
	require.Equal(t, "running", x.Status)
	_, err = run.Explain(ctx, "none")
	require.ErrorIs(t, err, coordinator.ErrStepNotFound)
	require.NoError(t, run.Pause(ctx, "lunch"))
	require.ErrorIs(t, run.Pause(ctx, "lunch"), coordinator.ErrNotPossible)
	require.NoError(t, run.Resume(ctx))
	require.ErrorIs(t, run.Patch(ctx, map[string]any{"x": 1}), coordinator.ErrNotPossible)
	for range 2 {
		require.NoError(t, run.Send(ctx, "later", false, coordinator.WithKey("k")))
	}
	var would []string
	dry := run.Dry(func(e journal.Event) { would = append(would, fmt.Sprint(e.Seq, e.Type, e.Detail.Reason)) })
	require.NoError(t, dry.Cancel(ctx, "storm"))
	require.ErrorIs(t, dry.Resume(ctx), coordinator.ErrNotPossible)
	require.Equal(t, []string{"6 run.cancelledstorm", "7 run.finished"}, would)
	require.NoError(t, run.Dry(nil).Send(ctx, "approved", nil))
	_, err = e.PreviewDelete(ctx, "a")
	require.ErrorIs(t, err, coordinator.ErrNotPossible)
	last, err := run.Last(ctx)
	require.NoError(t, err)
	require.Equal(t, uint64(5), last)
	impatient, cancel := context.WithCancel(ctx)
	cancel()
	_, err = run.Wait(impatient)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, run.Send(ctx, "approved", map[string]any{"by": "<ann>", "n": 9007199254740993}))
	result, err := run.Wait(ctx)
	require.NoError(t, err)
	require.NoError(t, result.Err())
	require.Equal(t, "by <ann>", result.Output)
	again, err := e.Run(ctx, "a")
	require.NoError(t, err)
	result, err = again.Wait(ctx)
	require.NoError(t, err)
	require.Equal(t, "by <ann>", result.Output)
	require.ErrorIs(t, run.Cancel(ctx, "late"), coordinator.ErrFinished)
	output, err := run.Output(ctx, "ask", "")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"by": "<ann>", "n": int64(9007199254740993)}, output)

	var events, watched []string
	for e, err := range run.Events(ctx, 2) {
		require.NoError(t, err)
		events = append(events, fmt.Sprint(e.Seq, e.Type, e.Node, e.At))
	}
	for u, err := range run.Watch(ctx, 2) {
		require.NoError(t, err)
		watched = append(watched, fmt.Sprint(u.Event.Seq, u.Event.Type, u.Event.Node, u.Event.At))
	}
	require.NotEmpty(t, events)
	require.Equal(t, events, watched)

	printed, err := e.Start(ctx, workflow(t, printing), nil, client.Options{})
	require.NoError(t, err)
	said := map[string]string{}
	for b, err := range printed.Log(ctx, "say") {
		require.NoError(t, err)
		for _, e := range b.Entries {
			require.Equal(t, "say", e.Step)
			said[e.Stream] += e.Text
		}
	}
	require.Equal(t, map[string]string{"stdout": "<hi>\n", "stderr": "oh\n"}, said)
	for _, err := range printed.Log(ctx, "none") {
		require.ErrorIs(t, err, coordinator.ErrStepNotFound)
	}

	decided, err := e.Start(ctx, workflow(t, judged), nil, client.Options{})
	require.NoError(t, err)
	require.NoError(t, decided.Decide(ctx, "work", true, "fine", coordinator.WithPayload(map[string]any{"seen": []string{"offer"}})))
	var kept []any
	for e, err := range decided.Events(ctx, 1) {
		require.NoError(t, err)
		if e.Type == journal.DecisionReceived {
			kept = append(kept, e.Value)
		}
	}
	require.Equal(t, []any{map[string]any{"seen": []any{"offer"}}}, kept)
	result, err = decided.Wait(ctx)
	require.NoError(t, err)
	require.NoError(t, result.Err())

	failed, err := e.Start(ctx, workflow(t, broken), map[string]any{}, client.Options{ID: "f"})
	require.NoError(t, err)
	result, err = failed.Wait(ctx)
	require.NoError(t, err)
	require.Equal(t, "refused", result.Failure.Code)
	require.NoError(t, failed.Retry(ctx, "no", coordinator.RepeatWork(), coordinator.NewKey()))
	_, err = failed.Wait(ctx)
	require.NoError(t, err)
	renewed := 0
	for e, err := range failed.Events(ctx, 1) {
		require.NoError(t, err)
		if e.Type == journal.NodeRetried {
			require.True(t, e.Detail.Work)
			require.Regexp(t, "^no#.", e.Detail.Key)
			renewed++
		}
	}
	require.Equal(t, 1, renewed)

	stopped, err := e.StartNamed(ctx, "approval", nil, client.Options{})
	require.NoError(t, err)
	require.NoError(t, stopped.Abort(ctx, "ask", "no"))
	cancelled, err := e.StartNamed(ctx, "approval", nil, client.Options{})
	require.NoError(t, err)
	require.NoError(t, cancelled.Cancel(ctx, "storm"))
	result, err = cancelled.Wait(ctx)
	require.NoError(t, err)
	require.Error(t, result.Err())

	gone, err := e.PreviewDelete(ctx, "f")
	require.NoError(t, err)
	require.Equal(t, []string{"f"}, gone)
	require.NoError(t, e.Delete(ctx, "f"))
	_, err = e.Run(ctx, "f")
	require.ErrorIs(t, err, journal.ErrDeleted)
	var found []string
	for r, err := range e.Find(ctx, "label.team:x") {
		require.NoError(t, err)
		found = append(found, r.Run)
	}
	require.Equal(t, []string{"a"}, found)
	for _, err := range e.Find(ctx, "statsu:x") {
		require.ErrorIs(t, err, api.ErrBadRequest)
	}
}

// TestForWhomAClientActsIsJournaled, beside the owner of the token.
func TestForWhomAClientActsIsJournaled(t *testing.T) {
	s := newSite(t)
	run, err := s.remote.Start(t.Context(), workflow(t, approval), nil, client.Options{ID: "a"})
	require.NoError(t, err)
	require.NoError(t, s.remote.Ask(t.Context(), &api.Request{Verb: api.Pause, Run: "a", Actor: "bob 100%"}, func(*api.Reply) error { return nil }))
	var actors []string
	for e, err := range run.Events(t.Context(), 1) {
		require.NoError(t, err)
		if e.Type == journal.RunPaused {
			actors = append(actors, e.Detail.Actor)
		}
	}
	require.Equal(t, []string{"ann on_behalf_of bob 100%"}, actors)
}

// others makes the requests of pages and of programs in other languages: their answers are the same as those of package api.
func (s *site) others(t *testing.T) {
	t.Helper()
	ctx, c := t.Context(), s.remote
	var me httpapi.Me
	require.NoError(t, c.Do(ctx, "GET", "/v1/me", nil, &me))
	require.Equal(t, httpapi.Me{Name: "ann", Role: "admin"}, me)
	require.NoError(t, c.Do(ctx, "GET", "/v1/session", nil, &me))
	require.NoError(t, c.Do(ctx, "POST", "/v1/session", httpapi.LoginBody{Token: "secret"}, &me))
	require.True(t, me.Session)
	require.NoError(t, c.Do(ctx, "DELETE", "/v1/session", nil, &me))
	require.NoError(t, c.Do(ctx, "GET", s.server.Invite(httpapi.Identity{Name: "bob", Role: httpapi.Viewer}), nil, nil))
	for _, path := range []string{"/livez", "/readyz", "/version", "/openapi.json"} {
		var answer map[string]any
		require.NoError(t, c.Do(ctx, "GET", path, nil, &answer))
		require.NotEmpty(t, answer)
	}
	var text string
	require.NoError(t, c.Do(ctx, "GET", "/metrics", nil, &text))
	require.Contains(t, text, "sluice_open_runs")

	require.NoError(t, c.Do(ctx, "POST", "/v1/runs", httpapi.StartBody{Workflow: "approval", ID: "page"}, nil))
	var steps httpapi.StepList
	require.NoError(t, c.Do(ctx, "GET", "/v1/runs/page/steps", nil, &steps))
	require.Len(t, steps.Items, 2)
	var event api.Event
	require.NoError(t, c.Do(ctx, "GET", "/v1/runs/page/events/1", nil, &event))
	require.Equal(t, "run.started", event.Type)
	var step api.Step
	require.NoError(t, c.Do(ctx, "GET", "/v1/runs/page/steps/ask", nil, &step))
	require.Equal(t, "running", step.Status)
	var history columns.History
	require.NoError(t, c.Do(ctx, "GET", "/v1/runs/page/history", nil, &history))
	require.Equal(t, []uint64{1, 2}, history.Seq)
	var list httpapi.VersionPage
	require.NoError(t, c.Do(ctx, "GET", "/v1/workflows/approval/versions", nil, &list))
	require.NotEmpty(t, list.Items)
	var d httpapi.Definition
	require.NoError(t, c.Do(ctx, "GET", "/v1/workflows/approval/versions/"+list.Items[0].Hash, nil, &d))
	require.NoError(t, c.Do(ctx, "GET", "/v1/workflows/approval", nil, &d))
	require.NoError(t, c.Do(ctx, "POST", "/v1/check", map[string]string{"document": judged}, nil))
	var inbox httpapi.DecisionPage
	require.NoError(t, c.Do(ctx, "POST", "/v1/runs", httpapi.StartBody{ID: "asked", Documents: httpapi.Documents{Document: judged}}, nil))
	require.NoError(t, c.Do(ctx, "GET", "/v1/decisions?q=asked", nil, &inbox))
	require.Len(t, inbox.Items, 1)
	require.NoError(t, c.Do(ctx, "GET", "/v1/decisions/"+inbox.Items[0].ID, nil, nil))
	require.NoError(t, c.Do(ctx, "POST", "/v1/decisions/"+inbox.Items[0].ID, httpapi.DecideBody{Decision: api.Fulfilled}, nil))
	err := c.Do(ctx, "GET", "/v1/decisions/"+inbox.Items[0].ID, nil, nil)
	require.Equal(t, "not_possible", api.ErrorOf(err).Code)
	for _, path := range []string{"/v1/counts", "/v1/workflows/approval/versions/" + list.Items[0].Hash + "/layout"} {
		var answer map[string]any
		require.NoError(t, c.Do(ctx, "GET", path, nil, &answer), path)
		require.NotEmpty(t, answer)
	}
	for _, of := range []string{"GET /v1/workers", "POST /v1/worker/take", "POST /v1/worker/give", "GET /v1/worker/input?lease=x"} { // package worker uses them
		method, path, _ := strings.Cut(of, " ")
		require.Equal(t, "no_workers", api.ErrorOf(c.Do(ctx, method, path, nil, nil)).Code, path)
	}
	for _, kind := range []string{jobs.Backup, jobs.Doctor} { // in memory there is nothing to copy, and no folder for it
		var body any
		if kind == jobs.Backup {
			body = jobs.BackupBody{Name: "monday"}
		}
		require.Equal(t, "not_possible", api.ErrorOf(c.Job(ctx, kind, body, nil)).Code)
		require.Equal(t, "job_not_found", api.ErrorOf(c.Do(ctx, "GET", "/v1/"+kind+"/none", nil, nil)).Code)
	}
	var acts []string
	require.Eventually(t, func() bool { // a moment later
		acts = acts[:0]
		for e, err := range c.Audit(ctx, audit.Query{Kind: audit.Act, Run: "asked", Limit: 1}) {
			require.NoError(t, err)
			acts = append(acts, e.Actor+" "+e.Route)
		}
		return len(acts) == 2
	}, time.Minute, time.Millisecond)
	require.Equal(t, []string{"ann /v1/decisions/{id}", "ann /v1/runs"}, acts)
	var kinds []string
	for f, err := range c.Feed(ctx, "/v1/feed?run=asked", "") {
		require.NoError(t, err)
		kinds = append(kinds, f.Event)
	}
	require.Equal(t, []string{"snapshot", "end"}, kinds)
}

// Every route is called. A request of package api that travels by it is answered as in the engine's own process.
func TestEveryRouteIsCalled(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()
	ask := func(req *api.Request) []string {
		t.Helper()
		var lines []string
		err := s.remote.Ask(ctx, req, func(r *api.Reply) error {
			data, err := json.Marshal(r)
			lines = append(lines, string(data))
			return err
		})
		require.NoError(t, err, "%+v", req)
		if !req.Verb.Command() && req.Verb != api.Collect {
			var same []string
			require.NoError(t, api.Handle(ctx, s.engine, req, func(r *api.Reply) error {
				data, err := json.Marshal(r)
				same = append(same, string(data))
				return err
			}))
			require.Equal(t, same, lines)
		}
		return lines
	}
	attached := func(w string) []byte {
		p, err := parcel.Of(ctx, s.engine, workflow(t, w))
		require.NoError(t, err)
		data, err := (&api.Attachment{Parcel: p}).Encode()
		require.NoError(t, err)
		return data
	}
	ask(&api.Request{Verb: api.Publish, Attachment: attached(approval)})
	ask(&api.Request{Verb: api.Publish, Attachment: attached(strings.Replace(approval, "by {{", "of {{", 1))})
	ask(&api.Request{Verb: api.Begin, Name: "approval", ID: "run-1"})
	ask(&api.Request{Verb: api.Begin, Attachment: attached(judged), ID: "judged", Labels: map[string]string{"a=b": "c,d"}})
	ask(&api.Request{Verb: api.List, Labels: map[string]string{"a=b": "c,d"}})
	ask(&api.Request{Verb: api.List, Query: "status:waiting", Dry: true})
	ask(&api.Request{Verb: api.Names, Name: "app", Limit: 3})
	ask(&api.Request{Verb: api.Show, Run: "run-", Document: true}) // by a prefix of its id
	ask(&api.Request{Verb: api.Show, Run: "run-1", At: &api.Moment{Seq: 1}})
	ask(&api.Request{Verb: api.Explain, Run: "run-1", Step: "ask"})
	ask(&api.Request{Verb: api.Graph, Run: "run-1"})
	ask(&api.Request{Verb: api.Events, Run: "run-1", From: 2, Step: "ask"})
	ask(&api.Request{Verb: api.Pause, Run: "run-1", Reason: "lunch"})
	ask(&api.Request{Verb: api.Resume, Run: "run-1"})
	ask(&api.Request{Verb: api.Send, Run: "run-1", Message: "approved", Payload: json.RawMessage(`{"by": false}`), ID: "m"})
	ask(&api.Request{Verb: api.Watch, Run: "run-1", From: 2, UntilParked: true})
	ask(&api.Request{Verb: api.Log, Run: "run-1", Step: "ask"})
	ask(&api.Request{Verb: api.Output, Run: "run-1"})
	ask(&api.Request{Verb: api.Output, Run: "run-1", Step: "ask"})
	ask(&api.Request{Verb: api.Repeat, Run: "run-1", Rerun: &api.Rerun{From: "say"}, Dry: true})
	ask(&api.Request{Verb: api.Repeat, Run: "run-1", Rerun: &api.Rerun{From: "say"}, ID: "again"})
	ask(&api.Request{Verb: api.Shadow, Run: "run-1", Name: "approval@1"})
	ask(&api.Request{Verb: api.Shadow, Query: "workflow:approval", Attachment: attached(approval)})
	ask(&api.Request{Verb: api.Move, Run: "judged", Attachment: attached(strings.Replace(judged, "{kind", "{version: \"2\", kind", 1)), Dry: true})
	ask(&api.Request{Verb: api.Compare, Old: "approval@1", Name: "approval"})
	ask(&api.Request{Verb: api.Compare, Old: "approval", Attachment: attached(approval)})
	ask(&api.Request{Verb: api.Decide, Run: "judged", Step: "work", Decision: api.Fulfilled})
	ask(&api.Request{Verb: api.Begin, Name: "approval", ID: "b"})
	ask(&api.Request{Verb: api.Abort, Run: "b", Step: "ask"})
	ask(&api.Request{Verb: api.Watch, Run: "b"})
	ask(&api.Request{Verb: api.Retry, Run: "b", Step: "ask"})
	ask(&api.Request{Verb: api.Cancel, Run: "b", Reason: "no"})
	ask(&api.Request{Verb: api.Bulk, Act: "cancel", Query: "workflow:approval", Dry: true})
	ask(&api.Request{Verb: api.Begin, Name: "approval", ID: "c"})
	ask(&api.Request{Verb: api.Bulk, Act: "cancel", Query: "c", Expect: 1})
	ask(&api.Request{Verb: api.Bulk, Act: "rerun", Query: "run-1", Rerun: &api.Rerun{From: "say"}, Expect: 1})
	ask(&api.Request{Verb: api.AwaitAct, Number: 1})
	ask(&api.Request{Verb: api.AwaitAct, Number: 2})
	ask(&api.Request{Verb: api.Bulk, Act: "move", Query: "run-1", Attachment: attached(approval), Dry: true})
	require.ErrorIs(t, s.remote.Ask(ctx, &api.Request{Verb: api.Bulk, Act: "rerun", Query: "run-1", Rerun: &api.Rerun{From: "say", At: 2}, Dry: true},
		func(*api.Reply) error { return nil }), api.ErrBadRequest)
	ask(&api.Request{Verb: api.Acts, Number: 1})
	ask(&api.Request{Verb: api.Acts})
	require.Error(t, s.remote.Ask(ctx, &api.Request{Verb: api.StopAct, Number: 1}, func(*api.Reply) error { return nil }), "it has ended")
	ask(&api.Request{Verb: api.Retain, Keep: "30d"})
	ask(&api.Request{Verb: api.Rules})
	ask(&api.Request{Verb: api.Delete, Run: "b"})
	file := filepath.Join(t.TempDir(), "runs.jsonl")
	var content []byte
	require.NoError(t, s.remote.Ask(ctx, &api.Request{Verb: api.Export, Runs: []string{"judged"}}, func(r *api.Reply) error {
		content = append(content, r.Data...)
		return nil
	}))
	require.NoError(t, os.WriteFile(file, content, 0o600))
	ask(&api.Request{Verb: api.Import, File: file})
	ask(&api.Request{Verb: api.Collect, Keep: "0s", Dry: true})
	for _, verb := range []api.Verb{api.Patch, api.Views, api.Cells, api.Await, api.Keep, api.Sweep} { // of playbooks and worlds
		err := s.remote.Ask(ctx, &api.Request{Verb: verb, Run: "run-1", Step: "x", If: "status == 'failed'", Payload: json.RawMessage(`{"x": 1}`)}, func(*api.Reply) error { return nil })
		e, ok := errors.AsType[*api.Error](err)
		require.True(t, ok || verb == api.Views, "%s: %v", verb, err)
		if ok {
			require.NotEqual(t, "no_route", e.Code, verb)
			require.NotEqual(t, "bad_request", e.Code, "%s: %v", verb, e)
		}
	}
	for _, verb := range []api.Verb{api.Pause, api.Resume, api.Show} {
		err := s.remote.Ask(ctx, &api.Request{Verb: verb, Run: "run-1", Step: "x"}, func(*api.Reply) error { return nil })
		require.Error(t, err)
	}
	require.Error(t, s.remote.Ask(ctx, &api.Request{Verb: api.Backup, File: "/x"}, nil))

	s.others(t)

	var missing []string
	described, err := httpapi.OpenAPI()
	require.NoError(t, err)
	var doc struct{ Paths map[string]map[string]any }
	require.NoError(t, json.Unmarshal(described, &doc))
	for path, methods := range doc.Paths {
		for method := range methods {
			if pattern := strings.ToUpper(method) + " " + path; !s.called[pattern] {
				missing = append(missing, pattern)
			}
		}
	}
	slices.Sort(missing)
	require.Empty(t, missing, "%v", slices.Sorted(maps.Keys(s.called)))
}

package httpapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/catalog"
	"github.com/sluiceflow/sluice/coordinator/httpapi/tokens"
	"github.com/sluiceflow/sluice/coordinator/workers"
	"github.com/sluiceflow/sluice/coordinator/workers/wire"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// book uses secrets of the environment and of a file: in headers, in an address that redirects elsewhere, in a call that a worker may not
// take, and in one that fails. Another worker knows them from elsewhere.
const book = `apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: book}
keychain:
  - {name: e, kind: env, data: {key: SLUICE_CANARY}}
  - {name: f, kind: file, data: {key: "%s"}}
workflow:
  - step: start
    tool:
      - {name: talk, kind: http, url: "%s/talk", headers: {X-Api-Key: "{{ keychain.e.key }}", Authorization: "Bearer {{ keychain.f.key }}"}}
      - {name: moved, kind: http, url: "%s/moved?key={{ keychain.e.key }}", headers: {X-Api-Key: "{{ keychain.f.key }}"}, spec: {policy: {rules: [{else: {then: {do: continue}}}]}}}
      - {name: fails, kind: http, url: "%s/fails", headers: {X-Api-Key: "{{ keychain.f.key }}"}, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {why: "{{ outcome.error }}"}}}}]}}}
      - {name: knows, kind: charge, input: 7, spec: {policy: {rules: [{else: {then: {do: continue}}}]}}}
      - {name: away, kind: charge, input: "{{ keychain.e.key }}", spec: {policy: {rules: [{else: {then: {do: continue}}}]}}}
`

// aviary is a site whose secrets are in every place that may have them.
type aviary struct {
	*site
	secrets map[string]string // by their descriptions
	said    notes             // all output of the server
	logged  notes
	heard   notes // by the server that the secrets are for
}

// notes is a text that several write.
type notes struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(p)
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.String()
}

func newAviary(t *testing.T) *aviary {
	dir := t.TempDir()
	a := &aviary{secrets: map[string]string{"environment": `canary "env"/ü-1`, "file": `canary <file>&2`, "variable that nobody uses": "canary-other-3"}}
	t.Setenv("SLUICE_CANARY", a.secrets["environment"])
	t.Setenv("SLUICE_CANARY_OTHER", a.secrets["variable that nobody uses"])
	file := filepath.Join(dir, "secret")
	require.NoError(t, os.WriteFile(file, []byte(a.secrets["file"]), 0o600))
	key, err := workers.ReadKey(dir)
	require.NoError(t, err)
	a.secrets["key of leases"] = string(key)
	log := slog.New(slog.NewJSONHandler(&a.logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	store, err := disk.Open(filepath.Join(dir, "journal"), disk.Config{Logger: log})
	require.NoError(t, err)
	engine, err := coordinator.New(t.Context(), store, coordinator.Config{Workers: key, Logger: log})
	require.NoError(t, err)
	keep := tokens.Of(dir)
	server, err := Handler(engine, Config{Folder: dir, Logger: log, Allow: catalog.Allow(catalog.Kinds), Authenticate: func(token string) (Identity, bool) {
		known, ok := keep.Check(token, time.Now())
		return Identity{Name: known.Name, Role: ParseRole(known.Role), Operations: known.Operations, ID: known.Hash}, ok
	}})
	require.NoError(t, err)
	listening := httptest.NewServer(server)
	a.site = &site{t: t, engine: engine, server: server, url: listening.URL}
	for _, role := range []Role{Admin, Worker} {
		a.secrets[role.String()], err = keep.Create(role.String(), role.String(), time.Now(), time.Time{}, "charge")
		require.NoError(t, err)
	}
	a.token = a.secrets[Admin.String()]
	t.Cleanup(func() {
		require.NoError(t, engine.Shutdown(context.Background()))
		listening.Close()
		require.NoError(t, store.Close())
	})
	outside := a.outside()
	a.fill(fmt.Sprintf(book, file, outside, outside, outside))
	return a
}

// outside starts the server that the secrets are for. It answers with the URL and the headers of a request, and sends some on to another host.
func (a *aviary) outside() (address string) {
	repeat := func(w http.ResponseWriter, req *http.Request) {
		fmt.Fprintln(&a.heard, req.URL, req.Header)
		w.Header().Set("Content-Type", "application/json")
		if req.URL.Path == "/fails" {
			w.WriteHeader(http.StatusTeapot)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"headers": req.Header, "url": req.URL.String(), req.Header.Get("X-Api-Key"): 1})
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		fmt.Fprintln(&a.said, "elsewhere", req.URL, req.Header)
	}))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/moved" {
			http.Redirect(w, req, strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1), http.StatusTemporaryRedirect)
		}
		repeat(w, req)
	}))
	a.t.Cleanup(s.Close)
	a.t.Cleanup(elsewhere.Close)
	return s.URL
}

// fill makes runs that have used the secrets, and a call that a worker has.
func (a *aviary) fill(document string) {
	t := a.t
	ok[api.Done](a.site, "POST", "/v1/workflows", sent(document))
	ok[api.Done](a.site, "POST", "/v1/workflows", sent(approval))
	ok[api.Run](a.site, "POST", "/v1/runs", `{"workflow": "book", "id": "a"}`)
	a.deliverSecret(<-a.take(), a.secrets["environment"]+" and "+a.secrets["file"])
	next := a.take()
	run := ok[api.Run](a.site, "GET", "/v1/runs/a", "", "Prefer", "wait=60")
	require.Contains(t, []string{"completed", "partial"}, run.Status)
	ok[api.Run](a.site, "POST", "/v1/runs", `{"id": "judged", "document": `+quoted(judged)+`}`)
	ok[api.Run](a.site, "POST", "/v1/runs", `{"id": "away", "document": "{kind: Workflow, name: w, steps: [{operation: charge}]}"}`)
	taken := <-next
	require.Equal(t, "away", taken.Run)
	a.deliver(`{"worker": "w", "log": [{"lease": "` + taken.Lease + `", "text": "on it"}]}`)
}

// take takes the next call, as a worker that waits for it.
func (a *aviary) take() <-chan wire.TakenCall {
	taken := make(chan wire.TakenCall, 1)
	go func() {
		defer close(taken)
		resp := a.do("POST", "/v1/worker/take", `{"worker": "w"}`, "Authorization", "Bearer "+a.secrets[Worker.String()])
		defer resp.Body.Close()
		var answer wire.TakeAnswer
		if assert.NoError(a.t, json.NewDecoder(resp.Body).Decode(&answer)) && assert.Len(a.t, answer.Calls, 1) {
			taken <- answer.Calls[0]
		}
	}()
	return taken
}

// deliver delivers a body, as a worker.
func (a *aviary) deliver(body string) {
	a.token = a.secrets[Worker.String()]
	ok[wire.GiveAnswer](a.site, "POST", "/v1/worker/give", body)
	a.token = a.secrets[Admin.String()]
}

// deliverSecret delivers a secret, as a worker, in every form: as texts and reports, with an error and with an output.
func (a *aviary) deliverSecret(c wire.TakenCall, secret string) {
	text := quoted(secret)
	part := `{"worker": "w", "log": [{"lease": "` + c.Lease + `", "text": ` + text + `}], "reports": [{"lease": "` + c.Lease + `", "kind": "progress", "payload": {` + text + `: [` + text + `]}}]}`
	failed := `{"worker": "w", "results": [{"lease": "` + c.Lease + `", "error": {"code": "bad", "message": ` + text + `, "details": {` + text + `: ` + text + `}}}]}`
	output := `{"worker": "w", "results": [{"lease": "` + c.Lease + `", "output": ` + text + `}], "log": [{"lease": "` + c.Lease + `", "text": ` + text + `}]}`
	for _, body := range []string{part, failed, output} {
		a.deliver(body)
	}
}

// bodiesOfRoutes has bodies that are carried out, by path; others get an empty object.
var bodiesOfRoutes = map[string]string{
	"/v1/runs": `{"workflow": "book"}`, "/v1/workflows": sent(approval), "/v1/check": sent(approval), "/v1/shadow": `{"workflow": "book", "q": "workflow:book"}`,
	"/v1/diff": `{"from": "book", "document": ` + quoted(approval) + `}`, "/v1/runs/{run}/shadow": `{"workflow": "book"}`, "/v1/runs/{run}/move": `{"workflow": "book"}`,
	"/v1/runs/{run}/rerun": `{"failed": true}`, "/v1/bulk": `{"act": "cancel", "q": "workflow:book", "expect": 0}`, "/v1/worker/take": `{"worker": "w", "wait": "0s"}`,
	"/v1/worker/give": `{"worker": "w", "results": [{"lease": "made up"}]}`, "/v1/session": `{"token": "made up"}`,
}

// ask makes a request of any kind, and records the whole answer.
func (a *aviary) ask(method, path, body string, headers ...string) {
	if path == "/v1/feed" { // it does not end by itself
		path += "?run=a"
	}
	resp := a.do(method, path, body, headers...)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(a.t, err, path)
	fmt.Fprintf(&a.said, "%s %s\n%v\n%s\n", method, path, resp.Header, text)
	require.Less(a.t, resp.StatusCode, 500, "%s %s: %s", method, path, text)
}

// TestNoSecretIsSaid looks for secrets in every answer of every route, in frames, the log, metrics, and an export of the journal.
func TestNoSecretIsSaid(t *testing.T) {
	a := newAviary(t)
	var doc struct{ Paths map[string]map[string]any }
	described, err := os.ReadFile("openapi.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(described, &doc))
	definition := ok[Definition](a.site, "GET", "/v1/workflows/book", "")
	for _, path := range []string{"/v1/runs/a/feed?view=log", "/v1/runs/a/feed?view=events", "/v1/export"} { // while there are runs
		a.ask("GET", path, "")
	}
	for _, method := range []string{"get", "post", "delete"} { // first the routes that change nothing
		for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
			if doc.Paths[path][method] == nil {
				continue
			}
			method, body := strings.ToUpper(method), ""
			if method == http.MethodPost {
				body = "{}"
				if known, ok := bodiesOfRoutes[path]; ok {
					body = known
				}
			}
			for _, step := range []string{"start", "start[0]", "talk"} {
				at := strings.NewReplacer("{run}", "a", "{key}", step, "{name}", "book", "{id}", "1", "{cell}", "c", "{hash}", definition.Version.Hash).Replace(path)
				for _, accept := range []string{"", LinesType, "text/event-stream"} {
					a.ask(method, at, body, "Accept", accept)
				}
			}
		}
	}
	for _, path := range []string{
		"/v1/runs/a/feed?view=events&after=0", "/v1/feed?run=a&view=events", "/v1/export", "/metrics", "/v1/runs?labels=%7B%7D", "/v1/runs/away", "/v1/runs/away/events",
		"/v1/runs/a?document=true", "/v1/workers", "/", "/v1/session", "/v1/me", "/v1/decisions?limit=5",
	} {
		a.ask("GET", path, "", "Accept", "application/json")
	}
	a.token = a.secrets[Worker.String()]
	a.ask("GET", "/v1/runs", "")
	a.ask("POST", "/v1/worker/take", `{"worker": "w", "wait": "0s", "operations": ["book"]}`)
	heard := a.heard.String()
	require.Contains(t, heard, a.secrets["environment"], "the secrets were used")
	require.Contains(t, heard, a.secrets["file"])
	said := a.said.String()
	require.Contains(t, said, "‹keychain:e.key›", "they were seen, and hidden")
	require.Contains(t, said, "not_for_workers")
	require.Regexp(t, `"stream":"worker","text":"‹keychain:e.key› and ‹keychain:f.key›"`, said, "the texts of a worker were seen, too")
	require.Contains(t, a.logged.String(), "‹keychain:e.key› and ‹keychain:f.key›")
	require.Contains(t, said, "# HELP sluice_")
	require.Contains(t, a.logged.String(), `"route":"/v1/runs"`)
	for what, secret := range a.secrets {
		for _, text := range written(secret) {
			for where, all := range map[string]string{"an answer": said, "the log": a.logged.String()} {
				if i := strings.Index(all, text); i >= 0 {
					t.Errorf("the secret %s is in %s: …%q…", what, where, all[max(0, i-300):min(len(all), i+50)])
				}
			}
		}
	}
}

// written returns the ways in which a text is written.
func written(text string) []string {
	escaped := quoted(text)
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	_ = e.Encode(text)
	return []string{
		text, escaped[1 : len(escaped)-1], strings.Trim(plain.String(), "\"\n"), url.QueryEscape(text), url.PathEscape(text), hex.EncodeToString([]byte(text)),
		base64.StdEncoding.EncodeToString([]byte(text)), base64.RawURLEncoding.EncodeToString([]byte(text)),
	}
}

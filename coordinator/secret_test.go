package coordinator_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// talker is an HTTP server that issues a token to clients with the secret, and repeats everything it receives in many encodings.
type talker struct {
	*httptest.Server
	authorizations chan string // of every request to /talk
	tokens         atomic.Int32
}

func newTalker(t *testing.T) *talker {
	s := &talker{authorizations: make(chan string, 16)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Client, Secret string }
		if json.NewDecoder(r.Body).Decode(&q) != nil || q.Client != "shop" || q.Secret != `file "secret"/1` {
			http.Error(w, "no token for "+q.Secret, http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token": "tok-%d-gulf", "expires_in": 3600, "pin": 190337}`, s.tokens.Add(1))
	})
	mux.HandleFunc("/talk", func(w http.ResponseWriter, r *http.Request) {
		said := r.Header.Get("Authorization")
		s.authorizations <- said
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("fail") != "" {
			w.WriteHeader(http.StatusTeapot)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"plain": said, "url": r.URL.String(), said: 1, "base64": base64.StdEncoding.EncodeToString([]byte(strings.TrimPrefix(said, "Bearer "))),
			"json": fmt.Sprintf("%q", said), "pin": 190337, "innocent": "nothing",
		})
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

const secretive = `
keychain:
  - {name: file, kind: file, data: {secret: "%[1]s"}}
  - {name: shop, kind: env, scope: global, data: {token: SLUICE_TEST_TOKEN}}
  - name: api
    kind: http
    auto_renew: true
    endpoint: "{{ workload.url }}/token"
    data: {client: shop, secret: "{{ keychain.file.secret }}"}
workflow:
  - step: talk
    tool:
      - name: api
        kind: http
        url: "{{ workload.url }}/talk"
        params: {key: "{{ keychain.shop.token }}", pin: "{{ keychain.api.pin }}"}
        headers: {Authorization: "Bearer {{ keychain.api.access_token }}"}
      - name: fails
        kind: http
        url: "{{ workload.url }}/talk?fail=1"
        headers: {Authorization: "{{ keychain.file.secret }}"}
        spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {why: "{{ outcome.error }}"}}}}]}}
      - {name: go, kind: tell, input: {text: "{{ keychain.shop.token }}"}, spec: {policy: {rules: [{else: {then: {do: continue}}}]}}}
      - {name: panics, kind: boom, input: "{{ keychain.shop.token }}", spec: {policy: {rules: [{else: {then: {do: continue}}}]}}}
    next: {arcs: [{step: gate, args: {said: "{{ results.api }}"}}]}
  - step: gate
    spec: {policy: {admit: {rules: [{when: "{{ ctx.go == true }}", then: {allow: true}}]}}}
    tool:
      - {name: again, kind: tell, input: {text: "{{ keychain.shop.token }}"}, spec: {policy: {rules: [{else: {then: {do: continue}}}]}}}
      - {name: forged, kind: echo, input: {forged: "{{ args.said.plain }}", named: "{{ workload.forged }}"}}
`

// No byte of a secret is in the store, the state, the events or updates, regardless of the code that repeats it. The calls receive the
// secrets, after a restart, too.
func TestSecretsReachOnlyTheirCalls(t *testing.T) {
	server := newTalker(t)
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte("file \"secret\"/1\n"), 0o600))
	t.Setenv("SLUICE_TEST_TOKEN", "env&token=ü")
	heard := make(chan string, 4)
	ops := []coordinator.Operation{
		echo,
		operation.Define("tell", func(_ context.Context, in struct{ Text string }) (any, error) {
			heard <- in.Text
			return nil, errors.New("told " + in.Text)
		}),
		operation.Define("boom", func(_ context.Context, in string) (any, error) { panic("boom " + in) }),
	}
	open := func() *coordinator.Engine {
		store, err := disk.Open(dir, disk.Config{})
		require.NoError(t, err)
		e, err := coordinator.New(t.Context(), store, coordinator.Config{Operations: ops})
		require.NoError(t, err)
		return e
	}
	e := open()
	mark := "‹keychain:shop.token›"
	r := begin(t, e, fmt.Sprintf(secretive, file), map[string]any{"url": server.URL, "forged": mark}, coordinator.WithID("r"))
	s := until(t, r, reactive.RunWaiting)
	require.Equal(t, "Bearer tok-1-gulf", <-server.authorizations)
	require.Equal(t, `file "secret"/1`, <-server.authorizations)
	require.Equal(t, "env&token=ü", <-heard)
	require.NotEmpty(t, s.Steps)
	require.NoError(t, e.Shutdown(t.Context()))

	e = open()
	r, err := e.Run(t.Context(), "r")
	require.NoError(t, err)
	require.NoError(t, r.Patch(t.Context(), map[string]any{"go": true}))
	result := wait(t, r)
	require.NoError(t, result.Err())
	require.Equal(t, "env&token=ü", <-heard, "secrets are fetched again")
	require.Equal(t, map[string]any{"forged": "Bearer ‹keychain:api.access_token›", "named": mark}, result.Output,
		"a mark from outside opens nothing")

	seen := fmt.Sprintf("%+v", s) + readAll(t, r)
	require.NoError(t, e.Shutdown(t.Context()))
	require.Contains(t, seen, "told "+mark)
	require.Contains(t, seen, "boom "+mark)
	require.Contains(t, seen, "nothing", "other text is not redacted")
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		seen += string(data)
		return err
	}))
	for _, secret := range []string{
		"tok-1-gulf", "tok-2-gulf", "190337", "env&token", "env%26token", `env\u0026token`, `file "secret"`, `file \"secret\"`, "file+%22secret%22", "file%20%22",
		base64.StdEncoding.EncodeToString([]byte("tok-1-gulf")), base64.StdEncoding.EncodeToString([]byte(`file "secret"/1`)),
	} {
		require.NotContains(t, seen, secret)
	}
}

// readAll returns everything that can be read of a run: its events, its updates, and its state.
func readAll(t *testing.T, r *coordinator.Run) string {
	var b strings.Builder
	show := func(v any) {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		fmt.Fprintf(&b, "%s\n%+v\n", text, v)
	}
	for e, err := range r.Events(t.Context(), 1) {
		require.NoError(t, err)
		show(e)
		if e.Detail != nil {
			show(*e.Detail)
			if e.Detail.Failure != nil {
				show(*e.Detail.Failure)
			}
		}
	}
	for u, err := range r.Watch(t.Context(), 1) {
		require.NoError(t, err)
		show(u)
	}
	s, err := r.State(t.Context())
	require.NoError(t, err)
	show(s)
	return b.String()
}

func TestARunWithoutItsSecretsIsNotStarted(t *testing.T) {
	server := newTalker(t)
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte("wrong secret"), 0o600))
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo, renamed("tell"), renamed("boom")}})
	_, err := e.Start(t.Context(), routes(t, fmt.Sprintf(secretive, file)), map[string]any{"url": server.URL}, coordinator.WithID("r"))
	require.ErrorIs(t, err, keychain.ErrUnavailable)
	require.ErrorContains(t, err, "shop: token: the environment has no variable SLUICE_TEST_TOKEN")
	require.ErrorContains(t, err, "api: ")
	require.ErrorContains(t, err, "403")
	require.NotContains(t, err.Error(), "wrong secret")
	_, err = e.Run(t.Context(), "r")
	require.ErrorIs(t, err, coordinator.ErrRunNotFound)
}

func renamed(name string) coordinator.Operation {
	return operation.Define(name, func(_ context.Context, in any) (any, error) { return in, nil })
}

// If a secret is missing when a run is recovered, a call that needs it fails and may be retried; other calls are made.
func TestAMissingSecretFailsTheCallsThatNeedIt(t *testing.T) {
	open := reopen(t, echo)
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte("hush hush"), 0o600))
	e := open()
	begin(t, e, `
keychain: [{name: k, kind: file, data: {s: "`+file+`"}}]
workflow:
  - step: hold
    tool: {kind: wait, message: go}
    next: {arcs: [{step: bare}]}
  - {step: bare, tool: {kind: echo, input: free}, next: {arcs: [{step: use}]}}
  - step: use
    input: {key: "{{ keychain.k.s }}"}
    tool:
      kind: echo
      input: {k: "{{ input.key }}"}
      spec:
        policy:
          rules:
            - {when: '{{ outcome.error?.code == "keychain" && outcome.error.retryable }}', then: {do: retry, attempts: 1000000, delay: 0.001, set_ctx: {failed: "{{ outcome.error.message }}"}}}
`, nil, coordinator.WithID("r"))
	require.NoError(t, e.Shutdown(t.Context()))
	require.NoError(t, os.Remove(file))

	e = open()
	r, err := e.Run(t.Context(), "r")
	require.NoError(t, err)
	require.NoError(t, r.Send(t.Context(), "go", nil))
	failures := 0
	for u, err := range r.Watch(t.Context(), 1) {
		require.NoError(t, err)
		if f := u.Event.Detail; f != nil && f.Failure != nil && f.Failure.Code == coordinator.CodeKeychain {
			require.Contains(t, f.Failure.Message, "k: s: open "+file)
			if failures++; failures == 2 {
				require.NoError(t, os.WriteFile(file+".new", []byte("hush hush"), 0o600))
				require.NoError(t, os.Rename(file+".new", file))
			}
		}
	}
	require.GreaterOrEqual(t, failures, 2)
	require.Equal(t, map[string]any{"k": "‹keychain:k.s›"}, wait(t, r).Output, "passed to the call, repeated by it, and redacted")
	require.NoError(t, e.Shutdown(t.Context()))
}

// Every Caller receives the secrets of its call, and everything that it returns is redacted.
func TestSecretsOfEveryKindOfCall(t *testing.T) {
	t.Setenv("SLUICE_TEST_TOKEN", "hush-hush")
	const mark = "‹keychain:k.s›"
	heard := make(chan string, 8)
	hear := func(text string) { heard <- text }
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{
		echo,
		operation.DefinePure("pure", func(text string) (string, error) { hear(text); return text, nil }),
		operation.Define("reply", func(_ context.Context, text string) (operation.Reply, error) {
			hear(text)
			return operation.Reply{Output: text, About: map[string]any{"said": text}}, nil
		}),
		operation.Define("ask", func(ctx context.Context, text string) (string, error) {
			hear(text)
			return operation.CallOf(ctx).Participant + " heard " + text, nil
		}),
		operation.Define("plain", func(_ context.Context, in struct{ N int }) (struct{ N int }, error) { return in, nil }),
	}})
	got := contextOf(t, e, `
keychain: [{name: k, kind: env, data: {s: SLUICE_TEST_TOKEN}}]
directory: {participants: {p: {}, q: {}}}
`+once(`
      - {name: pure, kind: pure, input: "{{ keychain.k.s }}", `+keep("pure", "{{ outcome.result }}")+`}
      - {name: reply, kind: reply, input: "{{ keychain.k.s }}", `+keep("reply", "{{ [outcome.result, outcome.said] }}")+`}
      - {name: ask, kind: ask, input: "{{ keychain.k.s }}", target: {resolve: static, participants: [p, q]}, fan_in: {policy: all}, `+keep("ask", "{{ outcome.result.responses }}")+`}
      - {name: plain, kind: plain, input: {N: 5}, `+keep("plain", "{{ outcome.result.N }}")+`}`), nil)
	require.Equal(t, map[string]any{
		"pure": mark, "reply": []any{mark, mark}, "ask": []any{"p heard " + mark, "q heard " + mark}, "plain": int64(5),
	}, got)
	for range 4 {
		require.Equal(t, "hush-hush", <-heard)
	}
}

// Texts that are cut (the end of a stream, its last line in a message, an error page) are redacted first: half a secret would not
// be recognized.
func TestCutTextsHoldNoPartOfASecret(t *testing.T) {
	const secret = "QXZJKVWYQXJZ-KVYWQJXZ\nVVKKQQZZ-second/line"
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, strings.Repeat("x", 64<<10-9)+secret)
	}))
	defer page.Close()
	t.Setenv("SLUICE_TEST_TOKEN", secret)
	goOn := "spec: {policy: {rules: [{else: {then: {do: continue}}}]}}"
	shell := func(name, script string, more string) string {
		return "\n      - {name: " + name + ", kind: shell, shell: '" + script + "', env: {S: '{{ keychain.k.s }}'}, " + more + goOn + "}"
	}
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{
		operation.Define("long", func(_ context.Context, text string) (any, error) {
			return nil, operation.Permanent(errors.New(strings.Repeat("x", operation.MessageMax-9) + text))
		}),
	}})
	r := begin(t, e, "keychain: [{name: k, kind: env, data: {s: SLUICE_TEST_TOKEN}}]\n"+once(
		shell("last", `printf "%0490d%s" 0 "$S" | tr "\n" " " >&2; exit 1`, "")+
			shell("begun", `printf "%s" "$S" >&2; head -c 65520 /dev/zero | tr "\0" x >&2; exit 1`, "")+
			shell("data", `printf "%s" "$S"; head -c 65520 /dev/zero | tr "\0" x; exit 1`, "output: text, ")+
			shell("out", `printf "%s" "$S"; head -c 1048560 /dev/zero | tr "\0" x`, "")+
			shell("one", `printf "%s" "$S" | head -n 1; printf "%s" "$S" | base64 -w 20`, "output: lines, ")+
			shell("half", `printf "%.12s" "$S" >&2; exit 1`, "")+`
      - {name: page, kind: http, url: "`+page.URL+`", headers: {X-Key: "{{ keychain.k.s[:5] }}"}, `+goOn+`}
      - {name: long, kind: long, input: "{{ keychain.k.s }}", `+goOn+`}`), nil)
	require.NoError(t, wait(t, r).Err())
	seen := readAll(t, r)
	require.Contains(t, seen, "‹keychain:k.s›")
	encoded := base64.StdEncoding.EncodeToString([]byte(secret))
	for _, text := range []string{secret[:21], secret[22:], encoded[:len(encoded)-4]} {
		for i := range len(text) - 6 {
			require.NotContains(t, seen, text[i:i+6])
		}
	}
}

// Config.SecretTimeout bounds the request for a secret.
func TestTheServerOfASecretTimesOut(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done() // of the client's connection
	}))
	t.Cleanup(server.Close)
	e := newEngine(t, coordinator.Config{SecretTimeout: 1, Operations: []coordinator.Operation{echo}})
	_, err := e.Start(t.Context(), routes(t, `
keychain: [{name: api, kind: http, endpoint: "`+server.URL+`/token", data: {client: shop, secret: 'file "secret"/1'}}]
workflow: [{step: a, tool: {kind: echo, input: "{{ keychain.api.access_token }}"}}]
`), nil)
	require.ErrorIs(t, err, keychain.ErrUnavailable)
	require.ErrorContains(t, err, "api: cancelled")
}

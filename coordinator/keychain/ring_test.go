package keychain_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/secret"
	"github.com/sluiceflow/sluice/template/value"
)

// book returns a playbook with a keychain, whose only call has the given input.
func book(t testing.TB, chain, reads string) *playbook.Playbook {
	text := "apiVersion: sluice/v1\nkind: Playbook\nmetadata: {name: p}\nworkload: {user: ann}\n" + chain +
		"\nworkflow: [{step: s, tool: {kind: work, list: [" + reads + "]}}]\n"
	checked, err := playbook.Load("p.yaml", []byte(text), template.Known{Operation: func(string) bool { return true }})
	require.NoError(t, err)
	b, _ := playbook.Of(checked.Workflow)
	return b
}

func ring(b *playbook.Playbook) *keychain.Ring {
	return keychain.NewRings(time.Minute, nil).Of(context.Background(), "r", &template.Workflow{Routing: b}, b.WorkloadOf(nil), "")
}

func TestAPlaybookWithoutAKeychainHasNoRing(t *testing.T) {
	require.Nil(t, ring(book(t, "", "")))
}

func TestACallReceivesItsSecretsAndNoOthers(t *testing.T) {
	t.Setenv("SLUICE_A", "alpha-secret")
	t.Setenv("SLUICE_B", "beta-secret")
	r := ring(book(t, "keychain: [{name: k, kind: env, data: {a: SLUICE_A, b: SLUICE_B}}]", ""))
	a, b := secret.Mark("k", "a"), secret.Mark("k", "b")
	in := map[string]any{"x": "<" + a + a + ">", b: []any{b, int64(1), nil}}
	out, err := r.Reveal(t.Context(), []string{a}, in)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"x": "<alpha-secretalpha-secret>", b: []any{b, int64(1), nil}}, out)
	require.Equal(t, "<"+a+a+">", in["x"], "the journaled input does not change")
	out, err = r.Reveal(t.Context(), nil, in)
	require.NoError(t, err)
	require.Equal(t, in, out)
}

// A redacted text equals the text with marks in place of the secrets, and contains none of them.
func TestRedactedTextsHoldNoSecret(t *testing.T) {
	secrets := []string{"alpha-secret", "alpha-secret/2", `qu"ot\e & <more>`, "190337"}
	marks := make([]string, len(secrets))
	data := make([]string, len(secrets))
	for i, s := range secrets {
		t.Setenv(fmt.Sprint("SLUICE_", i), s)
		marks[i], data[i] = secret.Mark("k", fmt.Sprint("n", i)), fmt.Sprintf("n%d: SLUICE_%d", i, i)
	}
	r := ring(book(t, "keychain: [{name: k, kind: env, data: {"+strings.Join(data, ", ")+"}}]", ""))
	require.NoError(t, r.Resolve(t.Context()))
	rapid.Check(t, func(t *rapid.T) {
		var plain, hidden []string
		for range rapid.IntRange(0, 6).Draw(t, "parts") {
			if i := rapid.IntRange(-1, len(secrets)-1).Draw(t, "part"); i >= 0 {
				plain, hidden = append(plain, secrets[i]), append(hidden, marks[i])
			} else {
				plain, hidden = append(plain, " x "), append(hidden, " x ")
			}
		}
		text, want := strings.Join(plain, "|"), strings.Join(hidden, "|")
		require.Equal(t, want, r.Redact(text))
		require.Equal(t, []any{map[string]any{want: want, "n": marks[3]}}, r.Redact([]any{map[string]any{text: text, "n": int64(190337)}}))
		inJSON, err := value.JSON(map[string]any{"text": text})
		require.NoError(t, err)
		for _, s := range secrets {
			require.NotContains(t, r.Redact(string(inJSON)), s)
		}
	})
}

func TestRedactedErrorsKeepTheirIdentity(t *testing.T) {
	t.Setenv("SLUICE_A", "alpha-secret")
	r := ring(book(t, "keychain: [{name: k, kind: env, data: {a: SLUICE_A}}]", ""))
	plain := errors.New("before there are secrets")
	require.Equal(t, plain, r.RedactError(plain))
	require.NoError(t, r.Resolve(t.Context()))
	require.NoError(t, r.RedactError(nil))
	at := time.Unix(0, 1234567890)
	err := r.RedactError(&operation.Error{
		Code: "c", Message: "it was alpha-secret", Details: map[string]any{"said": "alpha-secret"}, Permanent: true, RetryAt: at, Err: operation.ErrUnreachable,
	})
	f, retryAt := operation.FailureOf(err)
	mark := secret.Mark("k", "a")
	require.Equal(t, "c: it was "+mark, f.Error())
	require.Equal(t, map[string]any{"said": mark}, f.Details)
	require.False(t, f.Retryable)
	require.Equal(t, at.UnixNano(), retryAt)
	require.ErrorIs(t, err, operation.ErrUnreachable)
	require.NotContains(t, fmt.Sprintf("%+v %v %v", err, err, errors.Unwrap(err)), "alpha")
}

// server issues numbered tokens.
type server struct {
	*httptest.Server
	asked   atomic.Int32
	expires atomic.Int32
	down    atomic.Bool
}

func newServer(t *testing.T) *server {
	s := &server{}
	s.expires.Store(60)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.down.Load() {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"token": "%s-%s-%d", "expires_in": %d, "list": []}`, r.URL.Path[1:], r.Header.Get("X-Key"), s.asked.Add(1), s.expires.Load())
	}))
	t.Cleanup(s.Close)
	return s
}

func TestAnAnswerIsRenewedBeforeItExpires(t *testing.T) {
	s := newServer(t)
	t.Setenv("SLUICE_A", "alpha-secret")
	b := book(t, `keychain:
  - {name: k, kind: env, data: {a: SLUICE_A}}
  - {name: api, kind: http, auto_renew: true, endpoint: "`+s.URL+`/{{ workload.user }}", headers: {X-Key: "{{ keychain.k.a }}"}}`,
		"'{{ keychain.api.token }}'")
	mark := secret.Mark("api", "token")
	r := ring(b)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			v, err := r.Reveal(t.Context(), []string{mark}, mark)
			require.NoError(t, err)
			require.Equal(t, "ann-alpha-secret-1", v, "calls that wait for one answer share it")
		})
	}
	all.Wait()

	s.expires.Store(0)
	r = ring(b)
	first, err := r.Reveal(t.Context(), []string{mark}, mark)
	require.NoError(t, err)
	second, err := r.Reveal(t.Context(), []string{mark}, mark)
	require.NoError(t, err)
	require.Equal(t, []any{"ann-alpha-secret-2", "ann-alpha-secret-3"}, []any{first, second})
	require.Equal(t, mark+" "+mark, r.Redact("ann-alpha-secret-2 ann-alpha-secret-3"), "replaced secrets are redacted, too")

	s.down.Store(true)
	_, err = r.Reveal(t.Context(), []string{mark}, mark)
	require.ErrorIs(t, err, keychain.ErrUnavailable)
	_, err = r.Reveal(t.Context(), nil, "nothing is needed")
	require.NoError(t, err)
}

func TestAllMissingSecretsAreReported(t *testing.T) {
	s := newServer(t)
	t.Setenv("SLUICE_A", "abc")
	r := ring(book(t, `keychain:
  - {name: k, kind: env, data: {a: SLUICE_A, b: SLUICE_NONE}}
  - {name: f, kind: file, data: {c: /nowhere/at/all}}
  - {name: api, kind: http, endpoint: "`+s.URL+`/x", headers: {X-Key: "{{ keychain.k.a }}"}}
  - {name: odd, kind: http, endpoint: "`+s.URL+`/x", data: {}}`,
		"'{{ keychain.api.token }}', '{{ keychain.odd.list }}', '{{ keychain.odd.none }}'"))
	err := r.Resolve(t.Context())
	require.ErrorIs(t, err, keychain.ErrUnavailable)
	for _, text := range []string{
		"k: a: it has fewer than 4 bytes", "b: the environment has no variable SLUICE_NONE", "f: c: open /nowhere/at/all", "api: it needs k",
		"odd: list: the server's answer has a list, not a text", "none: the server's answer does not have it",
	} {
		require.ErrorContains(t, err, text)
	}
	require.NotContains(t, err.Error(), "abc")
	s.down.Store(true)
	require.ErrorContains(t, r.Resolve(t.Context()), "503")
}

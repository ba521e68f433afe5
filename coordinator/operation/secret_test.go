package operation_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/playbook"
)

// ringWith returns a ring that holds a secret.
func ringWith(t testing.TB, secret string) *keychain.Ring {
	t.Helper()
	t.Setenv("SLUICE_SECRET", secret)
	checked, err := playbook.Load("p.yaml", []byte(`
apiVersion: sluice/v1
kind: Playbook
metadata: {name: p}
keychain: [{name: k, kind: env, data: {s: SLUICE_SECRET}}]
workflow: [{step: s, tool: {kind: work}}]
`), template.Known{Operation: func(string) bool { return true }})
	require.NoError(t, err)
	ring := keychain.NewRings(time.Minute, nil).Of(t.Context(), "r", checked.Workflow, nil, "")
	require.NoError(t, ring.Resolve(t.Context()))
	return ring
}

// holder is the Host of calls with secrets.
type holder struct{ ring *keychain.Ring }

func (holder) Report(operation.Progress) (<-chan error, error) { return nil, operation.ErrNoCall }
func (holder) TakeText(context.Context, int) error             { return nil }
func (holder) TakeValue(context.Context, int) error            { return nil }
func (h holder) Redactor() operation.Redactor                  { return h.ring }

// resultTexts makes a call with a secret. It returns all texts of the result that would be journaled, and reports whether the call
// failed.
func resultTexts(t testing.TB, caller operation.Caller, ring *keychain.Ring, input any) (text string, failed bool) {
	t.Helper()
	c := newCall(input)
	c.HostBy(holder{ring})
	out, err := caller.Call(c)
	left := []any{ring.Redact(out)}
	if err != nil {
		f, _ := operation.FailureOf(ring.RedactError(err))
		left = append(left, f.Code, f.Message, f.Details)
	}
	data, err2 := json.Marshal(left)
	require.NoError(t, err2)
	return string(data), err != nil
}

// testServers returns the addresses of servers, by their behaviour. Their answers may repeat the URL of a request.
func testServers(t *testing.T) map[string]string {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	echo := func(status int, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"uri": r.RequestURI, "path": r.URL.Path, "raw": r.URL.RawQuery, "query": r.URL.Query(), "header": r.Header,
		})
	}
	raw := func(answer func(line string) string) string {
		return rawServer(t, func(in *bufio.Reader, out net.Conn) {
			line, _ := in.ReadString('\n')
			_, _ = io.WriteString(out, answer(strings.TrimSpace(line)))
		})
	}
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	return map[string]string{
		"is away":    closed.Addr().String(),
		"answers":    serve(t, func(w http.ResponseWriter, r *http.Request) { echo(200, w, r) }).Listener.Addr().String(),
		"refuses":    serve(t, func(w http.ResponseWriter, r *http.Request) { echo(403, w, r) }).Listener.Addr().String(),
		"hangs up":   raw(func(string) string { return "" }),
		"babbles":    raw(func(line string) string { return line + "\r\n\r\n" }),
		"misheads":   raw(func(line string) string { return "HTTP/1.1 200 OK\r\n" + line + "\r\n\r\n" }),
		"misdirects": raw(func(line string) string { return "HTTP/1.1 302 No\r\nLocation: http://[" + line + "\r\n\r\n" }),
		"speaks TLS": secure.Listener.Addr().String(),
	}
}

// rawServer starts a server that passes each connection to serve.
func rawServer(t *testing.T, serve func(in *bufio.Reader, out net.Conn)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				serve(bufio.NewReader(conn), conn)
			}()
		}
	}()
	return l.Addr().String()
}

// If a secret is any part of a URL, no text that the client derives from it is visible, for any outcome of the request.
func TestNoPartOfASecretInAURLIsShown(t *testing.T) {
	servers := testServers(t)
	direct := bind(t, template.Binding{HTTP: &template.HTTP{URL: "{{ input }}"}})
	nowhere := func(_ context.Context, _, host string) ([]netip.Addr, error) {
		return nil, &net.DNSError{Err: "no such host", Name: strings.ToLower(host), IsNotFound: true}
	}
	proxied := operation.WithProxy(direct, &url.URL{Scheme: "http", Host: servers["is away"]}, nowhere)
	rapid.Check(t, func(r *rapid.T) {
		word := func(name string) string { return rapid.StringMatching(`[QXZJqxzj]{6,20}`).Draw(r, name) }
		server := servers[rapid.SampledFrom([]string{
			"is away", "answers", "refuses", "hangs up", "babbles", "misheads", "misdirects", "speaks TLS",
		}).Draw(r, "server")]
		scheme := rapid.SampledFrom([]string{"http", "HTTP", "https", "Https"}).Draw(r, "scheme")
		caller, secret, address := direct, "", ""
		switch rapid.SampledFrom([]string{"whole", "user", "path", "query", "port", "host"}).Draw(r, "secret is") {
		case "whole":
			secret = scheme + "://" + rapid.SampledFrom([]string{"", "u:" + word("password") + "@", "u:%41" + word("password") + "@"}).Draw(r, "user") +
				server + "/" + word("path") + rapid.SampledFrom([]string{"", "/../" + word("up"), "%2f" + word("escaped"), " " + word("space"), "é" + word("accent")}).Draw(r, "more") +
				rapid.SampledFrom([]string{"", "?k=" + word("query"), "?" + word("query"), "?a=b&k=+%20" + word("query")}).Draw(r, "query") +
				rapid.SampledFrom([]string{"", "#" + word("fragment")}).Draw(r, "fragment")
			address = secret
		case "user":
			secret = word("secret") + rapid.SampledFrom([]string{"", ":" + word("more"), "%3A" + word("more"), "/" + word("more"), "@" + word("more")}).Draw(r, "kind")
			address = scheme + "://" + secret + "@" + server + "/"
		case "path":
			secret = word("secret") + rapid.SampledFrom([]string{"", "%2f", "%zz", "?k=", "#", "//"}).Draw(r, "kind") + word("more")
			address = scheme + "://" + server + "/" + secret
		case "query":
			secret = word("secret") + rapid.SampledFrom([]string{"", "%2f", "%zz", "+", "#", "\x00"}).Draw(r, "kind") + word("more")
			secret = strings.ReplaceAll(secret, "\x00", "\x7f")
			address = scheme + "://" + server + "/?k=" + secret
		case "port":
			secret = rapid.SampledFrom([]string{word("port"), "0000000" + server[strings.LastIndexByte(server, ':')+1:]}).Draw(r, "port")
			address = scheme + "://127.0.0.1:" + secret + "/"
		case "host":
			secret = word("secret") + rapid.SampledFrom([]string{"", "/", "?", ".é", "%41", ":", "[", "é"}).Draw(r, "kind") + word("more")
			address, caller = scheme+"://"+secret+".invalid/", proxied
		}
		text, _ := resultTexts(t, caller, ringWith(t, secret), address)
		requireHidden(r, text, secret)
	})
}

// requireHidden fails if six consecutive letters of a secret are readable, in upper or lower case.
func requireHidden(t require.TestingT, text, secret string) {
	text, secret = strings.ToLower(text), strings.ToLower(secret)
	notOurs := func(r rune) bool { return !strings.ContainsRune("qxzj0", r) }
	for _, word := range strings.FieldsFunc(secret, notOurs) {
		for i := 0; i+6 <= len(word); i++ {
			require.NotContains(t, text, word[i:i+6], "of %q", secret)
		}
	}
}

func TestNoPartOfASecretInACommandIsShown(t *testing.T) {
	for i, b := range []template.Command{
		{Argv: []string{"{{ input }}"}},
		{Argv: []string{"/{{ input }}//../x"}},
		{Argv: []string{"/bin/sh", "{{ input }}"}},
		{Argv: []string{"true"}, Dir: "/{{ input }}//../x"},
		{Argv: []string{"true", "{{ input }}\x00"}},
		{Argv: []string{"true"}, Env: map[string]string{"A": "{{ input }}\x00"}},
		{Shell: `"$S"`, Env: map[string]string{"S": "{{ input }}"}},
		{Shell: `cd "/$S"`, Env: map[string]string{"S": "{{ input }}"}},
		{Argv: []string{"printf", "%s", "{{ input }}"}, Output: "json"},
	} {
		for _, secret := range []string{"QXZJQXZJqxzj", "QXZJQXZJ/qxzjqxzj", "QXZJQXZJ//../qxzjqxzj", "./QXZJQXZJ;qxzjqxzj", "QXZJQXZJ:qxzjqxzj"} {
			t.Run(fmt.Sprint(i, " ", strings.ReplaceAll(secret, "/", "|")), func(t *testing.T) {
				text, failed := resultTexts(t, bind(t, template.Binding{Command: &b}), ringWith(t, secret), secret)
				require.True(t, failed, text)
				requireHidden(t, text, secret)
			})
		}
	}
}

// Errors of requests consist of parts that were redacted before the client changed them. For example, a secret in a Punycode host
// could not be recognized.
func TestErrorsOfRequestsConsistOfRedactedParts(t *testing.T) {
	lookup := func(context.Context, string, string) ([]netip.Addr, error) {
		return nil, &net.DNSError{Err: "no such host", Name: "xn--jqxz-bpa.example", IsNotFound: true}
	}
	caller := operation.WithProxy(bind(t, template.Binding{HTTP: &template.HTTP{URL: "{{ input }}"}}), &url.URL{Scheme: "http", Host: "127.0.0.1:1"}, lookup)
	const mark = "‹keychain:k.s›"
	for secret, tt := range map[string]struct{ address, place string }{
		"JéQXZ.example":                {"http://ann:x@JéQXZ.example/a?b#c", "http://" + mark + "/a"},
		"http://u:QXZJ@h.example/QXZJ": {"http://u:QXZJ@h.example/QXZJ/b?c", mark + "/b"},
		"QXZJ/QXZJ":                    {"http://QXZJ/QXZJ/b?c", "http://" + mark + "/b"},
		"QXZJ:QXZJ":                    {"http://QXZJ:QXZJ@h.example", "http://h.example"},
	} {
		c := newCall(tt.address)
		c.HostBy(holder{ringWith(t, secret)})
		_, err := caller.Call(c)
		require.Equal(t, "GET "+tt.place+": a proxy is used only for hosts whose addresses are known: look up the host: no such host", failure(t, err).Message)
	}
}

package operation_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/template"
)

// serve starts a server that lives as long as the test.
func serve(t testing.TB, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(func() {
		operation.CloseIdleConnections()
		s.Close()
	})
	return s
}

func request(t testing.TB, b template.HTTP, input any) (map[string]any, error) {
	t.Helper()
	out, err := bind(t, template.Binding{HTTP: &b}).Call(newCall(input))
	answer, _ := out.(map[string]any)
	return answer, err
}

func TestRequests(t *testing.T) {
	for _, tt := range []struct {
		name   string
		http   template.HTTP
		in     any
		line   string
		body   string
		header map[string]string
	}{
		{"GET is the default", template.HTTP{URL: "/a?b={{ input }}"}, "c", "GET /a?b=c", "",
			map[string]string{"Idempotency-Key": "r/s[1]", "Content-Type": "", "User-Agent": "sluice"}},
		{"POST with a body", template.HTTP{URL: "/", Body: "{{ input }}"}, "as it is", "POST /", "as it is", map[string]string{"Content-Type": ""}},
		{"JSON unless it is a text", template.HTTP{URL: "/", Body: map[string]any{"n": "{{ input }}"}}, 7, "POST /", `{"n":7}`,
			map[string]string{"Content-Type": "application/json", "Idempotency-Key": "r/s[1]"}},
		{"null is JSON too", template.HTTP{URL: "/", Body: "{{ input }}"}, nil, "POST /", "null",
			map[string]string{"Content-Type": "application/json"}},
		{"the binding's method and headers", template.HTTP{URL: "/", Method: "{{ 'put' }}", Body: []any{1}, Headers: map[string]string{
			"content-type": "application/x-mine+json", "idempotency-key": "{{ input }}", "X-None": "{{ null }}", "user-agent": "me"}},
			"mine", "PUT /", "[1]", map[string]string{
				"Content-Type": "application/x-mine+json", "Idempotency-Key": "mine", "X-None": "", "User-Agent": "me"}},
		{"the host", template.HTTP{URL: "/", Headers: map[string]string{"host": "orders.example"}}, nil, "GET /", "",
			map[string]string{"Host": "orders.example"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Host == "orders.example" {
					r.Header.Set("Host", r.Host)
				}
				for name, want := range tt.header {
					if got := r.Header.Get(name); got != want {
						t.Errorf("header %s = %q, want %q", name, got, want)
					}
				}
				body, err := io.ReadAll(r.Body)
				if err != nil || string(body) != tt.body {
					t.Errorf("body = %q, %v, want %q", body, err, tt.body)
				}
				_, _ = io.WriteString(w, r.Method+" "+r.URL.RequestURI())
			})
			tt.http.URL = s.URL + tt.http.URL
			answer, err := request(t, tt.http, tt.in)
			require.NoError(t, err)
			require.Equal(t, tt.line, answer["body"])
		})
	}
}

func TestTheKeyNamesTheParticipant(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Header.Get("Idempotency-Key"))
	})
	c := newCall(nil)
	c.Participant = "ann"
	out, err := bind(t, template.Binding{HTTP: &template.HTTP{URL: s.URL}}).Call(c)
	require.NoError(t, err)
	require.Equal(t, "r/s[1]/ann", out.(map[string]any)["body"])
}

func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		media  string
		body   string
		want   any
	}{
		{"JSON is parsed", 200, "application/json; charset=utf-8", `{"n": 1}`, map[string]any{"n": int64(1)}},
		{"also of a special kind", 201, "application/problem+json", `[]`, []any{}},
		{"empty JSON is null", 200, "application/json", " ", nil},
		{"everything else is a text", 200, "text/plain", `{"n": 1}`, `{"n": 1}`},
		{"a status that is not an error", 300, "text/plain", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tt.media)
				w.Header().Add("X-Twice", "a")
				w.Header().Add("X-Twice", "b")
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			})
			answer, err := request(t, template.HTTP{URL: s.URL}, nil)
			require.NoError(t, err)
			require.Equal(t, int64(tt.status), answer["status"])
			require.Equal(t, tt.want, answer["body"])
			headers := answer["headers"].(map[string]any)
			require.Equal(t, "a, b", headers["x-twice"])
			require.Equal(t, tt.media, headers["content-type"])
		})
	}
}

func TestStatusesThatAreErrors(t *testing.T) {
	for status, permanent := range map[int]bool{
		400: true, 401: true, 403: true, 404: true, 409: true, 422: true, 451: true,
		408: false, 425: false, 429: false, 500: false, 501: false, 502: false, 503: false, 504: false, 599: false,
	} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Retry-After", "Fri, 31 Dec 1999 23:59:59 GMT")
				w.WriteHeader(status)
				_, _ = io.WriteString(w, `{"why": "no"}`)
			})
			_, err := request(t, template.HTTP{URL: s.URL + "/a%20b?secret=1"}, nil)
			e := failure(t, err)
			require.Equal(t, "http_"+strconv.Itoa(status), e.Code)
			require.Equal(t, permanent, e.Permanent)
			require.Equal(t, permanent, e.RetryAt.IsZero())
			if !permanent {
				require.Equal(t, int64(946684799), e.RetryAt.Unix())
			}
			require.Contains(t, e.Message, "GET "+s.URL+"/a%20b: "+strconv.Itoa(status))
			require.NotContains(t, e.Message, "secret")
			details := e.Details.(map[string]any)
			require.Equal(t, int64(status), details["status"])
			require.Equal(t, map[string]any{"why": "no"}, details["body"])
		})
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"":                              {},
		"soon":                          {},
		"-1":                            {},
		"1.5":                           {},
		"0":                             now,
		"120":                           now.Add(2 * time.Minute),
		"Thu, 01 Jan 2026 00:00:30 GMT": now.Add(30 * time.Second),
		"Wed, 31 Dec 2025 00:00:00 GMT": now.Add(-24 * time.Hour),
		"99999999":                      {},
		"99999999999999999999":          {},
		"Sat, 01 Jan 2028 00:00:00 GMT": {},
	} {
		t.Run(text, func(t *testing.T) {
			require.True(t, want.Equal(operation.RetryAfter(text, now)), "%v", operation.RetryAfter(text, now))
		})
	}
}

func TestBodiesOfErrorsWithoutJSONAreTexts(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	for _, tt := range []struct{ name, body, want string }{
		{"malformed", "{", "{"},
		{"long", long, strings.Repeat("é", 32<<10)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(500)
				_, _ = io.WriteString(w, tt.body)
			})
			_, err := request(t, template.HTTP{URL: s.URL}, nil)
			require.Equal(t, tt.want, failure(t, err).Details.(map[string]any)["body"])
		})
	}
}

func TestAnswersThatCannotBeUsed(t *testing.T) {
	for _, tt := range []struct {
		name      string
		handler   http.HandlerFunc
		code      string
		permanent bool
	}{
		{"malformed JSON", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{")
		}, operation.CodeInvalidOutput, true},
		{"too large", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(make([]byte, operation.ResponseMax+1))
		}, operation.CodeTooLarge, true},
		{"cut off in the body", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "short")
		}, operation.CodeTransport, false},
		{"cut off before the head", func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, operation.CodeTransport, false},
		{"redirected for ever", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/again", http.StatusFound)
		}, operation.CodeRedirect, true},
		{"redirected to a file", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "file:///etc/passwd")
			w.WriteHeader(http.StatusFound)
		}, operation.CodeRedirect, true},
		{"redirected to a forbidden address", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data", http.StatusFound)
		}, operation.CodeAddressRefused, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := request(t, template.HTTP{URL: serve(t, tt.handler).URL, FollowRedirects: template.FollowAny}, nil)
			e := failure(t, err)
			require.Equal(t, tt.code, e.Code, e.Message)
			require.Equal(t, tt.permanent, e.Permanent)
			require.True(t, strings.HasPrefix(e.Message, "GET http://"), e.Message)
		})
	}
}

func TestTheLargestBodyIsReadWhole(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, operation.ResponseMax)) })
	answer, err := request(t, template.HTTP{URL: s.URL}, nil)
	require.NoError(t, err)
	require.Len(t, answer["body"], operation.ResponseMax)
}

func TestRequestsThatCannotBeMade(t *testing.T) {
	for _, tt := range []struct {
		name string
		http template.HTTP
		in   any
		code string
	}{
		{"no scheme", template.HTTP{URL: "{{ input }}"}, "localhost/a", operation.CodeInvalidRequest},
		{"another scheme", template.HTTP{URL: "{{ input }}"}, "file:///etc/passwd", operation.CodeInvalidRequest},
		{"no host", template.HTTP{URL: "{{ input }}"}, "http:///a", operation.CodeInvalidRequest},
		{"a malformed URL", template.HTTP{URL: "{{ input }}"}, "http://a b/", operation.CodeInvalidRequest},
		{"a port beyond the last", template.HTTP{URL: "{{ input }}"}, "http://127.0.0.1:99999/", operation.CodeInvalidRequest},
		{"a malformed method", template.HTTP{URL: "http://h/", Method: "G T"}, nil, operation.CodeInvalidRequest},
		{"a malformed header", template.HTTP{URL: "http://h/", Headers: map[string]string{"a b": "c"}}, nil, operation.CodeInvalidRequest},
		{"an injected header", template.HTTP{URL: "http://h/", Headers: map[string]string{"a": "b\r\nc: d"}}, nil, operation.CodeInvalidRequest},
		{"the link's own addresses", template.HTTP{URL: "http://169.254.169.254/"}, nil, operation.CodeAddressRefused},
		{"the same, mapped", template.HTTP{URL: "http://[::ffff:169.254.169.254]/"}, nil, operation.CodeAddressRefused},
		{"the same, of IPv6", template.HTTP{URL: "http://[fe80::1%25lo]/"}, nil, operation.CodeAddressRefused},
		{"a cloud's", template.HTTP{URL: "http://[fd00:ec2::254]/"}, nil, operation.CodeAddressRefused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := request(t, tt.http, tt.in)
			e := failure(t, err)
			require.Equal(t, tt.code, e.Code, e.Message)
			require.True(t, e.Permanent)
			require.NotContains(t, e.Message, "net/http")
		})
	}
}

// Every status from 200 to 399 is a result, including a redirect without a target. An empty body declared as JSON is null.
func TestAnswersThatAreResults(t *testing.T) {
	for _, tt := range []struct {
		status int
		header map[string][]string
		body   any
	}{
		{http.StatusNoContent, nil, ""},
		{http.StatusOK, map[string][]string{"Content-Type": {"application/json"}}, nil},
		{http.StatusFound, nil, ""},
		{http.StatusNotModified, nil, ""},
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			maps.Copy(w.Header(), tt.header)
			w.Header()["X-Twice"] = []string{"a", "b"}
			w.WriteHeader(tt.status)
		})
		answer, err := request(t, template.HTTP{URL: s.URL}, nil)
		require.NoError(t, err)
		require.Equal(t, int64(tt.status), answer["status"])
		require.Equal(t, tt.body, answer["body"])
		require.Equal(t, "a, b", answer["headers"].(map[string]any)["x-twice"])
	}
}

func TestAnUnreachableServerIsRetried(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	_, err = request(t, template.HTTP{URL: "http://" + l.Addr().String() + "/a?secret=1"}, nil)
	e := failure(t, err)
	require.Equal(t, operation.CodeTransport, e.Code)
	require.False(t, e.Permanent)
	require.Contains(t, e.Message, "connection refused")
	require.NotContains(t, e.Message, "secret")
}

func TestRedirectsAreFollowedWithTheBody(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		if n < 10 {
			http.Redirect(w, r, fmt.Sprintf("/%d", n+1), http.StatusPermanentRedirect)
			return
		}
		_, _ = fmt.Fprintf(w, "%s %s %s", r.Method, body, r.Header.Get("Idempotency-Key"))
	})
	answer, err := request(t, template.HTTP{URL: s.URL + "/0", Body: "text"}, nil)
	require.NoError(t, err)
	require.Equal(t, "POST text r/s[1]", answer["body"])
}

func TestTheEndOfACallEndsItsRequest(t *testing.T) {
	for _, head := range []bool{false, true} {
		t.Run(fmt.Sprint("with the answer begun: ", head), func(t *testing.T) {
			arrived, gone := make(chan bool), make(chan bool)
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if head {
					w.WriteHeader(200)
					_ = http.NewResponseController(w).Flush()
				}
				arrived <- true
				<-r.Context().Done()
				close(gone)
			})
			c := newCall(nil)
			done := start(bind(t, template.Binding{HTTP: &template.HTTP{URL: s.URL}}), c)
			<-arrived
			because := errors.New("aborted by ann")
			c.End(because)
			err := <-done
			require.ErrorIs(t, err, because)
			require.Equal(t, operation.CodeCancelled, failure(t, err).Code)
			<-gone
		})
	}
}

// An answer that switches protocols has no end, and is refused.
func TestAnAnswerThatSwitchesProtocolsIsRefused(t *testing.T) {
	gone := make(chan error, 1)
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = rw.WriteString("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhello")
		_ = rw.Flush()
		_, err = io.Copy(io.Discard, rw) // until the client closes the connection
		gone <- err
	})
	_, err := request(t, template.HTTP{URL: s.URL, Headers: map[string]string{"Connection": "Upgrade", "Upgrade": "x"}}, nil)
	e := failure(t, err)
	require.Equal(t, "http_101", e.Code)
	require.True(t, e.Permanent)
	require.Contains(t, e.Message, "101 Switching Protocols")
	require.NoError(t, <-gone)
}

// Endless interim answers end with the call, or at the bound of the header.
func TestInterimAnswersEnd(t *testing.T) {
	interim := func(begun chan<- bool) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, rw, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = conn.Close() }()
			for i := 0; err == nil; i++ {
				_, _ = rw.WriteString("HTTP/1.1 102 Processing\r\n\r\n")
				if err = rw.Flush(); i == 0 && begun != nil {
					close(begun)
					_, _ = rw.ReadByte() // waits for the client to close the connection
				}
			}
		}
	}
	_, err := request(t, template.HTTP{URL: serve(t, interim(nil)).URL}, nil)
	require.Equal(t, operation.CodeTransport, failure(t, err).Code)

	begun := make(chan bool)
	c := newCall(nil)
	done := start(bind(t, template.Binding{HTTP: &template.HTTP{URL: serve(t, interim(begun)).URL}}), c)
	<-begun
	c.End(errors.New("aborted by ann"))
	require.Equal(t, operation.CodeCancelled, failure(t, <-done).Code)
}

func TestConnectionsAreKept(t *testing.T) {
	var opened atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(map[bool]int{true: 503, false: 200}[r.URL.Path == "/busy"])
		_, _ = io.WriteString(w, "answer")
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	defer operation.CloseIdleConnections()
	for i := range 20 {
		_, err := request(t, template.HTTP{URL: s.URL + map[bool]string{true: "/busy", false: "/"}[i%2 == 0]}, nil)
		require.Equal(t, i%2 == 0, err != nil)
	}
	require.EqualValues(t, 1, opened.Load())
}

func BenchmarkHTTP(b *testing.B) {
	s := serve(b, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"price": 5}`)
	})
	caller := bind(b, template.Binding{HTTP: &template.HTTP{URL: s.URL, Body: map[string]any{"lines": "{{ input }}"}}})
	out, err := caller.Call(newCall([]any{"a"}))
	require.NoError(b, err)
	require.Equal(b, map[string]any{"price": int64(5)}, out.(map[string]any)["body"])
	b.ReportAllocs()
	for b.Loop() {
		if _, err := caller.Call(newCall([]any{"a"})); err != nil {
			b.Fatal(err)
		}
	}
}

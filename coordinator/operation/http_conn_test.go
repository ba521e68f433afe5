package operation_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/template"
)

// logged returns a function that stops recording the process's log and returns it.
func logged(t *testing.T) func() string {
	var text bytes.Buffer // guarded by the logger's lock
	before := log.Writer()
	log.SetOutput(&text)
	t.Cleanup(func() { log.SetOutput(before) })
	return func() string {
		log.SetOutput(io.Discard)
		return text.String()
	}
}

// Unrequested data from a server does not reach the log of the process.
func TestUnaskedDataOfAServerIsNotLogged(t *testing.T) {
	const answer, more = "HTTP/1.1 204 No\r\n\r\n", "A: QXZJQXZJ\r\n\x1b]0;title\a\u202e"
	answered, ended := make(chan bool), make(chan bool, 1)
	ask := func(in *bufio.Reader) {
		for line := ""; line != "\r\n"; {
			var err error
			if line, err = in.ReadString('\n'); err != nil {
				t.Error("the connection has ended before the request:", err)
				return
			}
		}
	}
	for name, tt := range map[string]struct {
		secret bool
		serve  func(in *bufio.Reader, out net.Conn)
	}{
		"before it is asked": {false, func(in *bufio.Reader, out net.Conn) {
			_, _ = io.WriteString(out, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
			ask(in)
			<-answered
		}},
		"with its answer": {true, func(in *bufio.Reader, out net.Conn) {
			ask(in)
			_, _ = io.WriteString(out, answer+more)
			<-answered
		}},
		"after its answer": {false, func(in *bufio.Reader, out net.Conn) {
			ask(in)
			_, _ = io.WriteString(out, answer)
			<-answered
			_, _ = io.WriteString(out, more)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			told := logged(t)
			address := rawServer(t, func(in *bufio.Reader, out net.Conn) {
				tt.serve(in, out)
				_, _ = io.Copy(io.Discard, in) // to the end of the connection
				ended <- true
			})
			c := newCall(nil)
			if tt.secret {
				c.HostBy(holder{ringWith(t, "QXZJQXZJ")})
			}
			_, err := bind(t, template.Binding{HTTP: &template.HTTP{URL: "http://" + address}}).Call(c)
			require.NoError(t, err)
			answered <- true
			<-ended
			require.Empty(t, told())
		})
	}
}

// Connections of calls with secrets are used once, except those of HTTP/2.
func TestConnectionsThatCarrySecrets(t *testing.T) {
	for _, tt := range []struct {
		http2, secret bool
		opened        int32
	}{{false, true, 5}, {false, false, 1}, {true, true, 1}, {true, false, 1}} {
		var opened atomic.Int32
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.Proto)
		}))
		s.EnableHTTP2 = tt.http2
		s.Config.ConnState = func(c net.Conn, state http.ConnState) {
			if _, secure := c.(*tls.Conn); secure && state == http.StateNew {
				opened.Add(1)
			}
		}
		s.StartTLS()
		caller := operation.Trust(bind(t, template.Binding{HTTP: &template.HTTP{URL: s.URL}}), s)
		for range 5 {
			c := newCall(nil)
			if tt.secret {
				c.HostBy(holder{ringWith(t, "QXZJQXZJ")})
			}
			out, err := caller.Call(c)
			require.NoError(t, err)
			require.Equal(t, map[bool]string{true: "HTTP/2.0", false: "HTTP/1.1"}[tt.http2], out.(map[string]any)["body"])
		}
		require.Equal(t, tt.opened, opened.Load(), "%+v", tt)
		s.CloseClientConnections()
		s.Close()
	}
}

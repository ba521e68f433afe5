package operation

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
)

// unasked keeps from the client what a server says unasked: the client would write that to the process's own log, with whatever
// the server has kept of an earlier request. It knows from the client when a connection is idle.
type unasked struct{ *http.Transport }

func (t unasked) RoundTrip(req *http.Request) (*http.Response, error) {
	var got *conn
	var turn int64
	trace := &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			if got = connOf(info.Conn); got != nil {
				turn = got.turn.Add(1)
			}
		},
		PutIdleConn: func(err error) {
			if err == nil && got != nil {
				got.over.Store(turn)
			}
		},
	}
	return t.Transport.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
}

// conn is a connection on which nothing is read before something was written, and which ends when something comes while it is
// idle. Under TLS that may also be a message of TLS itself; it costs no more than another connection.
type conn struct {
	net.Conn
	turn  atomic.Int64  // the request that has the connection
	over  atomic.Int64  // the one that has given it back last; when that is told, the next may have it already
	begun chan struct{} // closed when something was written, or the connection
	once  sync.Once
}

func newConn(c net.Conn) *conn { return &conn{Conn: c, begun: make(chan struct{})} }

// connOf is what the client's connection stands upon; nil when that is none of ours.
func connOf(c net.Conn) *conn {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	own, _ := c.(*conn)
	return own
}

func (c *conn) Read(to []byte) (int, error) {
	<-c.begun
	n, err := c.Conn.Read(to)
	if over := c.over.Load(); n > 0 && over > 0 && over == c.turn.Load() {
		return 0, io.EOF
	}
	return n, err
}

func (c *conn) Write(from []byte) (int, error) {
	c.once.Do(func() { close(c.begun) })
	return c.Conn.Write(from)
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.once.Do(func() { close(c.begun) })
	return c.Conn.Close()
}

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

// guardedTransport discards data that a server sends without a request. The client would write it to the log of the process, together with
// data that the server may have kept from an earlier request. unasked uses traces of the client to detect idle connections.
type guardedTransport struct{ *http.Transport }

func (t guardedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
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

// conn is a connection that reads nothing before the end of the first write, and ends if data arrives while it is idle. Under TLS,
// such data may be a message of TLS itself; ending then only costs a new connection.
type conn struct {
	net.Conn
	turn  atomic.Int64  // number of the request that uses the connection
	over  atomic.Int64  // number of the last request that released it; the next request may use it already
	begun chan struct{} // closed after the first write, or with the connection
	once  sync.Once
}

func newConn(c net.Conn) *conn { return &conn{Conn: c, begun: make(chan struct{})} }

// connOf returns the conn below the client's connection; nil if there is none.
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
	n, err := c.Conn.Write(from)
	c.once.Do(func() { close(c.begun) }) // not before the write: an early answer could end the connection
	return n, err
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.once.Do(func() { close(c.begun) })
	return c.Conn.Close()
}

package operation

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"syscall"
	"time"
)

// headerMax is how large the header of an HTTP answer may be, with the interim answers before it, in bytes.
const headerMax = 1 << 20

// outbound is how requests leave this machine.
type outbound struct {
	proxy  func(*http.Request) (*url.URL, error) // nil, nil: the request goes to its host directly
	lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)
	allow  func(netip.Addr) error
}

// How long the client waits for what comes before a server has a request, and for peers that may have vanished.
const (
	dialTime      = 30 * time.Second // for a connection
	handshakeTime = 10 * time.Second // for TLS on it
	continueTime  = time.Second      // for a server to want a body that asks whether it is wanted
	probeTime     = 15 * time.Second // between two questions whether a peer is there
	silenceTime   = 30 * time.Second // of an HTTP/2 connection before it is asked
	idleTime      = 90 * time.Second // that a connection is kept without a request
)

// The transports of all HTTP bindings, because connections are kept for reuse by a transport. Calls that are given secrets have
// one of their own.
var (
	sharedTransport = sync.OnceValue(func() http.RoundTripper { return unasked{newTransport(outside)} })
	secretTransport = sync.OnceValue(func() http.RoundTripper { return unasked{onceUsed(newTransport(outside))} })
)

var outside = outbound{http.ProxyFromEnvironment, net.DefaultResolver.LookupNetIP, reachable}

// newTransport sets no limit to a whole request, and none to the wait for its answer: how long an attempt may take is for the
// step's timing to say. It does bound what comes before a server has the request, and finds out peers that have vanished.
func newTransport(o outbound) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTime, KeepAlive: probeTime, Control: o.control}
	return &http.Transport{
		Proxy: o.through,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return newConn(c), nil
		},
		ForceAttemptHTTP2:     true,
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: silenceTime, PingTimeout: probeTime},
		MaxIdleConns:          256,
		MaxIdleConnsPerHost:   64, // a map often asks one host from many steps at once
		IdleConnTimeout:       idleTime,
		TLSHandshakeTimeout:   handshakeTime,
		ExpectContinueTimeout: continueTime,
		// A server cannot make this process keep more than it is prepared to read.
		MaxResponseHeaderBytes: headerMax,
	}
}

// onceUsed has connections of HTTP/1 used once. What a server adds to its answer the client would find when it keeps the
// connection, and write to the process's own log. HTTP/2 has no such place: its connections are kept all the same.
func onceUsed(t *http.Transport) *http.Transport {
	t.MaxIdleConnsPerHost = -1
	return t
}

// control looks at the address that is about to be dialed, after names have been resolved.
func (o outbound) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return errors.New("the address cannot be read")
	}
	return o.allow(to.Addr())
}

// through gives the proxy of a request, if it has one. A proxy dials for others, so the address that is dialed here says
// nothing about where the request goes: that is resolved and looked at first. The transport asks for every request, those
// of redirects too.
func (o outbound) through(req *http.Request) (*url.URL, error) {
	proxy, err := o.proxy(req)
	if err != nil || proxy == nil {
		return nil, err
	}
	host := req.URL.Hostname()
	if ip, err := netip.ParseAddr(host); err == nil {
		return proxy, o.allow(ip)
	}
	addresses, err := o.lookup(req.Context(), "ip", host)
	if err != nil {
		return nil, fmt.Errorf("a proxy is asked only for hosts whose addresses are known: %s", cause(err))
	}
	for _, ip := range addresses {
		if err := o.allow(ip); err != nil {
			return nil, err
		}
	}
	return proxy, nil
}

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

// headerMax bounds the header of an HTTP answer in bytes, including interim answers.
const headerMax = 1 << 20

// outbound configures requests to other machines.
type outbound struct {
	proxy  func(*http.Request) (*url.URL, error) // nil, nil: the request goes to its host directly
	lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)
	allow  func(netip.Addr) error
}

// Timeouts of the phases before a server has a request, and for peers that may have vanished.
const (
	dialTime      = 30 * time.Second // for a connection
	handshakeTime = 10 * time.Second // for TLS on it
	continueTime  = time.Second      // for the answer to Expect: 100-continue
	probeTime     = 15 * time.Second // between two probes of a peer
	silenceTime   = 30 * time.Second // of an HTTP/2 connection before it is probed
	idleTime      = 90 * time.Second // of a connection without a request
)

// The transports of all HTTP bindings share connections between calls. Calls with secrets have a separate transport.
var (
	sharedTransport = sync.OnceValue(func() http.RoundTripper { return guardedTransport{newTransport(defaultOutbound)} })
	secretTransport = sync.OnceValue(func() http.RoundTripper { return guardedTransport{withoutKeepAlive(newTransport(defaultOutbound))} })
)

var defaultOutbound = outbound{http.ProxyFromEnvironment, net.DefaultResolver.LookupNetIP, checkAddress}

// newTransport returns a transport that bounds neither a whole request nor the wait for its answer: the timing of the step bounds
// them. It bounds the phases before a server has the request, and detects vanished peers.
func newTransport(o outbound) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTime, KeepAlive: probeTime, Control: o.control}
	return &http.Transport{
		Proxy: o.proxyFor,
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
		MaxIdleConnsPerHost:   64, // a map often makes many requests to one host at once
		IdleConnTimeout:       idleTime,
		TLSHandshakeTimeout:   handshakeTime,
		ExpectContinueTimeout: continueTime,
		// Bound the memory that a server can make this process use.
		MaxResponseHeaderBytes: headerMax,
	}
}

// withoutKeepAlive limits HTTP/1 connections to one request. The client writes unrequested data on a kept connection to the log of the
// process. HTTP/2 has no such data, so its connections are kept.
func withoutKeepAlive(t *http.Transport) *http.Transport {
	t.MaxIdleConnsPerHost = -1
	return t
}

// control checks the address that is about to be dialed, after names have been resolved.
func (o outbound) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return errors.New("the address to dial is invalid")
	}
	return o.allow(to.Addr())
}

// proxyFor returns the proxy of a request, or nil. The address dialed for a request through a proxy is the address of the proxy, so
// through resolves and checks the target first. The transport calls it for every request, including redirects.
func (o outbound) proxyFor(req *http.Request) (*url.URL, error) {
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
		return nil, fmt.Errorf("a proxy is used only for hosts whose addresses are known: %s", cause(err))
	}
	for _, ip := range addresses {
		if err := o.allow(ip); err != nil {
			return nil, err
		}
	}
	return proxy, nil
}

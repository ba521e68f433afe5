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

// sharedTransport is the one of all HTTP bindings, because connections are kept for reuse by a transport.
//
// It sets no limit to a whole request, and none to the wait for its answer: how long an attempt may take is for the
// step's timing to say. It does bound what comes before a server has the request, and finds out peers that have vanished.
var sharedTransport = sync.OnceValue(func() *http.Transport {
	return newTransport(outbound{http.ProxyFromEnvironment, net.DefaultResolver.LookupNetIP, reachable})
})

func newTransport(o outbound) *http.Transport {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 15 * time.Second, Control: o.control}
	return &http.Transport{
		Proxy:                 o.through,
		DialContext:           dialer.DialContext,
		ForceAttemptHTTP2:     true,
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		MaxIdleConns:          256,
		MaxIdleConnsPerHost:   64, // a map often asks one host from many steps at once
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
		// A server cannot make this process keep more than it is prepared to read.
		MaxResponseHeaderBytes: headerMax,
	}
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

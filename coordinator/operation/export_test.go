package operation

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"time"
)

// RetryAfter lets tests choose the instant that a Retry-After header counts from.
var RetryAfter = retryAfter

// WithGrace sets how long the processes of a command have to end, so that tests need not wait for it, or wait for ever.
func WithGrace(caller Caller, grace time.Duration) Caller {
	b := *caller.(*command)
	b.grace = grace
	return &b
}

// CloseIdleConnections ends what the transports keep open.
func CloseIdleConnections() {
	for _, t := range []http.RoundTripper{sharedTransport(), secretTransport()} {
		t.(unasked).CloseIdleConnections()
	}
}

// Trust has requests believe the certificates of a server.
func Trust(caller Caller, s *httptest.Server) Caller {
	config := s.Client().Transport.(*http.Transport).TLSClientConfig
	shared, secret := newTransport(outside), onceUsed(newTransport(outside))
	shared.TLSClientConfig, secret.TLSClientConfig = config.Clone(), config.Clone()
	return newRequest(caller.(*request).bound, unasked{shared}, unasked{secret})
}

// WithProxy has the requests of an HTTP binding go through a proxy, with names that resolve as lookup says.
func WithProxy(caller Caller, proxy *url.URL, lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)) Caller {
	transport := newTransport(outbound{http.ProxyURL(proxy), lookup, reachable})
	transport.DisableKeepAlives = true
	return newRequest(caller.(*request).bound, transport, transport)
}

// Reachable and SameHost let tests put questions that no server can be set up for.
var (
	Reachable = reachable
	SameHost  = sameHost
)

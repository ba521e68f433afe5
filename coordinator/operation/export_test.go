package operation

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"time"
)

// RetryAfter lets tests set the instant to which a Retry-After header is relative.
var RetryAfter = retryAfter

// WithGrace sets the grace period of a command.
func WithGrace(caller Caller, grace time.Duration) Caller {
	b := *caller.(*command)
	b.grace = grace
	return &b
}

// CloseIdleConnections closes the idle connections of the transports.
func CloseIdleConnections() {
	for _, t := range []http.RoundTripper{sharedTransport(), secretTransport()} {
		t.(guardedTransport).CloseIdleConnections()
	}
}

// Trust makes requests accept the certificate of a server.
func Trust(caller Caller, s *httptest.Server) Caller {
	config := s.Client().Transport.(*http.Transport).TLSClientConfig
	shared, secret := newTransport(defaultOutbound), withoutKeepAlive(newTransport(defaultOutbound))
	shared.TLSClientConfig, secret.TLSClientConfig = config.Clone(), config.Clone()
	return newRequest(caller.(*request).bound, guardedTransport{shared}, guardedTransport{secret})
}

// WithProxy sends the requests of an HTTP binding through a proxy, and resolves names by lookup.
func WithProxy(caller Caller, proxy *url.URL, lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)) Caller {
	transport := newTransport(outbound{http.ProxyURL(proxy), lookup, checkAddress})
	transport.DisableKeepAlives = true
	return newRequest(caller.(*request).bound, transport, transport)
}

// Functions for addresses for which a test cannot start a server.
var (
	Reachable = checkAddress
	SameHost  = sameHost
)

package operation

import (
	"context"
	"net/http"
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

// CloseIdleConnections ends what the shared transport keeps open.
func CloseIdleConnections() { sharedTransport().CloseIdleConnections() }

// WithProxy has the requests of an HTTP binding go through a proxy, with names that resolve as lookup says.
func WithProxy(caller Caller, proxy *url.URL, lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)) Caller {
	transport := newTransport(outbound{http.ProxyURL(proxy), lookup, reachable})
	transport.DisableKeepAlives = true
	return newRequest(caller.(*request).bound, transport)
}

// Reachable and SameHost let tests put questions that no server can be set up for.
var (
	Reachable = reachable
	SameHost  = sameHost
)

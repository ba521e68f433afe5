package operation

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

// redirectsMax is how many redirects a request follows.
const redirectsMax = 10

// sharedClient is the one client of all HTTP bindings, because connections are kept for reuse by a client.
//
// It sets no limit to a whole request, and none to the wait for its answer: how long an attempt may take is for the
// step's timing to say. It does bound what comes before a server has the request, and finds out peers that have vanished.
var sharedClient = sync.OnceValue(func() *http.Client { return newClient(reachable) })

func newClient(allowed func(network, address string, _ syscall.RawConn) error) *http.Client {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 15 * time.Second, Control: allowed}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           dialer.DialContext,
			ForceAttemptHTTP2:     true,
			HTTP2:                 &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
			MaxIdleConns:          256,
			MaxIdleConnsPerHost:   64, // a map often asks one host from many steps at once
			IdleConnTimeout:       90 * time.Second,
			TLSHandshakeTimeout:   10 * time.Second,
			ExpectContinueTimeout: time.Second,
			// A server cannot make this process keep more than it is prepared to read.
			MaxResponseHeaderBytes: 1 << 20,
		},
		CheckRedirect: checkRedirect,
	}
}

// checkRedirect ends a chain of redirects that leads nowhere, and one that leads out of encryption: what was sent
// under it, headers and body, would be sent again in clear text.
func checkRedirect(req *http.Request, via []*http.Request) error {
	switch {
	case len(via) > redirectsMax:
		return &Error{Code: CodeRedirect, Message: fmt.Sprintf("more than %d redirects", redirectsMax), Permanent: true}
	case via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https":
		return &Error{Code: CodeRedirect, Message: "redirected from https to " + req.URL.Scheme, Permanent: true}
	}
	return nil
}

// reachable refuses connections to addresses that only mean something to this machine's own link: cloud providers serve
// a machine's credentials there, and a workflow's input must not be able to fetch them. It looks at the address that is
// about to be dialed, after names have been resolved and on every redirect.
func reachable(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("address %s: %w", address, err)
	}
	ip := to.Addr().Unmap().WithZone("")
	if ip.IsLinkLocalUnicast() || ip.IsMulticast() || metadataAddresses[ip] {
		return &Error{Code: CodeAddressRefused, Message: "connections to " + ip.String() + " are not made", Permanent: true}
	}
	return nil
}

// metadataAddresses are those of cloud providers that are not of the link.
var metadataAddresses = map[netip.Addr]bool{
	netip.MustParseAddr("fd00:ec2::254"):   true,
	netip.MustParseAddr("100.100.100.200"): true,
}

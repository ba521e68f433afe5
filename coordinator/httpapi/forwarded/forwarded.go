// Package forwarded finds the address of the client of a request that proxies have passed on.
package forwarded

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Header is the header to which each proxy appends the address of its client. Addresses further left may be forged.
const Header = "X-Forwarded-For"

// By returns a handler that passes requests on with the address of the client as their RemoteAddr, if proxies within the range report it.
// Reports of others do not count.
func By(proxies netip.Prefix, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if client, ok := clientOf(req, proxies); ok {
			passed := *req
			passed.RemoteAddr = netip.AddrPortFrom(client, 0).String()
			req = &passed
		}
		next.ServeHTTP(w, req)
	})
}

// clientOf returns the address of the client: the last that is no proxy's, or the first if all are. An address that cannot be read ends the search.
func clientOf(req *http.Request, proxies netip.Prefix) (client netip.Addr, ok bool) {
	peer, ok := addressOf(req.RemoteAddr)
	if !ok || !proxies.Contains(peer) {
		return client, false
	}
	client = peer
	for _, text := range slices.Backward(strings.Split(strings.Join(req.Header.Values(Header), ","), ",")) {
		before, ok := addressOf(strings.TrimSpace(text))
		if !ok {
			break
		}
		if client = before; !proxies.Contains(before) {
			break
		}
	}
	return client, client != peer
}

// Client returns the unit by which clients are limited: its address, of IPv6 the network of 64 bits, since a client can use
// any address in that.
func Client(req *http.Request) string {
	at, ok := addressOf(req.RemoteAddr)
	if !ok || at.Is4() {
		return at.String()
	}
	return netip.PrefixFrom(at, 64).Masked().String()
}

// addressOf reads an address, with or without a port.
func addressOf(text string) (netip.Addr, bool) {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	at, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return at.Unmap().WithZone(""), err == nil
}

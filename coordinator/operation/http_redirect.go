package operation

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template"
)

// redirectsMax is how many redirects a request follows.
const redirectsMax = 10

// checkRedirect ends a chain of redirects that leads nowhere, and one that leads out of encryption: what was sent
// under it, headers and body, would be sent again in clear text. One that leads to another host ends unless the binding
// says `follow_redirects: any`, and goes on without what the binding has given, which was meant for the host it names.
func (b *request) checkRedirect(req *http.Request, via []*http.Request) error {
	last := via[len(via)-1].URL
	switch {
	case len(via) > redirectsMax:
		return &Error{Code: CodeRedirect, Message: fmt.Sprintf("more than %d redirects", redirectsMax), Permanent: true}
	case last.Scheme == "https" && req.URL.Scheme != "https":
		return &Error{Code: CodeRedirect, Message: "redirected from https to " + req.URL.Scheme, Permanent: true}
	}
	isElsewhere := func(r *http.Request) bool { return !sameHost(via[0].URL, r.URL) }
	// The client makes every request of the chain from the first. Where a stranger sends it back to, nothing is its own anymore.
	if !isElsewhere(req) && !slices.ContainsFunc(via, isElsewhere) {
		return nil
	}
	if b.bound.Binding.HTTP.FollowRedirects != template.FollowAny {
		return &Error{Code: CodeRedirect, Permanent: true, Message: fmt.Sprintf(
			"redirected to another host, %s://%s: write that as the url, or follow_redirects: any to send it a request without headers and body",
			req.URL.Scheme, req.URL.Host)}
	}
	req.Header = http.Header{"User-Agent": {userAgent}}
	req.Host, req.Body, req.GetBody, req.ContentLength = "", nil, nil, 0
	return nil
}

// sameHost reports whether b is on the host of a, and its port. That a host moves from http to https by their own ports
// counts as the same.
func sameHost(a, b *url.URL) bool {
	if !strings.EqualFold(a.Hostname(), b.Hostname()) {
		return false
	}
	return port(a) == port(b) || a.Scheme == "http" && port(a) == "80" && b.Scheme == "https" && port(b) == "443"
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

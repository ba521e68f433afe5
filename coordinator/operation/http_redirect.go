package operation

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template"
)

// redirectsMax bounds the redirects of a request.
const redirectsMax = 10

// checkRedirect refuses too many redirects, a redirect to another scheme than http and https, such as file, and a redirect from
// https to http, which would send headers and body again in clear text. It refuses a redirect to another host unless the binding
// has `follow_redirects: any`; the request then continues without the headers and body of the binding, which were meant for the
// original host.
func (b *request) checkRedirect(req *http.Request, via []*http.Request) error {
	last := via[len(via)-1].URL
	switch {
	case len(via) > redirectsMax:
		return &Error{Code: CodeRedirect, Message: fmt.Sprintf("more than %d redirects", redirectsMax), Permanent: true}
	case req.URL.Scheme != "http" && req.URL.Scheme != "https":
		return &Error{Code: CodeRedirect, Message: fmt.Sprintf("redirected to a URL of %s, not of http or https", req.URL.Scheme), Permanent: true}
	case last.Scheme == "https" && req.URL.Scheme != "https":
		return &Error{Code: CodeRedirect, Message: "redirected from https to " + req.URL.Scheme, Permanent: true}
	}
	isElsewhere := func(r *http.Request) bool { return !sameHost(via[0].URL, r.URL) }
	// The client derives every request of the chain from the first. After a redirect to another host, a request back to the
	// original host counts as elsewhere, too.
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

// sameHost reports whether a and b have the same host and port. A change from http to https on their default ports counts as the
// same.
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

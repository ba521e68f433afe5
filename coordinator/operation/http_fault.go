package operation

import (
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// transportError is the failure of a request that got no answer, or only a part of it.
func transportError(c *Call, at string, err error) error {
	if c.Err() != nil {
		return cancelled(c)
	}
	if e, ok := errors.AsType[*Error](err); ok { // ours, from inside the client
		return &Error{Code: e.Code, Message: at + ": " + e.Message, Permanent: e.Permanent, Err: err}
	}
	return &Error{Code: CodeTransport, Message: at + ": " + cause(err), Err: err}
}

// place names a request in messages. Queries are left out: they are long, and hold what should not be in a log. Of a URL that
// holds a secret it is what is left when that is hidden, as it was written: what the client has made of it is another text.
func place(c *Call, req *http.Request, address string) string {
	shown := c.redact(address)
	if shown == address {
		return req.Method + " " + req.URL.Scheme + "://" + req.URL.Host + req.URL.EscapedPath()
	}
	shown, _, _ = strings.Cut(shown, "#")
	shown, _, _ = strings.Cut(shown, "?")
	if scheme, rest, ok := strings.Cut(shown, "://"); ok {
		host, path, hasPath := strings.Cut(rest, "/")
		shown = scheme + "://" + host[strings.LastIndexByte(host, '@')+1:]
		if hasPath {
			shown += "/" + path
		}
	}
	return req.Method + " " + shown
}

// cause says why there was no answer, without what the client has derived from the URL: its host in another spelling or cut out
// of it, its port, the whole of it without a password. Nobody could tell a secret in these. Which address a name stands for is
// told.
func cause(err error) string {
	switch e := err.(type) {
	case *url.Error:
		return cause(e.Err)
	case *net.OpError:
		text := e.Op + " " + e.Net
		if to, ok := e.Addr.(*net.TCPAddr); ok && e.Op == "dial" {
			text += " " + to.IP.String()
		}
		return text + ": " + cause(e.Err)
	case *net.DNSError:
		return "look up the host: " + e.Err
	case *net.AddrError:
		return e.Err
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "the certificate is not for this host"
	}
	return err.Error()
}

package operation

import (
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// transportError returns the failure of a request without a complete answer.
func transportError(c *Call, at string, err error) error {
	if c.Err() != nil {
		return cancelled(c)
	}
	if e, ok := errors.AsType[*Error](err); ok { // an Error of this package, from inside the client
		return &Error{Code: e.Code, Message: at + ": " + e.Message, Permanent: e.Permanent, Err: err}
	}
	return &Error{Code: CodeTransport, Message: at + ": " + cause(err), Err: err}
}

// place returns the name of a request for messages. It omits the query, which is long and holds data that must not be logged. If
// the URL holds a secret, place redacts the URL as written, because the client may have changed it.
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

// cause returns the reason for a missing answer. It omits texts that the client has derived from the URL (the host in another
// spelling, the port, the URL without its password), because secrets could not be recognized in them. It includes the resolved
// address of a host.
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

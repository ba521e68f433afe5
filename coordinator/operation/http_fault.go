package operation

import (
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// transportError returns the failure of a request that got no answer, or only a part of it.
func transportError(c *Call, at string, err error) error {
	if c.Err() != nil {
		return cancelled(c)
	}
	if e, ok := errors.AsType[*Error](err); ok { // an Error of this package, from inside the client
		return &Error{Code: e.Code, Message: at + ": " + e.Message, Permanent: e.Permanent, Err: err}
	}
	return &Error{Code: CodeTransport, Message: at + ": " + cause(err), Err: err}
}

// place returns the name of a request in messages. It omits queries, which are long and hold data that should not be logged.
// If a URL holds a secret, place redacts the URL as it was written: the client may have rewritten it.
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

// cause returns why there was no answer, without texts that the client has derived from the URL (its host in another spelling,
// its port, the URL without a password), in which secrets could not be recognized. It includes the address of a name.
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

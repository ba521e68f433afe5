package operation

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

// ResponseMax bounds the body of an HTTP answer after decompression, in bytes.
const ResponseMax = 10 << 20

// request is the Caller of an HTTP binding: each call makes one request and follows its redirects.
//
// Every request has the idempotency key of the call as the header Idempotency-Key, unless the binding sets that header. The header
// also allows the client to repeat a request after a kept connection was closed; a server that honours the key treats the repetition
// as the same request.
//
// checkRedirect limits the redirects. An answer that switches protocols has no end, so it is refused before its body is read.
type request struct {
	bound  *template.Bound
	client *http.Client
	secret *http.Client // for calls with secrets
}

// userAgent is the User-Agent of a request, unless the binding sets one.
const userAgent = "sluice"

func newRequest(b *template.Bound, shared, secret http.RoundTripper) *request {
	r := &request{bound: b}
	r.client = &http.Client{Transport: shared, CheckRedirect: r.checkRedirect}
	r.secret = &http.Client{Transport: secret, CheckRedirect: r.checkRedirect}
	return r
}

func (b *request) Call(c *Call) (any, error) {
	req, at, err := b.prepare(c)
	if err != nil {
		return nil, err
	}
	if c.Err() != nil {
		return nil, cancelled(c)
	}
	client := b.client
	if c.redactor() != nil {
		client = b.secret
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, transportError(c, at, err)
	}
	// Close drops the connection unless the body was read to its end. Otherwise the connection is kept for the next request.
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode < 200 {
		return nil, statusError(c, at, resp, nil)
	}
	body, err := readBody(c, at, resp)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 400 {
		return nil, statusError(c, at, resp, body)
	}
	return outcome(c, at, resp, body)
}

// prepare evaluates the binding. It also returns a name of the request for messages.
func (b *request) prepare(c *Call) (req *http.Request, at string, err error) {
	s := &scope{call: c}
	address, err := s.text("url", b.bound.URL)
	if err != nil {
		return nil, "", err
	}
	method, err := s.text("method", b.bound.Method)
	if err != nil {
		return nil, "", err
	}
	headers, err := s.texts("headers", b.bound.Headers)
	if err != nil {
		return nil, "", err
	}
	var body io.Reader
	var isJSON bool
	if b.bound.Body != nil {
		data, isText, err := s.payload("body", b.bound.Body)
		if err != nil {
			return nil, "", err
		}
		body, isJSON = bytes.NewReader(data), !isText
	}
	if err := checkURL(c, address); err != nil {
		return nil, "", err
	}
	if method != "" && !document.IsToken(method) { // the client's error would name its package
		return nil, "", &Error{Code: CodeInvalidRequest, Message: fmt.Sprintf("method %q cannot be sent", c.redact(method)), Permanent: true}
	}
	if req, err = http.NewRequestWithContext(c, strings.ToUpper(method), address, body); err != nil {
		return nil, "", &Error{Code: CodeInvalidRequest, Message: err.Error(), Permanent: true, Err: err}
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Idempotency-Key", c.Key())
	if isJSON {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, place(c, req, address), setHeaders(req, headers)
}

// checkURL refuses invalid URLs. The client would report them like an unreachable server.
func checkURL(c *Call, address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return &Error{Code: CodeInvalidRequest, Message: fmt.Sprintf("url %q: %s", c.redact(address), cause(err)), Permanent: true, Err: err}
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return &Error{Code: CodeInvalidRequest, Permanent: true,
			Message: fmt.Sprintf("url %q does not begin with http:// or https:// and a host", c.redact(address))}
	}
	if _, err := strconv.ParseUint(u.Port(), 10, 16); err != nil && u.Port() != "" {
		return &Error{Code: CodeInvalidRequest, Message: fmt.Sprintf("url %q: a port is at most 65535", c.redact(address)), Permanent: true}
	}
	return nil
}

// setHeaders sets the headers of the binding, which replace default headers.
func setHeaders(req *http.Request, headers map[string]string) error {
	for name, text := range headers {
		if !document.IsToken(name) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return &Error{Code: CodeInvalidRequest, Message: fmt.Sprintf("header %q cannot be sent", name), Permanent: true}
		}
		if strings.EqualFold(name, "Host") { // the client reads it from Request.Host
			req.Host = text
			continue
		}
		req.Header.Set(name, text)
	}
	return nil
}

// outcome returns the output of the step for a successful answer.
func outcome(c *Call, at string, resp *http.Response, body []byte) (any, error) {
	content, err := parseBody(c, at, resp, body)
	if err != nil {
		return nil, err
	}
	return map[string]any{"status": int64(resp.StatusCode), "headers": headerValues(resp), "body": content}, nil
}

// headerValues returns the headers by lower-case name. It joins several headers of one name as in RFC 9110.
func headerValues(resp *http.Response) map[string]any {
	headers := make(map[string]any, len(resp.Header))
	for name, values := range resp.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return headers
}

// statusError returns the failure for an error status of a server. A 4xx status is permanent, except the three that mean “not now”,
// and a switch of protocols is permanent; a 5xx status may be retried.
func statusError(c *Call, at string, resp *http.Response, body []byte) error {
	status := resp.StatusCode
	e := &Error{
		Code:    "http_" + strconv.Itoa(status),
		Message: at + ": " + resp.Status,
	}
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
	default:
		e.Permanent = status < 500
	}
	if !e.Permanent {
		e.RetryAt = retryAfter(resp.Header.Get("Retry-After"), time.Now())
	}
	const kept = 64 << 10 // enough of an error page
	var content any
	err := error(nil)
	if len(body) <= kept {
		content, err = parseBody(c, at, resp, body)
	}
	if err != nil || len(body) > kept {
		text := c.redact(string(body))
		content = strings.ToValidUTF8(text[:min(len(text), kept)], "")
	}
	e.Details = map[string]any{"status": int64(status), "headers": headerValues(resp), "body": content}
	return e
}

// retryAfter returns the instant of a Retry-After header: a number of seconds from now, or a date. It returns zero if the header is
// missing, malformed, or more than a year ahead.
func retryAfter(text string, now time.Time) time.Time {
	at, err := http.ParseTime(text)
	if seconds, isNumber := strconv.ParseUint(text, 10, 31); isNumber == nil {
		at, err = now.Add(time.Duration(seconds)*time.Second), nil
	}
	if err != nil || at.After(now.AddDate(1, 0, 0)) {
		return time.Time{}
	}
	return at
}

// Package client uses the HTTP API of sluice serve --listen.
//
//	c, err := client.Dial("http://127.0.0.1:8080", token)
//	run, err := c.StartNamed(ctx, "order", map[string]any{"total": 12})
//	result, err := run.Wait(ctx)
//
// Do makes any other request, and Feed follows a feed. A Run has the methods of coordinator.Run, under the same names and with the same results: see Run. Ask carries out any request of package
// api, as the socket of a folder does.
package client

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/find"
	"github.com/sluiceflow/sluice/internal/cancelled"
)

// linesType is the media type of answers in the lines of package api.
const linesType = "application/vnd.sluice.replies"

// Bounds of a server's answers: of one line, and of a refusal.
const (
	lineMax    = 256 << 20
	refusalMax = 1 << 20
)

// Client makes requests to a server. It is safe for concurrent use, and keeps nothing open but idle connections.
type Client struct {
	base  string
	token string
	http  *http.Client
}

// IsURL reports whether a text is the URL of a server, not a folder.
func IsURL(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

// Dial returns a client of the server with a URL such as http://127.0.0.1:8080. It does not connect yet. The token is sent to this server
// only, not to a server that it redirects to.
func Dial(address, token string) (*Client, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || !IsURL(address) || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("client: %q is no URL of a server, such as http://127.0.0.1:8080", address)
	case strings.ContainsAny(token, "\r\n"):
		return nil, errors.New("client: the token has line breaks")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	return &Client{strings.TrimSuffix(address, "/"), token, &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Ask carries out a request and passes the lines of the answer to emit; the last is Done. It returns an *api.Error if the request was
// refused. A run may be named by the beginning of its id, if only one begins so.
func (c *Client) Ask(ctx context.Context, req *api.Request, emit func(*api.Reply) error) error {
	err := c.ask(ctx, req, emit)
	if !errors.Is(err, coordinator.ErrRunNotFound) || req.Run == "" {
		return err
	}
	whole, found := c.cellOrRun(ctx, req.Run)
	if found != nil {
		return found
	}
	if whole == "" {
		return err
	}
	named := *req
	named.Run = whole
	return c.ask(ctx, &named, emit)
}

// cellOrRun returns the id of the only run whose id begins with begun; "" if there is none.
func (c *Client) cellOrRun(ctx context.Context, begun string) (string, error) {
	var ids []string
	err := c.ask(ctx, &api.Request{Verb: api.List, Query: begun, Limit: comparedMax}, func(r *api.Reply) error {
		if r.Run != nil && strings.HasPrefix(r.Run.Run, begun) && (strings.Contains(begun, "/") || !strings.Contains(strings.TrimPrefix(r.Run.Run, begun), "/")) {
			ids = append(ids, r.Run.Run)
		}
		return nil
	})
	switch {
	case err != nil || len(ids) == 0:
		return "", nil // the caller reports that there is no such run
	case len(ids) > 1:
		slices.Sort(ids)
		return "", api.ErrorOf(fmt.Errorf("%w: %q: %s", find.ErrAmbiguous, begun, strings.Join(ids[:min(len(ids), namedMax)], ", ")))
	}
	return ids[0], nil
}

// namedMax bounds the runs named in the error of an ambiguous id; comparedMax bounds the runs compared with a prefix.
const (
	namedMax    = 5
	comparedMax = 1000
)

func (c *Client) ask(ctx context.Context, req *api.Request, emit func(*api.Reply) error) error {
	r, err := routeOf(req)
	if err != nil {
		return api.ErrorOf(err)
	}
	r.behalf = req.Actor
	resp, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if kind := resp.Header.Get("Content-Type"); kind != linesType {
		return fmt.Errorf("client: %s answers with %q: is it a server of sluice?", c.base, kind)
	}
	return c.read(ctx, resp.Body, emit)
}

// send makes a request and returns its answer; a refusal becomes an error.
func (c *Client) send(ctx context.Context, r *route) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, r.content)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if len(r.query) > 0 {
		req.URL.RawQuery = r.query.Encode()
	}
	req.Header.Set("Accept", cmp.Or(r.accept, linesType))
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if r.kind != "" {
		req.Header.Set("Content-Type", r.kind)
	}
	if r.behalf != "" {
		req.Header.Set("On-Behalf-Of", url.PathEscape(r.behalf))
	}
	if r.key != "" {
		req.Header.Set("Idempotency-Key", r.key)
	}
	resp, err := c.http.Do(req)
	if ctx.Err() != nil {
		return nil, cancelled.Error(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%s does not answer: %w", c.base, plain(err))
	}
	if resp.StatusCode < 400 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, c.refusal(resp)
}

// plain returns the cause of a failed request, without its URL.
func plain(err error) error {
	if of, ok := errors.AsType[*url.Error](err); ok {
		return of.Err
	}
	return err
}

// refusal returns the error in an answer that refuses a request.
func (c *Client) refusal(resp *http.Response) error {
	var p struct{ Code, Detail, Suggestion string }
	data, err := io.ReadAll(io.LimitReader(resp.Body, refusalMax))
	if err != nil || json.Unmarshal(data, &p) != nil || p.Code == "" {
		return fmt.Errorf("client: %s answers with status %s: is it a server of sluice?", c.base, resp.Status)
	}
	return &api.Error{Code: p.Code, Message: p.Detail, Suggestion: p.Suggestion}
}

// read passes the lines of an answer to emit.
func (c *Client) read(ctx context.Context, from io.Reader, emit func(*api.Reply) error) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, lineMax)
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var r api.Reply
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return fmt.Errorf("client: the answer of %s cannot be read: %w", c.base, err)
		}
		if r.Error != nil {
			return r.Error
		}
		if err := emit(&r); err != nil {
			return err
		}
		if r.Done != nil {
			return nil
		}
	}
	if ctx.Err() != nil {
		return cancelled.Error(ctx)
	}
	return api.ErrorOf(fmt.Errorf("%w: %s has ended its answer early", api.ErrHungUp, c.base))
}

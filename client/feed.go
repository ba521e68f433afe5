package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/internal/cancelled"
)

// Frame is one message of a feed.
type Frame struct {
	Event string          `json:"event"` // its kind, such as snapshot, update or end
	ID    string          `json:"id"`    // behind which a feed is resumed
	Data  json.RawMessage `json:"data"`  // its content, by kind
}

// idleMax is the number of consecutive connections without a frame after which a feed fails.
const idleMax = 10

// Feed follows a feed of the server, such as /v1/feed?q=status:failed or /v1/runs/order-17/feed, from behind the frame with an id; "":
// from its start. If the connection is lost, it reconnects, without missing a frame. It ends with the feed, or with an error, for example
// if the server does not answer; it can then be resumed behind the last frame that it has yielded.
func (c *Client) Feed(ctx context.Context, path, after string) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		ended, idle := false, 0
		for !ended {
			idle++
			again, err := c.follow(ctx, path, &after, func(f Frame) bool {
				ended, idle = f.Event == "end", 0
				return yield(f, nil)
			})
			if err == nil && again && idle == idleMax {
				err = api.ErrorOf(fmt.Errorf("%w: %s has ended its feed early", api.ErrHungUp, c.base))
			}
			if err != nil {
				yield(Frame{}, err)
			}
			ended = ended || !again || err != nil
		}
	}
}

// follow passes on the frames of one connection, and sets after to the id of each. Again reports whether the connection ended, rather
// than the iteration or the feed.
func (c *Client) follow(ctx context.Context, path string, after *string, pass func(Frame) bool) (again bool, err error) {
	to, err := url.Parse(path)
	if err != nil {
		return false, fmt.Errorf("client: %w", err)
	}
	q := to.Query()
	set(q, "after", *after)
	resp, err := c.send(ctx, &route{method: http.MethodGet, path: to.EscapedPath(), query: q, accept: "application/x-ndjson"})
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, lineMax)
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue // a heartbeat
		}
		var f Frame
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			return true, nil // it was cut off
		}
		if refused := problemOf(f); refused != nil {
			return false, refused
		}
		if *after = f.ID; !pass(f) {
			return false, nil
		}
	}
	if ctx.Err() != nil {
		return false, cancelled.Error(ctx)
	}
	return true, nil
}

// problemOf returns the error with which a frame ends its feed; nil if it does not: an error that names a run is about that run only.
func problemOf(f Frame) error {
	var p struct{ Code, Detail, Suggestion, Run string }
	if f.Event != "error" || json.Unmarshal(f.Data, &p) != nil || p.Run != "" {
		return nil
	}
	return &api.Error{Code: p.Code, Message: p.Detail, Suggestion: p.Suggestion}
}

// Do makes any request that the server's /openapi.json describes: the body, unless it is nil, is sent as JSON, and the answer is read into
// the value that into points to, unless that is nil. It returns an *api.Error if the request was refused.
func (c *Client) Do(ctx context.Context, method, path string, body, into any) error {
	to, err := url.Parse(path)
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	r := &route{method: method, path: to.EscapedPath(), query: to.Query(), accept: "application/json"}
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("client: %w", err)
		}
		r.kind, r.content = "application/json", bytes.NewReader(data)
	}
	resp, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, lineMax))
	if err != nil {
		return fmt.Errorf("client: the answer of %s cannot be read: %w", c.base, err)
	}
	switch into := into.(type) {
	case nil:
		return nil
	case *string:
		*into = string(data)
		return nil
	}
	if kind := resp.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
		return fmt.Errorf("client: %s answers with %q, and not with JSON", c.base, kind)
	}
	return json.Unmarshal(data, into)
}

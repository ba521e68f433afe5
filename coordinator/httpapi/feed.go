package httpapi

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/feed"
	"github.com/sluiceflow/sluice/coordinator/httpapi/frames"
)

const heartbeat = 15 * time.Second // between two signs of life

// streaming counts a stream of the client, or refuses it. leave must be called at its end.
func (c *exchange) streaming() (leave func(), err error) {
	leave, why := c.streams.Enter(c.client())
	if why != "" {
		return nil, problem(CodeStreams, "%s", why)
	}
	return leave, nil
}

// client names who has a stream: a token at an address.
func (c *exchange) client() string {
	host, _, _ := net.SplitHostPort(c.req.RemoteAddr)
	return c.who.Name + "@" + host
}

// resumed returns behind which id the feed is to be resumed; "": from the start.
func (c *exchange) resumed() string {
	if id := c.req.Header.Get("Last-Event-ID"); id != "" {
		return id
	}
	return c.query("after")
}

// observer is one of package feed.
type observer interface {
	Next(ctx context.Context) (feed.Frame, error)
	Close()
}

func feedOfRun(c *exchange) error {
	o := feed.Options{View: feed.View(c.query("view"))}
	switch o.View {
	case "", feed.Steps, feed.Events:
	default:
		return problem(CodeBadRequest, "a view is steps or events").at("query/view")
	}
	if id := c.resumed(); id != "" {
		seq, err := strconv.ParseUint(id, 10, 64)
		if err != nil {
			return problem(CodeBadRequest, "ids of this feed are numbers of events")
		}
		o.Resume, o.After = true, seq
	}
	if c.plain() {
		return c.watch(o.After)
	}
	return c.stream(func() (observer, error) { return c.hub.Run(c.req.Context(), c.req.PathValue("run"), o) })
}

// watch answers with the changes behind an event as lines of package api.
func (c *exchange) watch(after uint64) error {
	r, err := c.of(api.Watch)
	if err != nil {
		return err
	}
	r.From, r.UntilParked = after+1, c.query("until") == "parked"
	_, err = c.ask(c.req.Context(), r, nil)
	return err
}

func feedOfAll(c *exchange) error {
	return c.stream(func() (observer, error) { return c.hub.All(c.query("q"), c.resumed()) })
}

// stream sends frames until the client goes, the feed ends or the server stops.
func (c *exchange) stream(open func() (observer, error)) error {
	leave, err := c.streaming()
	if err != nil {
		return err
	}
	defer leave()
	o, err := open()
	if err != nil {
		return err
	}
	defer o.Close()
	ctx, cancel := context.WithCancel(c.req.Context())
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	c.unhurried()
	w := frames.To(c.w, strings.Contains(c.req.Header.Get("Accept"), "text/event-stream"))
	if err := w.Begin(); err != nil {
		return nil // the client has gone
	}
	for checked := time.Now(); ; {
		waiting, done := context.WithTimeout(ctx, heartbeat)
		f, err := o.Next(waiting)
		done()
		if now := time.Now(); now.Sub(checked) >= heartbeat { // the token may have been revoked
			if refused := c.authenticate(); refused != nil {
				err = refused
			}
			checked = now
		}
		switch {
		case err == nil:
			err = w.Frame(f)
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			err = w.Beat()
		case errors.Is(err, io.EOF) || ctx.Err() != nil:
			return nil
		default:
			err = errors.Join(w.Failure(problemOf(err)), io.EOF)
		}
		if err != nil {
			return nil
		}
	}
}

package httpapi

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
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
	view, err := c.view()
	if err != nil {
		return err
	}
	if view == logView {
		return c.followLog()
	}
	if c.query("step") != "" {
		return problem(CodeBadRequest, "only the view %s is that of a step", logView).at("query/step")
	}
	o := feed.Options{View: view, Open: c.req.URL.Query()["open"]}
	if o.After, o.Resume, err = feed.Sequence(c.resumed()); err != nil {
		return err
	}
	if c.plain() {
		return c.watch(o.After)
	}
	return c.stream(func() (observer, error) { return c.hub.Run(c.req.Context(), c.req.PathValue("run"), o) })
}

// logView is the view of what the calls of a run write.
const logView feed.View = "log"

// followLog follows what the calls of a run write.
func (c *exchange) followLog() error {
	run, step := c.req.PathValue("run"), c.query("step")
	if c.plain() {
		r, err := c.of(api.Log)
		if err != nil {
			return err
		}
		r.Step = step
		_, err = c.ask(c.req.Context(), r, nil)
		return err
	}
	return c.stream(func() (observer, error) { return c.hub.Log(c.req.Context(), run, step, c.resumed()) })
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

// feedOfAll follows the runs of a query, or those that are named, each by itself, or both.
func feedOfAll(c *exchange) error {
	q := c.req.URL.Query()
	w := feed.Wanted{Runs: q["run"], Open: q["open"], Query: q.Get("q")}
	w.All = q.Has("q") || len(w.Runs) == 0
	var err error
	if w.View, err = c.view(); err != nil {
		return err
	}
	if w.View == logView {
		return problem(CodeBadRequest, "the view %s is that of one run: /v1/runs/RUN/feed has it", logView).at("query/view")
	}
	if len(w.Runs) > feed.SeveralMax {
		return problem(CodeBadRequest, "at most %d runs are followed at once", feed.SeveralMax).at("query/run")
	}
	for i, run := range w.Runs {
		if slices.Contains(w.Runs[:i], run) {
			return problem(CodeBadRequest, "the run %q is given more than once", run).at("query/run")
		}
	}
	return c.stream(func() (observer, error) { return c.hub.Several(c.req.Context(), w, c.resumed()) })
}

// view returns what of a run is to be shown.
func (c *exchange) view() (feed.View, error) {
	v := feed.View(c.query("view"))
	if c.req.URL.Query().Has("open") && v != "" && v != feed.Steps {
		return "", problem(CodeBadRequest, "only the view steps has maps to open").at("query/open")
	}
	switch v {
	case feed.Events, logView:
		if c.who.Role == Observer {
			return "", problem(CodeForbidden, "the view %s needs the role %s, because it has inputs and outputs", v, Viewer)
		}
		return v, nil
	case "", feed.Steps, feed.Net:
		return v, nil
	}
	return "", problem(CodeBadRequest, "a view is steps, net, events or log").at("query/view")
}

// RunProblem says why one of several runs is not followed.
type RunProblem struct {
	Run string `json:"run"` // id
	*Problem
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
		case err == nil && f.Err != nil:
			err = w.Told(f, RunProblem{f.Run, problemOf(f.Err)})
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

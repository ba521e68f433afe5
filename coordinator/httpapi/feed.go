package httpapi

import (
	"slices"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/feed"
	"github.com/sluiceflow/sluice/coordinator/httpapi/forwarded"
	"github.com/sluiceflow/sluice/coordinator/httpapi/frames"
	"github.com/sluiceflow/sluice/coordinator/httpapi/names"
)

// streaming counts a stream of the client, or refuses it. leave must be called at its end.
func (c *exchange) streaming() (leave func(), err error) {
	leave, why := c.streams.Enter(c.client())
	if why != "" {
		return nil, problem(CodeStreams, "%s", why)
	}
	return leave, nil
}

// client names the client of a stream: a token at an address.
func (c *exchange) client() string {
	return c.who.Name + "@" + forwarded.Client(c.req)
}

// resumed returns the id after which the feed is to be resumed; "": from the start.
func (c *exchange) resumed() string {
	if id := c.req.Header.Get("Last-Event-ID"); id != "" {
		return id
	}
	return c.query("after")
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
	if until := c.query("until"); until != "" && until != "parked" {
		return problem(CodeBadRequest, "until must be parked, or be omitted").at("query/until")
	}
	o := feed.Options{View: view, Open: c.given["open"]}
	if o.After, o.Resume, err = feed.Sequence(c.resumed()); err != nil {
		return err
	}
	if c.wantsLines() {
		return c.watch(o.After)
	}
	return c.stream(func() (frames.Observer, error) { return c.hub.Run(c.req.Context(), c.req.PathValue("run"), o) })
}

// logView is the view of the output of a run's calls.
const logView feed.View = "log"

// followLog follows the output of a run's calls.
func (c *exchange) followLog() error {
	run, step := c.req.PathValue("run"), c.query("step")
	if c.wantsLines() {
		r, err := c.of(api.Log)
		if err != nil {
			return err
		}
		r.Step = step
		_, err = c.ask(c.req.Context(), r, nil)
		return err
	}
	return c.stream(func() (frames.Observer, error) { return c.hub.Log(c.req.Context(), run, step, c.resumed()) })
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

// feedOfAll follows the runs of a query together, or named runs each by itself, or both.
func feedOfAll(c *exchange) error {
	w := feed.Wanted{Runs: c.given["run"], Open: c.given["open"], Query: c.query("q"), Nameless: c.who.Role == Observer}
	w.All = c.given.Has("q") || len(w.Runs) == 0
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
	return c.stream(func() (frames.Observer, error) { return c.hub.Several(c.req.Context(), w, c.resumed()) })
}

// view returns the view of a run that a request selects.
func (c *exchange) view() (feed.View, error) {
	v := feed.View(c.query("view"))
	if c.given.Has("open") && v != "" && v != feed.Steps {
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

// stream begins a feed, which is sent when the request is measured and logged.
func (c *exchange) stream(open func() (frames.Observer, error)) error {
	leave, err := c.streaming()
	if err != nil {
		return err
	}
	o, err := open()
	if err != nil {
		leave()
		return err
	}
	c.noDeadline()
	w := frames.To(c.w, names.Accepts(c.req.Header.Values("Accept"), "text/event-stream"))
	c.feed = &frames.Stream{Observer: o, Leave: leave, Stands: c.endOnRevocation(), Problem: problemIn, Sent: c.measures.Sent, Writer: w}
	_ = w.Begin() // if the client has gone, the feed ends
	return nil
}

// problemIn returns the error for a client about the feed, or about one of several runs in it.
func problemIn(run string, err error) any {
	if run == "" {
		return problemOf(err)
	}
	return RunProblem{run, problemOf(err)}
}

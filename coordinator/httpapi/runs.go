package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/brief"
	"github.com/sluiceflow/sluice/coordinator/httpapi/answers"
	"github.com/sluiceflow/sluice/coordinator/httpapi/bodies"
	"github.com/sluiceflow/sluice/coordinator/httpapi/cursors"
	"github.com/sluiceflow/sluice/coordinator/httpapi/draining"
	"github.com/sluiceflow/sluice/coordinator/httpapi/frames"
	"github.com/sluiceflow/sluice/coordinator/httpapi/large"
	"github.com/sluiceflow/sluice/coordinator/httpapi/names"
	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/coordinator/query"
	"github.com/sluiceflow/sluice/coordinator/repeated"
)

const (
	pageMax     = 1000
	runsPage    = 50
	eventsPage  = 100
	commandTime = time.Minute
	keyMax      = 256
)

// errEnough ends an answer early.
var errEnough = errors.New("enough")

// ask carries out a request of package api and passes the lines of its answer to take, except the last, which it returns.
func (c *exchange) ask(ctx context.Context, r *api.Request, take func(*api.Reply) error) (done api.Done, err error) {
	r.Actor = names.Actor(c.who.Name, c.behalf)
	if c.wantsLines() {
		return done, c.replyLines(ctx, r)
	}
	ended := func(err error) error { return err }
	if r.Verb == api.Await || r.Verb == api.AwaitAct { // nothing is lost if it is asked again
		ctx, ended = draining.Bound(ctx, c.ctx, coordinator.ErrShutdown)
	}
	err = api.Handle(ctx, c.engine, r, func(reply *api.Reply) error {
		c.recordSubject(reply)
		if reply.Done != nil {
			done = *reply.Done
			return nil
		}
		if take == nil {
			return nil
		}
		return take(reply)
	})
	return done, ended(err)
}

// reply answers with JSON.
func (c *exchange) reply(status int, v any) error { return c.write(status, v, false) }

// replyZipped answers with JSON that is large and repetitive.
func (c *exchange) replyZipped(v any) error { return c.write(http.StatusOK, v, true) }

func (c *exchange) write(status int, v any, zipped bool) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if !c.lasts.Valid() {
		return revokedProblem()
	}
	answers.Write(c.w, c.req, status, data, zipped)
	return nil
}

// run returns the run that the path names by its whole id, so that no act reaches another by a prefix.
func (c *exchange) run() (*coordinator.Run, error) {
	return c.engine.Run(c.req.Context(), c.req.PathValue("run"))
}

// of returns a request about the run that the path names.
func (c *exchange) of(verb api.Verb) (*api.Request, error) {
	run, err := c.run()
	if err != nil {
		return nil, err
	}
	r := &api.Request{Verb: verb, Run: run.ID(), Step: c.req.PathValue("key")}
	if at := c.query("at"); at != "" {
		if r.At, err = moment(at); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (c *exchange) query(name string) string { return c.given.Get(name) }

// limit returns the parameter limit; unless is its default.
func (c *exchange) limit(unless int) (int, error) {
	text := c.query("limit")
	if text == "" && c.wantsLines() {
		return 0, nil // all: they are sent as they are found
	}
	if text == "" {
		return unless, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > pageMax {
		return 0, problem(CodeBadRequest, "a limit is a number from 1 to %d", pageMax).at("query/limit")
	}
	return n, nil
}

// moment reads the number of an event, or an instant.
func moment(text string) (*api.Moment, error) {
	if seq, err := strconv.ParseUint(text, 10, 64); err == nil && seq > 0 {
		return &api.Moment{Seq: seq}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return nil, problem(CodeBadRequest, "%s", atParam.Summary).at("query/at")
	}
	return &api.Moment{Time: at}, nil
}

func listRuns(c *exchange) error {
	limit, err := c.limit(runsPage)
	if err != nil {
		return err
	}
	r := &api.Request{Verb: api.List, Query: c.query("q"), Cursor: c.query("cursor"), Limit: limit}
	if labels := c.query("labels"); labels != "" && json.Unmarshal([]byte(labels), &r.Labels) != nil {
		return problem(CodeBadRequest, "labels are a JSON object of texts").at("query/labels")
	}
	r.Dry = c.dry()
	page := RunPage{Items: []*api.Run{}}
	done, err := c.ask(c.req.Context(), r, func(r *api.Reply) error {
		if r.Run != nil {
			if c.who.Role == Observer {
				r.Run.Nameless()
			}
			page.Items = append(page.Items, r.Run)
		}
		page.Query = r.Query
		return nil
	})
	if err != nil {
		return err
	}
	page.Next = done.Next
	return c.reply(http.StatusOK, page)
}

func startRun(c *exchange) error {
	var b StartBody
	if err := c.body(&b); err != nil {
		return err
	}
	parcel, err := c.parcel(&b.Documents)
	if err != nil {
		return err
	}
	if (b.Workflow == "") == (parcel == nil) {
		return problem(CodeBadRequest, "name a workflow that was published, or send one").at("/workflow")
	}
	key, _ := c.key() // which was checked
	wait, err := c.wait()
	if err != nil {
		return err
	}
	if key != "" && b.ID != "" {
		return problem(CodeBadRequest, "an id makes it harmless to repeat a start already: send it, or the Idempotency-Key").at("/id")
	}
	if key != "" {
		b.ID = limits.IDOf(c.who.Name + "\x00" + c.route.Path + "\x00" + key) // keys of different clients are different
		again, err := repeated.Started(c.req.Context(), c.engine, b.ID, repeated.Start{Name: b.Workflow, Parcel: parcel, Input: b.Input, Labels: b.Labels})
		switch {
		case err != nil:
			return err
		case again && !c.wantsLines():
			return c.showStarted(b.ID, wait)
		}
	}
	r := &api.Request{Verb: api.Begin, Name: b.Workflow, ID: b.ID, Labels: b.Labels, Document: b.Show}
	if len(b.Input) > 0 || parcel != nil {
		if r.Attachment, err = (&api.Attachment{Parcel: parcel, Input: b.Input}).Encode(); err != nil {
			return err
		}
	}
	ctx, cancel := c.commandContext()
	defer cancel()
	done, err := c.ask(ctx, r, func(*api.Reply) error { return nil })
	if err != nil {
		return err
	}
	return c.showStarted(done.Run, wait)
}

// showStarted answers with a run that was started.
func (c *exchange) showStarted(id string, wait time.Duration) error {
	c.w.Header().Set("Location", "/v1/runs/"+url.PathEscape(id))
	return c.show(http.StatusCreated, id, nil, wait)
}

// commandContext returns the context of a command, which is carried out even if the client goes.
func (c *exchange) commandContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(c.req.Context()), commandTime)
}

// key returns the Idempotency-Key of the request; "": none.
func (c *exchange) key() (string, error) {
	key := c.req.Header.Get("Idempotency-Key")
	if len(key) > keyMax {
		return "", problem(CodeBadRequest, "a key has at most %d bytes", keyMax).at("header/Idempotency-Key")
	}
	return key, nil
}

// wait returns how long the client prefers to wait.
func (c *exchange) wait() (time.Duration, error) {
	wait, ok := names.Wait(c.req.Header.Get("Prefer"))
	if !ok {
		return 0, problem(CodeBadRequest, "a wait is a number of seconds").at("header/Prefer")
	}
	return wait, nil
}

func showRun(c *exchange) error {
	r, err := c.of(api.Show)
	if err != nil {
		return err
	}
	wait, err := c.wait()
	if err != nil {
		return err
	}
	if c.wantsLines() {
		r.Document = c.query("document") == "true"
		_, err := c.ask(c.req.Context(), r, nil)
		return err
	}
	return c.show(http.StatusOK, r.Run, r.At, wait)
}

// show answers with a run, after it has ended or a while has passed.
func (c *exchange) show(status int, id string, at *api.Moment, wait time.Duration) error {
	if wait > 0 {
		c.allowLong()
	}
	ctx := c.req.Context()
	if wait > 0 {
		run, err := c.engine.Run(ctx, id)
		if err != nil {
			return err
		}
		waiting, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		defer context.AfterFunc(c.ctx, cancel)()
		if _, err := run.Wait(waiting); ctx.Err() != nil || err != nil && waiting.Err() == nil && !errors.Is(err, coordinator.ErrParked) {
			return cmp.Or(err, ctx.Err())
		}
	}
	var shown *api.Run
	_, err := c.ask(ctx, &api.Request{Verb: api.Show, Run: id, At: at}, func(r *api.Reply) error {
		shown = r.Run
		return errEnough
	})
	if shown == nil {
		return err
	}
	if at == nil {
		c.w.Header().Set("ETag", etag(shown.Events))
	}
	return c.reply(status, shown)
}

func etag(seq uint64) string { return `"` + seqText(seq) + `"` }

// unchanged refuses a command to a run that has gone on since the client saw it.
func (c *exchange) unchanged() error {
	match := c.req.Header.Values("If-Match")
	if len(match) == 0 {
		return nil
	}
	run, err := c.run()
	if err != nil {
		return err
	}
	last, err := run.Last(c.req.Context())
	if err != nil {
		return err
	}
	if !names.Match(match, etag(last)) {
		return problem(CodeChanged, "the run has %d events by now", last).at("header/If-Match")
	}
	return nil
}

func deleteRun(c *exchange) error {
	return command(c, api.Delete, func(*exchange, *api.Request) error { return nil })
}

// command carries out a command to a run.
func command(c *exchange, verb api.Verb, read func(*exchange, *api.Request) error) error {
	run, err := c.run()
	if err != nil {
		return err
	}
	r := &api.Request{Verb: verb, Run: run.ID(), Step: cmp.Or(c.req.PathValue("key"), c.req.PathValue("cell"))}
	r.Dry = c.dry()
	if err := read(c, r); err != nil {
		return err
	}
	if verb == api.Send {
		r.ID, _ = c.key() // which was checked
	}
	if err := c.unchanged(); err != nil {
		return err
	}
	ctx, cancel := c.commandContext()
	defer cancel()
	done, err := c.ask(ctx, r, func(*api.Reply) error { return nil })
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, done)
}

func listSteps(c *exchange) error {
	list := StepList{Items: []*api.Step{}}
	err := c.steps(func(s *api.Step) { list.Items = append(list.Items, s) })
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, list)
}

// steps passes on the steps of a run.
func (c *exchange) steps(take func(*api.Step)) error {
	r, err := c.of(api.Show)
	if err != nil {
		return err
	}
	r.Step = ""
	_, err = c.ask(c.req.Context(), r, func(reply *api.Reply) error {
		if reply.Step != nil {
			take(reply.Step)
		}
		return nil
	})
	return err
}

func showStep(c *exchange) error {
	key := c.req.PathValue("key")
	var found *api.Step
	err := c.steps(func(s *api.Step) {
		if s.Step == key {
			found = s
		}
	})
	if err != nil {
		return err
	}
	if found == nil {
		return problem("step_not_found", "the run has no such step")
	}
	return c.reply(http.StatusOK, found)
}

func readOutput(c *exchange) error {
	r, err := c.of(api.Output)
	if err != nil {
		return err
	}
	r.Participant = c.query("participant")
	v, release, err := c.values.Load(c.req.Context(), func() (v []byte, err error) {
		_, err = c.ask(c.req.Context(), r, func(reply *api.Reply) error { v = reply.Value; return nil })
		return v, err
	})
	if err != nil {
		return err
	}
	defer release()
	if text := c.query("pointer"); text != "" {
		part, found, err := bodies.Part(v, text)
		switch {
		case err != nil:
			return problem(CodeBadRequest, "%v", err).at("query/pointer")
		case !found:
			return problem(CodeNoValue, "the output has nothing there").at("query/pointer")
		}
		v = part
	}
	if !large.Serve(c.w, c.req, v, frames.FlushTime) {
		return problem(CodeRange, "a range is bytes=FROM-TO, and begins within the value, which has %d bytes", len(v)).at("header/Range")
	}
	return nil
}

func listEvents(c *exchange) error {
	r, err := c.of(api.Events)
	if err != nil {
		return err
	}
	limit, err := c.limit(eventsPage)
	if err != nil {
		return err
	}
	if r.From, err = c.from(); err != nil {
		return err
	}
	r.Step = c.query("step")
	page := EventPage{Items: []*api.Event{}}
	_, err = c.ask(c.req.Context(), r, func(reply *api.Reply) error {
		switch {
		case reply.Event == nil:
		case len(page.Items) == limit:
			page.Next = seqText(reply.Event.Seq)
			return errEnough
		default:
			brief.Event(r.Run, reply.Event)
			page.Items = append(page.Items, reply.Event)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	return c.reply(http.StatusOK, page)
}

func showEvent(c *exchange) error {
	r, err := c.of(api.Events)
	if err != nil {
		return err
	}
	if r.From, err = strconv.ParseUint(c.req.PathValue("seq"), 10, 64); err != nil || r.From == 0 {
		return problem("no_moment", "events have numbers from 1")
	}
	var event *api.Event
	if _, err = c.ask(c.req.Context(), r, func(reply *api.Reply) error { event = reply.Event; return errEnough }); event == nil || event.Seq != r.From {
		return cmp.Or(err, error(problem("no_moment", "the run has no such event")))
	}
	return c.reply(http.StatusOK, event)
}

// from returns the number of the event at which the cursor continues a list of the run; 0: the first.
func (c *exchange) from() (uint64, error) {
	cursor := c.query("cursor")
	if cursor == "" {
		return 0, nil
	}
	run, err := c.run()
	if err != nil {
		return 0, err
	}
	last, err := run.Last(c.req.Context())
	if err != nil {
		return 0, err
	}
	seq, err := strconv.ParseUint(cursor, 10, 64)
	if err != nil || seq == 0 || seq > last+1 && !c.wantsLines() {
		return 0, noCursor()
	}
	return seq, nil
}

func noCursor() error {
	return problem(CodeBadRequest, "it is no cursor of this list: begin without one").at("query/cursor")
}

func (c *exchange) list() cursors.List { return cursors.Of(c.req.URL.Path, c.given) }

// place returns the place after which the cursor continues a list; "": its beginning.
func (c *exchange) place() (string, error) {
	place, ok := c.list().Place(c.query("cursor"))
	if !ok {
		return "", noCursor()
	}
	return place, nil
}

func seqText(seq uint64) string { return strconv.FormatUint(seq, 10) }

func explainRun(c *exchange) error {
	r, err := c.of(api.Explain)
	if err != nil {
		return err
	}
	r.Step = c.query("step")
	var x *coordinator.Explanation
	if _, err = c.ask(c.req.Context(), r, func(reply *api.Reply) error { x = reply.Explanation; return nil }); err != nil {
		return err
	}
	return c.reply(http.StatusOK, x)
}

func callGraph(c *exchange) error {
	r, err := c.of(api.Graph)
	if err != nil {
		return err
	}
	list := CallList{Items: []*api.Call{}}
	_, err = c.ask(c.req.Context(), r, func(reply *api.Reply) error { list.Items = append(list.Items, reply.Call); return nil })
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, list)
}

func countRuns(c *exchange) error {
	counts, err := query.Count(c.req.Context(), c.engine, c.query("q"), time.Now())
	if fault, ok := errors.AsType[*query.Error](err); ok {
		return problem(CodeBadRequest, "query: %v", fault)
	}
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, counts)
}

func version(c *exchange) error {
	return c.reply(http.StatusOK, VersionAnswer{Version: c.config.Version})
}

func live(c *exchange) error { return c.reply(http.StatusOK, HealthAnswer{Status: "ok"}) }

// ready reports whether the engine answers.
func ready(c *exchange) error {
	if c.ctx.Err() != nil {
		return coordinator.ErrShutdown
	}
	if _, err := c.engine.Newest(c.req.Context()); err != nil {
		return err
	}
	return c.reply(http.StatusOK, HealthAnswer{Status: "ok"})
}

func describe(c *exchange) error {
	c.w.Header().Set("Content-Type", "application/json")
	_, _ = c.w.Write(c.openAPI)
	return nil
}

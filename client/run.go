package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/calllog"
	"github.com/sluiceflow/sluice/coordinator/httpapi/audit"
	"github.com/sluiceflow/sluice/coordinator/httpapi/jobs"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

// Engine is the interface to runs: those of an engine of the program, see Of, or those of a server, see Dial.
type Engine interface {
	// Start begins a run of a workflow. The engine's program must have the operations that are bound in Go.
	Start(ctx context.Context, w *template.Workflow, input any, o Options) (Run, error)

	// StartNamed begins a run of the newest version of a published workflow.
	StartNamed(ctx context.Context, name string, input any, o Options) (Run, error)

	// Publish makes a workflow the newest version of its name.
	Publish(ctx context.Context, w *template.Workflow) (*api.Version, error)

	// Run returns the run with an id.
	Run(ctx context.Context, id string) (Run, error)

	// Find yields the runs that a query selects, the newest first, as a list shows them; "" is all.
	Find(ctx context.Context, query string) iter.Seq2[*api.Run, error]

	// Delete removes a run that has ended, and the runs below it.
	Delete(ctx context.Context, id string) error

	// PreviewDelete returns the runs that Delete would remove, or the error with which it would refuse.
	PreviewDelete(ctx context.Context, id string) ([]string, error)
}

// Options of a start.
type Options struct {
	ID     string            // of the run; "": a random one
	Labels map[string]string // that lists show
}

// Run is one run: the methods of coordinator.Run that a server has, too.
type Run interface {
	// ID returns the id.
	ID() string

	// Dry returns the run with commands that change nothing: each returns the error with which it would be refused, and passes the
	// events that it would journal to would.
	Dry(would func(journal.Event)) Run

	// Wait waits for the end of the run and returns its result.
	Wait(ctx context.Context) (*coordinator.Result, error)

	// Watch yields the changes from an event on, and then new ones until the run has ended.
	Watch(ctx context.Context, from uint64) iter.Seq2[coordinator.Update, error]

	// Log yields the output of the run's programs and workers, or only of those of a step, as they write it, until the run has ended.
	Log(ctx context.Context, step string) iter.Seq2[calllog.Batch, error]

	// Events yields the events in the journal now, from one on.
	Events(ctx context.Context, from uint64) iter.Seq2[journal.Event, error]

	// Explain explains why the run, or a step of it, has its status; "" is the run.
	Explain(ctx context.Context, step string) (*coordinator.Explanation, error)

	// Output returns the whole output of a step; "" is the run. participant selects one of the participants that the step has asked.
	Output(ctx context.Context, step, participant string) (any, error)

	// Last returns the number of the newest event.
	Last(ctx context.Context) (uint64, error)

	// Send sends a message.
	Send(ctx context.Context, name string, payload any, opts ...coordinator.KeyOption) error

	// Decide decides whether the task of a step is done.
	Decide(ctx context.Context, step string, done bool, reason string, payload ...coordinator.PayloadOption) error

	// Pause prevents new starts.
	Pause(ctx context.Context, reason string) error

	// Resume ends a pause.
	Resume(ctx context.Context) error

	// Cancel ends the run.
	Cancel(ctx context.Context, reason string) error

	// Abort stops a step.
	Abort(ctx context.Context, step, reason string) error

	// Retry attempts a step again.
	Retry(ctx context.Context, step string, opts ...coordinator.RetryOption) error

	// Patch writes to the context of a playbook's run.
	Patch(ctx context.Context, changes map[string]any) error
}

var (
	_ Run    = localRun{}
	_ Run    = (*remoteRun)(nil)
	_ Engine = (*Client)(nil)
)

// Start implements Engine.
func (c *Client) Start(ctx context.Context, w *template.Workflow, input any, o Options) (Run, error) {
	p, err := pack(ctx, w)
	if err != nil {
		return nil, err
	}
	return c.start(ctx, &api.Request{Verb: api.Begin, ID: o.ID, Labels: o.Labels}, &api.Attachment{Parcel: p}, input)
}

// StartNamed implements Engine.
func (c *Client) StartNamed(ctx context.Context, name string, input any, o Options) (Run, error) {
	return c.start(ctx, &api.Request{Verb: api.Begin, Name: name, ID: o.ID, Labels: o.Labels}, &api.Attachment{}, input)
}

// pack returns a parcel of a workflow and all its children.
func pack(ctx context.Context, w *template.Workflow) (*registry.Parcel, error) {
	l, err := registry.New(memory.New(), registry.Config{})
	if err != nil {
		return nil, err
	}
	entry, err := l.Add(w)
	if err != nil {
		return nil, err
	}
	return l.Pack(ctx, entry)
}

func (c *Client) start(ctx context.Context, req *api.Request, a *api.Attachment, input any) (Run, error) {
	var err error
	if a.Input, err = payload(input); err == nil {
		req.Attachment, err = a.Encode()
	}
	if err != nil {
		return nil, err
	}
	done, err := c.do(ctx, req)
	if err != nil {
		return nil, err
	}
	return &remoteRun{c: c, id: done.Run}, nil
}

// payload returns a Go value as JSON; nil for nil.
func payload(v any) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	normal, err := value.Of(v)
	if err != nil {
		return nil, err
	}
	return value.JSON(normal)
}

// Audit yields the entries of the audit, newest first; Limit and Cursor of q page through them. The token must belong to an admin.
func (c *Client) Audit(ctx context.Context, q audit.Query) iter.Seq2[audit.Entry, error] {
	return func(yield func(audit.Entry, error) bool) {
		for more := true; more; more = q.Cursor != "" {
			values := url.Values{}
			set(values, "kind", q.Kind)
			set(values, "actor", q.Actor)
			set(values, "run", q.Run)
			set(values, "cursor", q.Cursor)
			limited(values, q.Limit)
			var page audit.Page
			if err := c.Do(ctx, "GET", "/v1/audit?"+values.Encode(), nil, &page); err != nil {
				yield(audit.Entry{}, err)
				return
			}
			for _, e := range page.Items {
				if !yield(e, nil) {
					return
				}
			}
			q.Cursor = page.Next
		}
	}
}

// Job starts a job of the server, waits for its end, and decodes its report: kind is backup, with a jobs.BackupBody, or doctor, with an
// empty body.
func (c *Client) Job(ctx context.Context, kind string, body, report any) error {
	var job jobs.Job
	if err := c.Do(ctx, "POST", "/v1/"+kind, body, &job); err != nil {
		return err
	}
	for job.State == jobs.Running {
		if err := c.Do(ctx, "GET", "/v1/"+kind+"/"+job.ID+"?wait=true", nil, &job); err != nil {
			return err
		}
	}
	if job.State == jobs.Failed {
		return fmt.Errorf("%s: %s", kind, job.Error)
	}
	return json.Unmarshal(job.Report, report)
}

// do carries out a request and returns only the last line of the answer.
func (c *Client) do(ctx context.Context, req *api.Request) (done api.Done, err error) {
	err = c.ask(ctx, req, func(r *api.Reply) error {
		if r.Done != nil {
			done = *r.Done
		}
		return nil
	})
	return done, err
}

// Publish implements Engine.
func (c *Client) Publish(ctx context.Context, w *template.Workflow) (*api.Version, error) {
	p, err := pack(ctx, w)
	if err != nil {
		return nil, err
	}
	req := &api.Request{Verb: api.Publish}
	if req.Attachment, err = (&api.Attachment{Parcel: p}).Encode(); err != nil {
		return nil, err
	}
	done, err := c.do(ctx, req)
	return done.Published, err
}

// Run implements Engine. The id is a whole one.
func (c *Client) Run(ctx context.Context, id string) (Run, error) {
	r := &remoteRun{c: c, id: id}
	if _, err := r.show(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// Find implements Engine.
func (c *Client) Find(ctx context.Context, query string) iter.Seq2[*api.Run, error] {
	return stream(ctx, c, &api.Request{Verb: api.List, Query: query}, func(r *api.Reply) (*api.Run, bool, error) { return r.Run, r.Run != nil, nil })
}

// Delete implements Engine.
func (c *Client) Delete(ctx context.Context, id string) error {
	_, err := c.do(ctx, &api.Request{Verb: api.Delete, Run: id})
	return err
}

// PreviewDelete implements Engine.
func (c *Client) PreviewDelete(ctx context.Context, id string) ([]string, error) {
	done, err := c.do(ctx, &api.Request{Verb: api.Delete, Run: id, Dry: true})
	return done.Deletes, err
}

var errStopped = errors.New("the caller has stopped the iteration")

// stream yields the values that pick takes from the lines of an answer.
func stream[T any](ctx context.Context, c *Client, req *api.Request, pick func(*api.Reply) (T, bool, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := c.ask(ctx, req, func(r *api.Reply) error {
			one, ok, err := pick(r)
			if err == nil && ok && !yield(one, nil) {
				return errStopped
			}
			return err
		})
		if err != nil && err != errStopped {
			var none T
			yield(none, err)
		}
	}
}

// remoteRun is a run of a server.
type remoteRun struct {
	c     *Client
	id    string
	dry   bool                // its commands change nothing
	would func(journal.Event) // is called with the events that they would journal; nil: no caller asked for them
}

// ID implements Run.
func (r *remoteRun) ID() string { return r.id }

// Dry implements Run. Fields that a server does not send are left out, see api.Update.Received.
func (r *remoteRun) Dry(would func(journal.Event)) Run { return &remoteRun{r.c, r.id, true, would} }

func (r *remoteRun) show(ctx context.Context) (shown *api.Run, err error) {
	err = r.c.ask(ctx, &api.Request{Verb: api.Show, Run: r.id}, func(reply *api.Reply) error {
		if reply.Run != nil {
			shown = reply.Run
		}
		return nil
	})
	if err == nil && shown == nil {
		err = api.ErrorOf(api.ErrHungUp)
	}
	return shown, err
}

// Wait implements Run.
func (r *remoteRun) Wait(ctx context.Context) (*coordinator.Result, error) {
	for {
		shown, err := r.show(ctx)
		if err != nil {
			return nil, err
		}
		if shown.Finished {
			return r.result(ctx, shown)
		}
		req := &api.Request{Verb: api.Watch, Run: r.id, From: shown.Events + 1, UntilParked: true}
		if err := r.c.ask(ctx, req, func(*api.Reply) error { return nil }); err != nil {
			return nil, err
		}
	}
}

func (r *remoteRun) result(ctx context.Context, shown *api.Run) (*coordinator.Result, error) {
	out := &coordinator.Result{Run: r.id, Status: reactive.RunStatus(shown.Status)}
	failure, err := shown.Failure.Journaled()
	if err != nil {
		return nil, err
	}
	if out.Failure = failure; shown.Preview == "" && len(shown.Output) == 0 {
		return out, nil
	}
	out.Output, err = r.Output(ctx, "", "")
	return out, err
}

// Watch implements Run. Fields that a server does not send are left out, see api.Update.Received.
func (r *remoteRun) Watch(ctx context.Context, from uint64) iter.Seq2[coordinator.Update, error] {
	return stream(ctx, r.c, &api.Request{Verb: api.Watch, Run: r.id, From: from}, func(reply *api.Reply) (u coordinator.Update, ok bool, err error) {
		if reply.Update == nil {
			return u, false, nil
		}
		received, err := reply.Update.Received()
		if err != nil {
			return u, false, err
		}
		return *received, true, nil
	})
}

// Log implements Run.
func (r *remoteRun) Log(ctx context.Context, step string) iter.Seq2[calllog.Batch, error] {
	return stream(ctx, r.c, &api.Request{Verb: api.Log, Run: r.id, Step: step}, func(reply *api.Reply) (b calllog.Batch, ok bool, err error) {
		if reply.Log == nil {
			return b, false, nil
		}
		return *reply.Log, true, nil
	})
}

// Events implements Run. Fields that a server does not send are left out, see api.Update.Received.
func (r *remoteRun) Events(ctx context.Context, from uint64) iter.Seq2[journal.Event, error] {
	return stream(ctx, r.c, &api.Request{Verb: api.Events, Run: r.id, From: from}, func(reply *api.Reply) (e journal.Event, ok bool, err error) {
		if reply.Event == nil {
			return e, false, nil
		}
		e, err = reply.Event.Journaled()
		return e, true, err
	})
}

// Explain implements Run.
func (r *remoteRun) Explain(ctx context.Context, step string) (x *coordinator.Explanation, err error) {
	err = r.c.ask(ctx, &api.Request{Verb: api.Explain, Run: r.id, Step: step}, func(reply *api.Reply) error {
		if reply.Explanation != nil {
			x = reply.Explanation
		}
		return nil
	})
	return x, err
}

// Output implements Run.
func (r *remoteRun) Output(ctx context.Context, step, participant string) (v any, err error) {
	err = r.c.ask(ctx, &api.Request{Verb: api.Output, Run: r.id, Step: step, Participant: participant}, func(reply *api.Reply) (err error) {
		if reply.Value != nil {
			v, err = value.ParseInput(reply.Value)
		}
		return err
	})
	return v, err
}

// Last implements Run.
func (r *remoteRun) Last(ctx context.Context) (uint64, error) {
	shown, err := r.show(ctx)
	if err != nil {
		return 0, err
	}
	return shown.Events, nil
}

func (r *remoteRun) do(ctx context.Context, req *api.Request) error {
	req.Run, req.Dry = r.id, r.dry
	done, err := r.c.do(ctx, req)
	for i := range done.Would {
		e, unread := done.Would[i].Journaled()
		if unread != nil {
			return unread
		}
		if r.would != nil {
			r.would(e)
		}
	}
	return err
}

// Send implements Run.
func (r *remoteRun) Send(ctx context.Context, name string, v any, opts ...coordinator.KeyOption) error {
	req := &api.Request{Verb: api.Send, Message: name}
	for _, key := range opts {
		req.ID = string(key)
	}
	var err error
	if req.Payload, err = payload(v); err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	return r.do(ctx, req)
}

// Decide implements Run.
func (r *remoteRun) Decide(ctx context.Context, step string, done bool, reason string, with ...coordinator.PayloadOption) (err error) {
	req := &api.Request{Verb: api.Decide, Step: step, Decision: api.NotFulfilled, Reason: reason}
	if done {
		req.Decision = api.Fulfilled
	}
	for _, p := range with {
		if req.Payload, err = payload(p.Payload); err != nil {
			return fmt.Errorf("payload: %w", err)
		}
	}
	return r.do(ctx, req)
}

// Pause implements Run.
func (r *remoteRun) Pause(ctx context.Context, reason string) error {
	return r.do(ctx, &api.Request{Verb: api.Pause, Reason: reason})
}

// Resume implements Run.
func (r *remoteRun) Resume(ctx context.Context) error {
	return r.do(ctx, &api.Request{Verb: api.Resume})
}

// Cancel implements Run.
func (r *remoteRun) Cancel(ctx context.Context, reason string) error {
	return r.do(ctx, &api.Request{Verb: api.Cancel, Reason: reason})
}

// Abort implements Run.
func (r *remoteRun) Abort(ctx context.Context, step, reason string) error {
	return r.do(ctx, &api.Request{Verb: api.Abort, Step: step, Reason: reason})
}

// Retry implements Run.
func (r *remoteRun) Retry(ctx context.Context, step string, opts ...coordinator.RetryOption) error {
	var d journal.Detail
	for _, opt := range opts {
		if opt != nil {
			opt(&d)
		}
	}
	return r.do(ctx, &api.Request{Verb: api.Retry, Step: step, Work: d.Work, NewKey: d.Key != ""})
}

// Patch implements Run.
func (r *remoteRun) Patch(ctx context.Context, changes map[string]any) error {
	text, err := payload(changes)
	if err != nil {
		return fmt.Errorf("changes: %w", err)
	}
	return r.do(ctx, &api.Request{Verb: api.Patch, Payload: text})
}

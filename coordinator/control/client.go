package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/internal/cancelled"
)

// answerTime is how long an answer may take, once the holder has taken the request, that does not follow a run.
const answerTime = 2 * time.Minute

// Client makes requests about the runs of a directory.
type Client struct {
	ask   func(ctx context.Context, req *api.Request, emit func(*api.Reply) error) error
	close func() error
	held  bool
}

// Dial gives the client of the process that holds a directory; api.ErrNotHeld when there is none. It holds nothing open: every
// request has a connection of its own.
func Dial(dir string) (*Client, error) {
	conn, err := dial(dir)
	if err != nil {
		return nil, api.ErrorOf(err)
	}
	return holder(dir), conn.Close()
}

func holder(dir string) *Client {
	ask := func(ctx context.Context, req *api.Request, emit func(*api.Reply) error) error {
		return askHolder(ctx, dir, req, emit)
	}
	return &Client{ask: ask, close: func() error { return nil }, held: true}
}

// Local gives a client of an engine in this process. Closing it leaves the engine as it is.
func Local(engine *coordinator.Engine) *Client {
	ask := func(ctx context.Context, req *api.Request, emit func(*api.Reply) error) error {
		err := api.Handle(ctx, engine, req, emit)
		if err != nil && ctx.Err() != nil {
			return cancelled.Error(ctx)
		}
		return err
	}
	return &Client{ask: ask, close: func() error { return nil }}
}

// Held reports whether another process holds the directory and answers.
func (c *Client) Held() bool { return c.held }

// Close gives the directory back, if it was opened for this client.
func (c *Client) Close() error { return c.close() }

// Runs yields all runs in order of id, without their steps.
func (c *Client) Runs(ctx context.Context) iter.Seq2[*api.Run, error] {
	return stream(ctx, c, &api.Request{Verb: api.List}, func(r *api.Reply) *api.Run { return r.Run })
}

// Show gives a run and all its steps.
func (c *Client) Show(ctx context.Context, run string) (*api.Run, error) {
	var shown *api.Run
	err := c.ask(ctx, &api.Request{Verb: api.Show, Run: run}, func(r *api.Reply) error {
		switch {
		case r.Run != nil:
			shown = r.Run
		case r.Step != nil && shown != nil:
			shown.Steps = append(shown.Steps, *r.Step)
		}
		return nil
	})
	if err == nil && shown == nil {
		err = api.ErrorOf(api.ErrHungUp)
	}
	return shown, err
}

// Explain says why a run, or one of its steps, stands where it does; "" is the run.
func (c *Client) Explain(ctx context.Context, run, step string) (*coordinator.Explanation, error) {
	var x *coordinator.Explanation
	err := c.ask(ctx, &api.Request{Verb: api.Explain, Run: run, Step: step}, func(r *api.Reply) error {
		if r.Explanation != nil {
			x = r.Explanation
		}
		return nil
	})
	if err == nil && x == nil {
		err = api.ErrorOf(api.ErrHungUp)
	}
	return x, err
}

// Output returns what a step has returned, whole, as JSON; "" is the run. A participant names one of those whom the step has
// asked.
func (c *Client) Output(ctx context.Context, run, step, participant string) (json.RawMessage, error) {
	var v json.RawMessage
	req := &api.Request{Verb: api.Output, Run: run, Step: step, Participant: participant}
	err := c.ask(ctx, req, func(r *api.Reply) error {
		if r.Value != nil {
			v = r.Value
		}
		return nil
	})
	if err == nil && v == nil {
		err = api.ErrorOf(api.ErrHungUp)
	}
	return v, err
}

// Events yields what a run's journal holds now, from sequence from on: about a step, or of the whole run where that is "".
func (c *Client) Events(ctx context.Context, run, step string, from uint64) iter.Seq2[*api.Event, error] {
	return stream(ctx, c, &api.Request{Verb: api.Events, Run: run, Step: step, From: from}, func(r *api.Reply) *api.Event { return r.Event })
}

// Calls yields the calls of a run, of the runs below it, and those that have led to it: the nodes of its call graph, in an order
// in which every parent request comes before the calls that it has made.
func (c *Client) Calls(ctx context.Context, run string) iter.Seq2[*api.Call, error] {
	return stream(ctx, c, &api.Request{Verb: api.Graph, Run: run}, func(r *api.Reply) *api.Call { return r.Call })
}

// Views yields what has happened in the net of a playbook's run, from sequence from on.
func (c *Client) Views(ctx context.Context, run string, from uint64) iter.Seq2[*api.View, error] {
	return stream(ctx, c, &api.Request{Verb: api.Views, Run: run, From: from}, func(r *api.Reply) *api.View { return r.View })
}

// Watch yields what has happened to a run from sequence from on, and then what happens, until the run has ended.
func (c *Client) Watch(ctx context.Context, run string, from uint64) iter.Seq2[*api.Update, error] {
	return stream(ctx, c, &api.Request{Verb: api.Watch, Run: run, From: from}, func(r *api.Reply) *api.Update { return r.Update })
}

// Do makes a wish. When it returns without an error, the wish is durable. A holder that does not take it within five seconds is
// api.ErrNoAnswer, as with all requests, and will not do it later either.
func (c *Client) Do(ctx context.Context, req *api.Request) (done api.Done, err error) {
	if !req.Verb.Command() {
		return api.Done{}, api.ErrorOf(fmt.Errorf("%w: %q is no wish", api.ErrBadRequest, req.Verb))
	}
	err = c.ask(ctx, req, func(r *api.Reply) error {
		if r.Done != nil {
			done = *r.Done
		}
		return nil
	})
	return done, err
}

var errStopped = errors.New("nothing more is wanted")

// stream yields those lines of an answer that pick chooses.
func stream[T any](ctx context.Context, c *Client, req *api.Request, pick func(*api.Reply) *T) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		err := c.ask(ctx, req, func(r *api.Reply) error {
			if one := pick(r); one != nil && !yield(one, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && err != errStopped {
			yield(nil, err)
		}
	}
}

// askHolder makes a request on a connection of its own.
func askHolder(ctx context.Context, dir string, req *api.Request, emit func(*api.Reply) error) error {
	line, err := req.Encode()
	if err != nil {
		return api.ErrorOf(err)
	}
	conn, err := dial(dir)
	if err != nil {
		return api.ErrorOf(err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	a := &answer{conn: conn, dir: dir, follows: req.Verb == api.Watch}
	if err = a.ask(line); err == nil {
		err = a.read(emit)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return cancelled.Error(ctx)
	case err != nil && err != errStopped:
		return api.ErrorOf(err)
	}
	return err
}

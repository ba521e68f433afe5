package folder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/sluiceflow/sluice/client"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/calllog"
	"github.com/sluiceflow/sluice/coordinator/control"
	"github.com/sluiceflow/sluice/coordinator/query"
	"github.com/sluiceflow/sluice/internal/cancelled"
)

// Client makes requests about the runs of a directory.
type Client struct {
	// Trimmed is called before the next event, view or update, with a sentence about events that the answer lacks because they were trimmed.
	// Nil: no call. It must not be set while the client is in use.
	Trimmed func(sentence string)

	ask   func(ctx context.Context, req *api.Request, emit func(*api.Reply) error) error
	close func() error
	held  bool
}

// Dial returns a client of the process that holds a directory; api.ErrNotHeld if there is none. In place of a directory it takes the URL
// of a server, as Open does.
func Dial(dir string) (*Client, error) {
	if client.IsURL(dir) {
		return remote(dir)
	}
	holder, err := control.Dial(dir)
	if err != nil {
		return nil, err
	}
	return &Client{ask: holder.Ask, close: func() error { return nil }, held: true}, nil
}

// Local returns a client of an engine in this process. Close does not affect the engine.
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

// At returns a client whose Show, Cell, Explain and Calls describe a run as it was at a moment.
func (c *Client) At(m api.Moment) *Client {
	past := *c
	past.ask = func(ctx context.Context, req *api.Request, emit func(*api.Reply) error) error {
		then := *req
		then.At = &m
		return c.ask(ctx, &then, emit)
	}
	return &past
}

// Held reports whether another process holds the directory and answers.
func (c *Client) Held() bool { return c.held }

// Close releases the directory, if it was opened for this client.
func (c *Client) Close() error { return c.close() }

// Runs yields all runs, newest first, without their steps.
func (c *Client) Runs(ctx context.Context) iter.Seq2[*api.Run, error] {
	return stream(ctx, c, &api.Request{Verb: api.List}, func(r *api.Reply) *api.Run { return r.Run })
}

// List passes the runs that a request selects to each, newest first, without their steps: by its Query, Labels, Limit and Cursor.
// done.Next is the cursor of the next page.
func (c *Client) List(ctx context.Context, req api.Request, each func(*api.Run) error) (done api.Done, err error) {
	req.Verb = api.List
	err = c.ask(ctx, &req, func(r *api.Reply) error {
		switch {
		case r.Run != nil:
			return each(r.Run)
		case r.Done != nil:
			done = *r.Done
		}
		return nil
	})
	return done, err
}

// Rules yields the retention rules of ended runs.
func (c *Client) Rules(ctx context.Context) iter.Seq2[*api.Rule, error] {
	return stream(ctx, c, &api.Request{Verb: api.Rules}, func(r *api.Reply) *api.Rule { return r.Rule })
}

// Published yields the names of published workflows that begin with begun, in order, at most limit; 0: all.
func (c *Client) Published(ctx context.Context, begun string, limit int) iter.Seq2[*string, error] {
	req := &api.Request{Verb: api.Names, Name: begun, Limit: limit}
	return stream(ctx, c, req, func(r *api.Reply) *string {
		if r.Name == "" {
			return nil
		}
		return &r.Name
	})
}

// Collect deletes expired runs and unused data, and passes each to the function; if req.Dry is true, it only passes them. req.Keep
// replaces the rules, if it is not empty.
func (c *Client) Collect(ctx context.Context, req api.Request, each func(*api.Gone) error) (done api.Collected, err error) {
	req.Verb, req.Beside = api.Collect, c.held
	err = c.ask(ctx, &req, func(r *api.Reply) error {
		switch {
		case r.Gone != nil:
			return each(r.Gone)
		case r.Done != nil && r.Done.Collected != nil:
			done = *r.Done.Collected
		}
		return nil
	})
	return done, err
}

// Rerun starts a run that keeps results of another, as req.Rerun says. With req.Dry it only passes its preview to each.
func (c *Client) Rerun(ctx context.Context, req *api.Request, each func(*api.RerunStep) error) (done api.Done, err error) {
	err = c.ask(ctx, req, func(r *api.Reply) error {
		switch {
		case r.Rerun != nil:
			return each(r.Rerun)
		case r.Done != nil:
			done = *r.Done
		}
		return nil
	})
	return done, err
}

// ExplainQuery returns the index that carries the query of a list, and the terms that are checked afterwards.
func (c *Client) ExplainQuery(ctx context.Context, text string, labels map[string]string) (x *query.Explanation, err error) {
	err = c.whole(ctx, &api.Request{Verb: api.List, Query: text, Labels: labels, Dry: true}, func(r *api.Reply) error {
		if r.Query != nil {
			x = r.Query
		}
		return nil
	})
	if err == nil && x == nil {
		err = api.ErrorOf(api.ErrHungUp)
	}
	return x, err
}

// Show returns a run and all its steps, or the first cells of a world.
func (c *Client) Show(ctx context.Context, run string) (*api.Run, error) {
	var shown *api.Run
	err := c.whole(ctx, &api.Request{Verb: api.Show, Run: run}, func(r *api.Reply) error {
		switch {
		case r.Run != nil:
			shown = r.Run
		case r.Step != nil && shown != nil:
			shown.Steps = append(shown.Steps, *r.Step)
		case r.Cell != nil && shown != nil:
			shown.Cells = append(shown.Cells, *r.Cell)
		}
		return nil
	})
	if err == nil && shown == nil {
		err = api.ErrorOf(api.ErrHungUp)
	}
	return shown, err
}

// Workflow returns a run without its steps, and the canonical document of its workflow.
func (c *Client) Workflow(ctx context.Context, run string) (shown *api.Run, document json.RawMessage, err error) {
	err = c.whole(ctx, &api.Request{Verb: api.Show, Run: run, Document: true}, func(r *api.Reply) error {
		switch {
		case r.Run != nil:
			shown = r.Run
		case r.Done != nil:
			document = r.Done.Document
		}
		return nil
	})
	if err == nil && (shown == nil || document == nil) {
		err = api.ErrorOf(api.ErrHungUp)
	}
	return shown, document, err
}

// Cell returns a cell of a world's run.
func (c *Client) Cell(ctx context.Context, run, address string) (*api.Cell, error) {
	return c.cell(ctx, &api.Request{Verb: api.Show, Run: run, Step: address})
}

// Await waits until a condition holds for a cell of a world's run, and returns the cell at that moment.
func (c *Client) Await(ctx context.Context, run, address, condition string) (*api.Cell, error) {
	return c.cell(ctx, &api.Request{Verb: api.Await, Run: run, Step: address, If: condition})
}

func (c *Client) cell(ctx context.Context, req *api.Request) (*api.Cell, error) {
	var cell *api.Cell
	err := c.whole(ctx, req, func(r *api.Reply) error {
		if r.Cell != nil {
			cell = r.Cell
		}
		return nil
	})
	if err == nil && cell == nil {
		err = api.ErrorOf(api.ErrHungUp)
	}
	return cell, err
}

// Cells passes the cells of a world's run that a request selects to each, in the order of their addresses. The warning states the number
// of cells for which its condition could not be evaluated.
func (c *Client) Cells(ctx context.Context, req api.Request, each func(*api.Cell) error) (warning string, err error) {
	req.Verb = api.Cells
	err = c.ask(ctx, &req, func(r *api.Reply) error {
		switch {
		case r.Cell != nil:
			return each(r.Cell)
		case r.Done != nil:
			warning = r.Done.Warning
		}
		return nil
	})
	return warning, err
}

// Explain explains why a run, or one of its steps, has its status; "" is the run.
func (c *Client) Explain(ctx context.Context, run, step string) (*coordinator.Explanation, error) {
	var x *coordinator.Explanation
	err := c.whole(ctx, &api.Request{Verb: api.Explain, Run: run, Step: step}, func(r *api.Reply) error {
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

// Output returns the whole output of a step as JSON; "" is the run. participant selects one of the participants that the step has asked.
func (c *Client) Output(ctx context.Context, run, step, participant string) (json.RawMessage, error) {
	var v json.RawMessage
	req := &api.Request{Verb: api.Output, Run: run, Step: step, Participant: participant}
	err := c.whole(ctx, req, func(r *api.Reply) error {
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

// Events yields the events in a run's journal now, from sequence from on: those about a step or cell, or all if that is "".
func (c *Client) Events(ctx context.Context, run, step string, from uint64) iter.Seq2[*api.Event, error] {
	return stream(ctx, c, &api.Request{Verb: api.Events, Run: run, Step: step, From: from}, func(r *api.Reply) *api.Event { return r.Event })
}

// Calls yields the calls of a run, of the runs below it, and of those that led to it: the nodes of its call graph, each parent
// request before the calls that it has made.
func (c *Client) Calls(ctx context.Context, run string) iter.Seq2[*api.Call, error] {
	return stream(ctx, c, &api.Request{Verb: api.Graph, Run: run}, func(r *api.Reply) *api.Call { return r.Call })
}

// Views yields the history of the net of a playbook's run, or of the cells of a world, from sequence from on: in a step or
// cell, or in all if that is "".
func (c *Client) Views(ctx context.Context, run, step string, from uint64) iter.Seq2[*api.View, error] {
	return stream(ctx, c, &api.Request{Verb: api.Views, Run: run, Step: step, From: from}, func(r *api.Reply) *api.View { return r.View })
}

// Watch yields the changes of a run from sequence from on, and then new ones until the run has ended.
func (c *Client) Watch(ctx context.Context, run string, from uint64) iter.Seq2[*api.Update, error] {
	return stream(ctx, c, &api.Request{Verb: api.Watch, Run: run, From: from}, func(r *api.Reply) *api.Update { return r.Update })
}

// Log yields the output of a run's calls, or only of a step's, until the run has ended.
func (c *Client) Log(ctx context.Context, run, step string) iter.Seq2[*calllog.Batch, error] {
	return stream(ctx, c, &api.Request{Verb: api.Log, Run: run, Step: step}, func(r *api.Reply) *calllog.Batch { return r.Log })
}

// Follow yields the updates of Watch, and ends with coordinator.ErrParked as soon as the run cannot go on in the process that answers.
func (c *Client) Follow(ctx context.Context, run string, from uint64) iter.Seq2[*api.Update, error] {
	req := &api.Request{Verb: api.Watch, Run: run, From: from, UntilParked: true}
	return stream(ctx, c, req, func(r *api.Reply) *api.Update { return r.Update })
}

// Acts passes the answers to a request about acts on many runs to each: acts, outcomes and previews. See api.Bulk, api.Acts,
// api.AwaitAct and api.StopAct.
func (c *Client) Acts(ctx context.Context, req *api.Request, each func(*api.Reply) error) error {
	return c.ask(ctx, req, func(r *api.Reply) error {
		if r.Act == nil && r.Outcome == nil && r.Preview == nil {
			return nil
		}
		return each(r)
	})
}

// Do sends a command. When it returns without an error, the command is durable. If the holder does not take it within five
// seconds, Do returns api.ErrNoAnswer, as all requests do, and the holder will not carry it out later.
func (c *Client) Do(ctx context.Context, req *api.Request) (done api.Done, err error) {
	if !req.Verb.Command() {
		return api.Done{}, api.ErrorOf(fmt.Errorf("%w: %q is not a command", api.ErrBadRequest, req.Verb))
	}
	err = c.ask(ctx, req, func(r *api.Reply) error {
		if r.Done != nil {
			done = *r.Done
		}
		return nil
	})
	return done, err
}

var errStopped = errors.New("the caller has stopped the iteration")

// stream yields the lines of an answer that pick selects.
func stream[T any](ctx context.Context, c *Client, req *api.Request, pick func(*api.Reply) *T) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		stopped := false // then nothing may be yielded: not the error of a context that the caller has ended, either
		err := c.ask(ctx, req, func(r *api.Reply) error {
			if r.Trimmed != "" && c.Trimmed != nil {
				c.Trimmed(r.Trimmed)
			}
			if one := pick(r); one != nil && !yield(one, nil) {
				stopped = true
				return errStopped
			}
			return nil
		})
		if err != nil && !stopped {
			yield(nil, err)
		}
	}
}

// whole makes a request that changes nothing. The caller receives its answer only when it is complete: a holder that ends before that has
// not answered.
func (c *Client) whole(ctx context.Context, req *api.Request, emit func(*api.Reply) error) error {
	err := c.ask(ctx, req, emit)
	if errors.Is(err, api.ErrHungUp) {
		err = api.ErrorOf(fmt.Errorf("%w any more: %v", api.ErrNotHeld, err))
	}
	return err
}

// Package answering brings the results and reports of workers to the runs whose calls they have taken: it turns them into items for the
// loops of these runs, and reports how a call ended that had ended before.
package answering

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/sluiceflow/sluice/coordinator/calllog"
	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/workers"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Runs reaches the runs of an engine.
type Runs interface {
	// Pass passes an item, and others after it, to the loop of a run; the function that it returns waits for the reply to the first.
	Pass(ctx context.Context, run string, it decide.Item, others ...decide.Item) (wait func() error)

	// Look calls look with the state of a run.
	Look(ctx context.Context, run string, look func(*reactive.Root)) error

	// Ring returns the ring for the secrets of a run; nil: it has none.
	Ring(ctx context.Context, root *reactive.Root) *keychain.Ring
}

// Calls are the calls that workers may have taken. It implements workers.Engine.
type Calls struct {
	runs   Runs
	logs   *calllog.Logs
	logger *slog.Logger
}

var _ workers.Engine = Calls{}

// New returns the calls of the runs; the texts of workers about them go to the logs and the logger.
func New(runs Runs, logs *calllog.Logs, logger *slog.Logger) Calls { return Calls{runs, logs, logger} }

// Ask implements workers.Engine.
func (c Calls) Ask(ctx context.Context, run string) error {
	return c.runs.Pass(ctx, run, decide.Item{Look: func(*reactive.Root) {}})()
}

// Answer implements workers.Engine.
func (c Calls) Answer(ctx context.Context, id workers.ID, result call.Result, late bool) (wait func() (was string, err error)) {
	found := ""
	look := decide.Item{Look: func(root *reactive.Root) { found = ended(root, id) }}
	end := decide.Item{Event: about(id, decide.Ending(requestOf(id), result)), If: func(*reactive.Root) bool { return late || found == "" }}
	taken := c.runs.Pass(ctx, id.Run, look, end)
	return func() (was string, err error) {
		if err = taken(); err == nil { // otherwise the run may still set found
			was = found
		}
		if errors.Is(err, decide.ErrFinished) { // its journal accepts no more events
			c.logger.Info("a worker has answered after the run had ended", "run", id.Run, "step", id.Node, "request", id.String())
		}
		return describeGone(was, err)
	}
}

// Report implements workers.Engine.
func (c Calls) Report(ctx context.Context, id workers.ID, making, number int32, kind string, payload any) error {
	if id.Decision != 0 {
		return operation.ErrNoCall
	}
	event := about(id, decide.Reported(requestOf(id), making, number, kind, payload))
	return c.runs.Pass(ctx, id.Run, decide.Item{Event: event})()
}

// Secrets implements workers.Engine.
func (c Calls) Secrets(ctx context.Context, run string) (ring *keychain.Ring, was string, err error) {
	var found *keychain.Ring
	if err = c.runs.Look(ctx, run, func(root *reactive.Root) { found = c.runs.Ring(ctx, root) }); err == nil { // else the run may still set it
		ring = found
	}
	was, err = describeGone("", err)
	return ring, was, err
}

// Log implements workers.Engine.
func (c Calls) Log(id workers.ID, worker, text string) {
	c.logs.Write(id.Run, calllog.Entry{
		At: time.Now().UTC(), Step: id.Node, Attempt: id.Attempt, Participant: id.Participant, Stream: calllog.Worker, Text: text,
	})
	c.logger.Info("a worker writes", "run", id.Run, "step", id.Node, "request", id.String(), "worker", worker, "text", text)
}

// requestOf returns the request with an id, except its node.
func requestOf(id workers.ID) reactive.Request {
	return reactive.Request{Attempt: id.Attempt, Participant: id.Participant, Decision: id.Decision}
}

func about(id workers.ID, e journal.Event) journal.Event {
	e.Node = id.Node
	return e
}

// ended returns the status of the node of a call that has ended; "" if the call is open, "unknown" if there is no such node.
func ended(root *reactive.Root, id workers.ID) string {
	v, ok := root.Node(id.Node)
	if !ok {
		return "unknown"
	}
	req := root.Request(v, id.Attempt)
	req.Participant, req.Decision = id.Participant, id.Decision
	if root.Open(req) {
		return ""
	}
	return root.Status(v).String()
}

// describeGone turns the error that a run has ended or was deleted into a text; any other error stays one.
func describeGone(was string, err error) (string, error) {
	switch {
	case errors.Is(err, decide.ErrFinished):
		return "the run has ended", nil
	case errors.Is(err, decide.ErrRunNotFound):
		return "the run was deleted", nil
	}
	return was, err
}

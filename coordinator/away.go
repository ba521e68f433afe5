package coordinator

import (
	"context"
	"errors"
	"time"

	"github.com/sluiceflow/sluice/coordinator/calllog"
	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/pool"
	"github.com/sluiceflow/sluice/coordinator/tally"
	"github.com/sluiceflow/sluice/coordinator/workers"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Workers returns where workers take calls and give answers; nil if there are none, see Config.Workers.
func (e *Engine) Workers() *workers.Hub { return e.workers }

// Tally returns the counts of what this engine has journaled.
func (e *Engine) Tally() *tally.Tally { return &e.tally }

// Uses returns how much is used of the limits that the calls of all runs share.
func (e *Engine) Uses() []pool.Use { return e.pool.Uses() }

// Limits returns what bounds each run.
func (e *Engine) Limits() Limits { return e.config.Limits }

// away answers the hub of the workers. It implements workers.Engine.
type away struct{ *Engine }

func (a away) run(id string) asked { return asked{&Run{engine: a.Engine, id: id}} }

// Ask implements workers.Engine.
func (a away) Ask(ctx context.Context, run string) error {
	return a.run(run).ask(ctx, decide.Item{Look: func(*reactive.Root) {}})
}

// Answer implements workers.Engine.
func (a away) Answer(ctx context.Context, id workers.ID, result call.Result, late bool) (wait func() (was string, err error)) {
	found := ""
	look := decide.Item{Look: func(root *reactive.Root) { found = ended(root, id) }}
	end := decide.Item{Event: about(id, decide.Ending(requestOf(id), result)), If: func(*reactive.Root) bool { return late || found == "" }}
	taken := a.run(id.Run).pass(ctx, look, end)
	return func() (was string, err error) {
		if err = taken(); err == nil { // else the run may be about to look
			was = found
		}
		if errors.Is(err, ErrFinished) { // its journal takes nothing any more
			a.config.Logger.Info("a worker has answered after the run had ended", "run", id.Run, "step", id.Node, "request", id.String())
		}
		return gone(was, err)
	}
}

// Report implements workers.Engine.
func (a away) Report(ctx context.Context, id workers.ID, making, number int32, kind string, payload any) error {
	if id.Decision != 0 {
		return operation.ErrNoCall
	}
	event := about(id, decide.Reported(requestOf(id), making, number, kind, payload))
	return a.run(id.Run).ask(ctx, decide.Item{Event: event})
}

// Secrets implements workers.Engine.
func (a away) Secrets(ctx context.Context, run string) (ring *keychain.Ring, was string, err error) {
	var found *keychain.Ring
	if err = a.run(run).Look(ctx, func(root *reactive.Root) { found = a.ringOf(ctx, root) }); err == nil { // else the run may yet look
		ring = found
	}
	was, err = gone("", err)
	return ring, was, err
}

// Log implements workers.Engine.
func (a away) Log(id workers.ID, worker, text string) {
	a.logs.Write(id.Run, calllog.Entry{
		At: time.Now().UTC(), Step: id.Node, Attempt: id.Attempt, Participant: id.Participant, Stream: calllog.Worker, Text: text,
	})
	a.config.Logger.Info("a worker writes", "run", id.Run, "step", id.Node, "request", id.String(), "worker", worker, "text", text)
}

// requestOf returns the request with an id, but for its node.
func requestOf(id workers.ID) reactive.Request {
	return reactive.Request{Attempt: id.Attempt, Participant: id.Participant, Decision: id.Decision}
}

func about(id workers.ID, e journal.Event) journal.Event {
	e.Node = id.Node
	return e
}

// ended returns what has become of a call that has ended, else "".
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

// gone tells a call whose run has ended, or is there no more, from an error.
func gone(was string, err error) (string, error) {
	switch {
	case errors.Is(err, ErrFinished):
		return "the run has ended", nil
	case errors.Is(err, ErrRunNotFound):
		return "the run was deleted", nil
	}
	return was, err
}

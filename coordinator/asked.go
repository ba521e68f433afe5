package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/inbox"
	"github.com/sluiceflow/sluice/coordinator/lists"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// handle returns a handle of a run. Its commands record actor.
func (e *Engine) handle(id, actor string) (r *Run) {
	r = &Run{Reading: lists.Of(e.Lists, id), engine: e, id: id, actor: actor}
	r.Handle, r.Commands, r.Moves = cells.New(requests{r}), e.taker.Of(requests{r}), e.mover.Of(requests{r})
	return r
}

// requests carries out the requests to a handle of a run. It implements cells.Run, commands.Run and moving.Run.
type requests struct{ *Run }

// Take implements cells.Run.
func (r requests) Take(ctx context.Context, event journal.Event) (journal.Event, error) {
	return r.engine.taker.Take(ctx, r, event)
}

// Look implements cells.Run. A run that this engine does not drive, or that has ended, is read from its journal.
func (r requests) Look(ctx context.Context, look func(*reactive.Root)) error {
	if r.would == nil && r.Driven() && r.engine.parked.Reason(r.id) == nil {
		if err := r.Ask(ctx, decide.Item{Look: look}); !errors.Is(err, ErrFinished) {
			return err
		}
	}
	_, root, err := r.engine.reader.Replay(ctx, r.id, nil)
	if err == nil {
		look(root)
	}
	return cmp.Or(r.engine.checkOpen(), r.engine.readError(ctx, err))
}

// Storage implements cells.Run. If this engine does not drive the run, all its events stay: the program that drives it decides.
func (r requests) Storage() cells.Storage {
	s := cells.Storage{Lock: &r.engine.content, KeepEvents: -1, Dry: r.would != nil}
	if s.Content, _ = r.engine.store.(journal.ContentStore); r.Driven() {
		s.KeepEvents = r.engine.config.KeepEvents
	}
	return s
}

// Actor implements commands.Run.
func (r requests) Actor() string { return r.actor }

// Would implements commands.Run.
func (r requests) Would() func(journal.Event) { return r.would }

// Ask passes an item to the run's loop and waits for its reply.
func (r requests) Ask(ctx context.Context, it decide.Item) error {
	return process{r.engine}.Pass(ctx, r.id, it)()
}

// Pass passes an item, and others after it, to the loop of a run; the function that it returns waits for the reply to the first. A run
// that has left memory before it took the items is loaded again.
func (p process) Pass(ctx context.Context, run string, it decide.Item, others ...decide.Item) (wait func() error) {
	send := func() (done chan error, err error) {
		done = make(chan error, 1)
		it.Reply = inbox.Once(done)
		return done, p.deliver(ctx, run, append([]decide.Item{it}, others...)...)
	}
	done, err := send()
	return func() error {
		for ; err == nil; done, err = send() {
			switch reply, answered := inbox.AwaitReply(ctx, done, p.end.Shut()); {
			case errors.Is(reply, errUnloaded):
			case answered && reply != nil:
				return fmt.Errorf("run %s: %w", run, reply)
			default:
				return reply
			}
		}
		return err
	}
}

package coordinator

import (
	"context"
	"errors"
	"time"

	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// loop drives one run until it leaves memory. Where driving it panics, the run is parked; see guard.go.
func (r *run) loop(ctx context.Context) {
	drive := func() error { r.drive(ctx); return nil }
	if err := usercode.CallExit(drive, func(p *usercode.Panic) { r.exited(ctx, p) }); err != nil {
		r.collapse(err)
	}
	r.leave()
}

// drive drains the inbox, decides, appends, and only then lets anybody see or do what was decided. It is the only place that
// appends to a run's stream.
func (r *run) drive(ctx context.Context) {
	r.timer = time.NewTimer(time.Hour)
	defer r.timer.Stop()
	for r.recover(ctx) {
		for r.wait(ctx) {
			out := r.step.Step(r.instant(), r.take())
			if err := r.append(ctx, out.Batch); err != nil {
				if !r.survive(ctx, err) {
					return
				}
				break // and recover from what the journal says
			}
			r.backoff, r.refusals = 0, 0
			r.settled()
			r.begun()
			r.answer(out.Replies)
			r.under.Stop(out.Cancels)
			if r.err = r.unable; r.err != nil {
				r.host.GiveUp(r.step.Room())
				return
			}
			r.host.Make(ctx, r.host.Admit(out.Calls, r.step.Room()), &r.under)
			r.relayPause(context.WithoutCancel(ctx))
			r.more = out.More
			if r.finish() {
				return
			}
		}
		if r.idle || ctx.Err() != nil {
			return
		}
	}
}

// begun tells those who wait for the run's start.
func (r *run) begun() {
	if r.started && r.seq > 0 && !isClosed(r.durable) {
		close(r.durable)
	}
}

// append makes a batch durable, with the head that follows from it.
func (r *run) append(ctx context.Context, batch []journal.Event) error {
	if len(batch) == 0 {
		return nil
	}
	return r.commit(ctx, batch, r.step.Head())
}

// commit is append with a head of the caller's. What is too much for the store at once goes in halves. Nobody is told of the
// first before the last is durable.
func (r *run) commit(ctx context.Context, batch []journal.Event, head journal.Head) error {
	last, err := r.engine.store.Append(context.WithoutCancel(ctx), r.id, r.seq, batch, head)
	switch {
	case err == nil:
		r.seq = last
		return nil
	case len(batch) < 2 || !errors.Is(err, journal.ErrTooLarge):
		return err
	}
	half := len(batch) / 2
	if err := r.commit(ctx, batch[:half], unfinished(head)); err != nil {
		return err
	}
	if err := r.commit(ctx, batch[half:], head); err != nil {
		return errors.Join(errHalf, err)
	}
	return nil
}

// errHalf is why a run whose batch is durable in part does not try again here: what came in for it would count twice.
var errHalf = errors.New("only a part of what was decided together is in the journal")

// unfinished is a head as long as the rest of a batch is missing: whoever finds it goes on with the run at once.
func unfinished(head journal.Head) journal.Head {
	head.Due = head.Updated
	if !head.Open {
		head.Open, head.Status = true, string(reactive.RunRunning)
	}
	return head
}

// wait returns when there is something to do: items, more to decide, or a timer due. It reports false when the run
// leaves memory: at shutdown also when there is more to decide, which may have no end.
func (r *run) wait(ctx context.Context) bool {
	if r.inbox.Ready() || r.more && ctx.Err() == nil {
		return true
	}
	due := r.step.NextDue()
	pause := r.engine.config.IdleTimeout
	if due > 0 {
		pause = min(pause, r.engine.clock.Until(due))
	}
	r.timer.Reset(max(0, pause))
	defer r.timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-r.inbox.Wake():
		return true
	case <-r.timer.C:
	}
	if due > 0 && r.instant() >= due || r.under.Count > 0 || r.host.WantsRoom() {
		return true
	}
	r.idle = r.engine.retire(r)
	return !r.idle
}

package coordinator

import (
	"context"
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

// drive takes turns until the run leaves memory. While it waits, a goroutine that brings what the run waits for may take turns in
// its place: see Drive.
func (r *run) drive(ctx context.Context) {
	r.turns.Lock()
	defer r.turns.Unlock()
	r.ctx = ctx
	r.timer = time.NewTimer(time.Hour)
	defer r.timer.Stop()
	for r.recover(ctx) {
		for r.gone = false; r.wait(ctx) && r.turn(ctx, false); {
		}
		err := r.failed
		r.failed = nil
		if err != nil && !r.survive(ctx, err) || r.step != nil || ctx.Err() != nil {
			return
		}
	}
}

// turn drains the inbox, decides, appends, and only then lets anybody see or do what was decided. It is the only place that
// appends to a run's stream. It reports false when the run has to be recovered, because of failed, or leaves memory.
func (r *run) turn(ctx context.Context, here bool) bool {
	out := r.step.Step(r.instant(), r.take())
	if r.failed = r.append(ctx, out.Batch); r.failed != nil {
		return false
	}
	r.backoff, r.refusals = 0, 0
	r.settled()
	r.begun()
	r.answer(out.Replies)
	r.under.Stop(out.Cancels)
	if r.err = r.unable; r.err != nil {
		r.host.GiveUp(r.step.Room())
		return false
	}
	r.host.Make(ctx, r.host.Admit(out.Calls, r.step.Room()), &r.under, here)
	r.relayPause(context.WithoutCancel(ctx))
	r.more = out.More
	return !r.finish()
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

// commit is append with a head of the caller's.
func (r *run) commit(ctx context.Context, batch []journal.Event, head journal.Head) error {
	last, err := journal.AppendParts(context.WithoutCancel(ctx), r.engine.store, r.id, r.seq, batch, head, unfinished(head))
	if err == nil {
		r.seq = last
	}
	return err
}

// unfinished returns a head for as long as the rest of a batch is missing: an engine that finds it continues the run at once.
func unfinished(head journal.Head) journal.Head {
	head.Due = head.Updated
	if !head.Open {
		head.Open, head.Status = true, string(reactive.RunRunning)
	}
	return head
}

// wait returns when there is something to do: items, more to decide, or a timer due. It reports false when the run
// leaves memory: at shutdown once everything that came in is journaled, also when there is more to decide, which may have no end.
func (r *run) wait(ctx context.Context) bool {
	for !r.gone {
		switch {
		case r.inbox.Ready():
			return true
		case ctx.Err() != nil:
			return false
		case r.more:
			return true
		}
		due := r.step.NextDue()
		woken := r.sleep(ctx, due)
		switch {
		case r.gone:
			return false
		case ctx.Err() != nil:
			continue // a result may have come in just before
		case woken, due > 0 && r.instant() >= due, r.under.Count > 0, r.host.WantsRoom():
			return true
		case time.Since(r.acted) < r.engine.config.IdleTimeout:
			continue // another goroutine has taken turns
		}
		if r.idle = r.engine.retire(r); r.idle {
			return false
		}
	}
	return false
}

// sleep waits until the run is woken, or may have something to do by itself. Meanwhile others may take turns.
func (r *run) sleep(ctx context.Context, due int64) (woken bool) {
	pause := r.engine.config.IdleTimeout
	if due > 0 {
		pause = min(pause, r.engine.clock.Until(due))
	}
	r.timer.Reset(max(0, pause))
	defer r.timer.Stop()
	r.armed, r.resting = due, true
	r.turns.Unlock()
	defer func() { r.turns.Lock(); r.resting = false }()
	select {
	case <-ctx.Done():
	case <-r.inbox.Wake():
		return true
	case <-r.timer.C:
	}
	return false
}

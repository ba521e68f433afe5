package coordinator

import (
	"context"
	"slices"
	"time"

	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// loop drives one run until it leaves memory. If driving it panics, the run is parked: see guard.go.
func (r *run) loop(ctx context.Context) {
	drive := func() error { r.drive(ctx); return nil }
	if err := usercode.CallExit(drive, func(p *usercode.Panic) { r.afterGoexit(ctx, p) }); err != nil {
		r.recordPanic(err)
	}
	if !cancelled.Closed(r.unloaded) { // otherwise another goroutine has driven it to its end
		r.unload()
	}
}

// drive takes turns until the run leaves memory. While it waits, a goroutine that delivers calls may take turns in its place:
// see Drive.
func (r *run) drive(ctx context.Context) {
	r.turns.Lock()
	defer r.turns.Unlock()
	r.ctx = ctx
	r.timer = time.NewTimer(time.Hour)
	defer r.timer.Stop()
	for r.recover(ctx) {
		for r.stopped = false; r.wait(ctx) && r.turn(ctx, false); {
		}
		err := r.failed
		r.failed = nil
		if err != nil && !r.survive(ctx, err) || r.step != nil || ctx.Err() != nil {
			return
		}
	}
}

// turn drains the inbox, decides, appends the decisions, and only then carries them out. If here is true, the goroutine belongs to the
// pool. It reports false if the run must be recovered, because failed is set, or leaves memory.
func (r *run) turn(ctx context.Context, here bool) bool {
	items := r.takeItems()
	if i := slices.IndexFunc(items, func(it decide.Item) bool { return it.Move != nil }); i >= 0 && r.seq > 0 {
		went := r.move(ctx, i)
		r.err = r.entry.Missing
		return went && r.err == nil
	}
	out := r.step.Step(r.instant(), items)
	if r.failed = out.Err; r.failed == nil {
		r.failed = r.append(ctx, out.Batch)
	}
	if r.failed != nil {
		return false
	}
	r.backoff.Reset()
	r.refusals = 0
	r.releaseEnded()
	r.notifyStarted()
	r.sendReplies(out.Replies)
	r.inProgress.Stop(out.Cancels)
	r.host.Withdraw(out.Cancels)
	if r.err = r.obstacle; r.err != nil {
		r.host.GiveUp(r.step.Room())
		return false
	}
	r.host.Make(ctx, r.host.Admit(out.Calls, r.step.Room()), &r.inProgress, here)
	r.relayPause(context.WithoutCancel(ctx))
	r.keep(false)
	r.more = out.More
	return !r.finish()
}

// move carries out the move, which is the i-th of the items just taken, and puts the others back. From then on, the
// stepper of the new workflow decides, as after a recovery.
func (r *run) move(ctx context.Context, i int) bool {
	it := r.pending[i]
	r.inbox.PutBack(slices.Delete(slices.Clone(r.pending), i, i+1), r.ended)
	r.pending, r.ended = []decide.Item{it}, nil
	root, err := it.Move(r.seq)
	if err != nil || root == nil {
		r.pending = nil
		it.Reply(err)
		return true
	}
	entry, err := r.engine.registry.Read(ctx, it.Event.Detail.Start.Workflow, it.Event.Detail.Start.Children)
	if err != nil {
		r.pending = nil
		it.Reply(err)
		return true
	}
	head := decide.MoveTo(root, &it.Event, r.seq+1, r.instant())
	if r.failed = r.commit(ctx, []journal.Event{it.Event}, head); r.failed != nil {
		return false
	}
	before := r.host
	before.GiveUp(r.step.Room())
	r.inProgress.Move(root)
	r.setRoot(entry, root, it.Event.At)
	r.engine.parked.Remove(r.id)
	r.host.TakeHeld(before)
	r.pending, r.more = nil, true
	r.resume(ctx)
	it.Reply(nil)
	return true
}

// notifyStarted closes durable once the run's start is durable.
func (r *run) notifyStarted() {
	if r.started && r.seq > 0 && !cancelled.Closed(r.durable) {
		close(r.durable)
	}
}

// append makes a batch durable, with the head that follows from it.
func (r *run) append(ctx context.Context, batch []journal.Event) error {
	if len(batch) == 0 && !r.headLacksWait(ctx) {
		return nil
	}
	return r.commit(ctx, batch, r.step.Head())
}

// headLacksWait reports whether the run waits for a worker and the stored head lacks that, because no event followed.
func (r *run) headLacksWait(ctx context.Context) bool {
	if !r.step.Unsaid() {
		return false
	}
	stored, err := r.engine.reader.Head(context.WithoutCancel(ctx), r.id)
	return err == nil && !slices.Equal(stored.Waits, r.step.Head().Waits)
}

// commit is append with the given head.
func (r *run) commit(ctx context.Context, batch []journal.Event, head journal.Head) error {
	last, err := process{r.engine}.Commit(ctx, r.id, r.seq, batch, head)
	if err == nil {
		r.seq = last
	}
	return err
}

// Commit appends to the journal of a run, after an event, and returns the last sequence. No other function does, not even for package
// notes, which has no loop.
func (p process) Commit(ctx context.Context, run string, after uint64, batch []journal.Event, head journal.Head) (last uint64, err error) {
	began := time.Now()
	last, err = journal.AppendParts(context.WithoutCancel(ctx), p.store, run, after, batch, head, decide.Unfinished(head))
	if err == nil {
		p.tally.Appended(time.Since(began))
		for i := range batch {
			p.tally.Event(uint8(batch[i].Type))
		}
	}
	return last, err
}

// wait waits until there are items, further decisions, or a due timer. It reports false if the run leaves memory: because it is
// idle, or at shutdown once all items are journaled. Further decisions do not delay a shutdown: they may have no end.
func (r *run) wait(ctx context.Context) bool {
	for !r.stopped {
		switch {
		case r.inbox.Ready():
			return true
		case ctx.Err() != nil:
			return false
		case r.more:
			return true
		}
		due := r.step.NextDue()
		woken, leaves := r.rest(ctx, due)
		switch {
		case r.stopped, ctx.Err() != nil:
			continue // to the end, unless a result has arrived just before
		case leaves: // there are too many runs in memory, or the run has waited for its snapshot
		case woken, due > 0 && r.instant() >= due, !r.rests():
			return true
		case time.Since(r.drivenAt) < r.engine.config.IdleTimeout:
			continue // another goroutine has driven the run
		}
		if r.leaving = r.keepsFirst(); r.leaving {
			continue
		}
		if r.idle = r.engine.retire(r); r.idle {
			return false
		}
		r.engine.stay.Stay(&r.place)
	}
	return false
}

// rest sleeps, and reports whether the run was woken, and whether it leaves memory.
func (r *run) rest(ctx context.Context, due int64) (woken, leaves bool) {
	if r.leaving = r.leaving && r.rests(); r.leaving {
		if r.keeper.Busy() {
			woken = r.sleep(ctx, due)
		}
		return woken, !r.keeper.Busy()
	}
	stay := r.engine.stay
	stay.Stay(&r.place) // if it was to leave, and did not
	if r.rests() {
		stay.Rest(&r.place, r.Wake)
	}
	woken = r.sleep(ctx, due)
	if leaves = stay.Rise(&r.place) && r.rests(); !leaves {
		stay.Stay(&r.place)
	}
	return woken, leaves
}

// rests reports whether only a timer, a message or a person can move the run.
func (r *run) rests() bool { return r.inProgress.Count == 0 && !r.host.Wants() }

// sleep waits until the run is woken, a timer is due, or the idle timeout has passed. Other goroutines may take turns meanwhile.
func (r *run) sleep(ctx context.Context, due int64) (woken bool) {
	pause := r.engine.config.IdleTimeout
	if due > 0 {
		pause = min(pause, r.engine.clock.Until(due))
	}
	r.timer.Reset(max(0, pause))
	defer r.timer.Stop()
	r.wakeAt, r.asleep = due, true
	r.turns.Unlock()
	defer func() { r.turns.Lock(); r.asleep = false }()
	select {
	case <-ctx.Done():
	case <-r.inbox.Woken():
		return true
	case <-r.timer.C:
	}
	return false
}

package coordinator

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// notice returns a context that ends when the run is parked, or has ended if the run is in memory, and a function that
// releases it.
func (e *Engine) notice(id string) (ctx context.Context, release func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.runs[id] != nil {
		ended, cancel := context.WithCancel(e.ctx)
		cancel()
		return ended, cancel
	}
	return e.parked.Notice(e.ctx, id)
}

func (e *Engine) logParked(id string, reason error) {
	e.config.Logger.Warn("a run is parked: it cannot go on in this process", "run", id, "reason", reason)
}

// parkedFor returns the reason why a run is parked, or nil if it is not known to be.
func (e *Engine) parkedFor(id string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p := e.parked.At(id); p != nil && e.runs[id] == nil {
		return p.Reason
	}
	return nil
}

// shouldPark reports whether a run that leaves memory because of an error is parked. It returns the run's start if registering
// another workflow could help.
func (r *run) shouldPark() (start *journal.Start, parks bool) {
	if errors.Is(r.err, journal.ErrClosed) && r.engine.shutting() { // the store was closed before the loop ended
		r.err = nil
		return nil, false
	}
	taken := r.started && r.seq == 0 && errors.Is(r.err, journal.ErrConflict) // the id belongs to another run
	if taken || errors.Is(r.err, ErrRunNotFound) || errors.Is(r.err, ErrShutdown) {
		return nil, false
	}
	e := r.engine
	err := usercode.Apart(func() error {
		head, err := e.reader.Head(context.WithoutCancel(e.ctx), r.id)
		parks = head.Open || err != nil && !errors.Is(err, ErrRunNotFound) // even a failed start may be durable
		if parks && errors.Is(r.err, ErrMissing) && !errors.Is(r.err, decide.ErrRules) {
			start, _ = e.reader.Start(context.WithoutCancel(e.ctx), r.id) // nil: unknown, so nothing can help
		}
		return nil
	})
	return start, parks || err != nil
}

// unload removes the run from memory, and notifies the goroutines that wait for it.
func (r *run) unload() {
	e := r.engine
	r.inProgress.EndAll()
	var start *journal.Start
	parks := false
	if r.err != nil {
		if start, parks = r.shouldPark(); parks {
			r.err = fmt.Errorf("%w: %w", ErrParked, r.err)
		}
	}
	if e.forget(r, parks, start) {
		e.logParked(r.id, r.err)
	}
	items, ended := r.inbox.Close()
	e.pool.TrackUnreturned(&r.inProgress)
	items = append(r.pending, items...)
	e.pool.ReleaseRoom(append(ended, r.ended...))
	for _, it := range items {
		if it.Reply != nil {
			it.Reply(r.lateReply(&it.Event))
		}
	}
	close(r.unloaded)
}

// forget removes a run from memory. It reports whether the run is newly parked, and must be logged. A run is loaded again at
// once if a workflow was registered since it was recovered.
func (e *Engine) forget(r *run, parks bool, start *journal.Start) (parked bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.runs[r.id] != r {
		return false
	}
	delete(e.runs, r.id)
	e.stay.Left(&r.place, len(e.runs))
	e.children.Forget(r.id)
	switch {
	case !parks:
		return false
	case start != nil && r.learned != e.registry.Learned():
		r.err, r.idle = nil, true
		e.load(r.id)
		return false
	}
	return e.parked.Park(r.id, r.err, start)
}

// lateReply returns the reply to a command that came too late. It is errUnloaded if the caller should try again, because the run
// may be reopened or loaded again.
func (r *run) lateReply(e *journal.Event) error {
	switch {
	case r.err != nil:
		return r.err
	case r.result != nil && e.Type == journal.NodeRetried, r.idle:
		return errUnloaded
	case r.result != nil:
		return ErrFinished
	}
	return ErrShutdown
}

// retryMissing loads the parked runs whose workflows no longer lack anything.
func (e *Engine) retryMissing() {
	complete := map[string]bool{}
	for id, p := range e.parked.Missing() {
		key := registry.Key(p.Start.Workflow, p.Start.Children)
		if _, known := complete[key]; !known {
			_, err := e.registry.Find(e.ctx, p.Start.Workflow, p.Start.Children)
			complete[key] = err == nil
		}
		e.mu.Lock()
		if complete[key] && e.parked.At(id) == p && !e.closed {
			e.load(id)
		}
		e.mu.Unlock()
	}
}

// surveyOne parks a sleeping run that could not go on once woken, so that it is reported early.
func (e *Engine) surveyOne(id string) {
	known := e.registry.Learned()
	if start, reason := e.reader.Obstacle(e.ctx, id, true); reason != nil {
		e.parkAsleep(id, reason, start, known)
	}
}

// parkAsleep parks a run that is not in memory. If the registry has changed since known, the run may lack nothing any more.
func (e *Engine) parkAsleep(id string, reason error, start *journal.Start, known uint64) {
	reason = fmt.Errorf("%w: %w", ErrParked, reason)
	e.mu.Lock()
	parked := e.runs[id] == nil && e.parked.Park(id, reason, start)
	e.mu.Unlock()
	if parked {
		e.logParked(id, reason)
	}
	if known != e.registry.Learned() {
		e.retryMissing()
	}
}

// Parked returns the reason why a run of the store cannot go on in this process, as Run.Parked does, or nil; head comes from
// Runs. Only for runs that this engine does not go on with does it read the store, once.
func (e *Engine) Parked(ctx context.Context, head *journal.Head) error {
	if err := e.checkOpen(); err != nil {
		return err
	}
	if head.Status == StatusDamaged && e.parkedFor(head.Run) == nil { // it may not have been read before
		return e.handle(head.Run, "").Parked(ctx)
	}
	if e.driven.Has(head.Run) || !head.Open {
		return e.parkedFor(head.Run)
	}
	if _, reason := e.reader.Obstacle(ctx, head.Run, false); reason != nil {
		return fmt.Errorf("%w: %w", ErrParked, reason)
	}
	return nil
}

// Parked returns the reason why the run, which has not finished, cannot go on in this process: the error wraps ErrParked and
// the reason. It is nil if the run can go on, as far as is known, or has finished. For a run that this engine does not go on
// with (see Config.PickUp) only damage and the rules of another version count, because they would park it anywhere.
//
// A parked run is tried again when Register or Start provides what it lacks, when it receives a command, and by the next
// engine on the store.
func (r *Run) Parked(ctx context.Context) error {
	e := r.engine
	if err := e.checkOpen(); err != nil {
		return err
	}
	e.mu.Lock()
	drives, active := e.driven.Has(r.id), e.runs[r.id] != nil
	e.mu.Unlock()
	if active {
		return nil
	}
	head, err := e.reader.Head(ctx, r.id)
	switch {
	case err != nil && errors.Is(err, journal.ErrDamaged):
		if drives {
			e.parkAsleep(r.id, err, nil, e.registry.Learned())
		}
		return fmt.Errorf("%w: %w", ErrParked, err)
	case err != nil:
		return e.readError(ctx, err)
	case drives && head.Open && e.parkedFor(r.id) == nil:
		e.surveyOne(r.id)
	}
	return e.Parked(ctx, &head)
}

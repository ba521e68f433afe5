package coordinator

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
)

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
	return r.engine.parked.Parks(r.id, r.err)
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
		e.parked.Log(r.id, r.err)
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

// Parked returns the reason why a run of the store cannot go on in this process, as Run.Parked does, or nil; head comes from
// Runs. It reads the store, once, only for runs that this engine does not drive.
func (e *Engine) Parked(ctx context.Context, head *journal.Head) error {
	return e.parked.Parked(ctx, head)
}

// Parked returns the reason why the run, which has not finished, cannot go on in this process: the error wraps ErrParked and
// the reason. It is nil if no such reason is known, or the run has finished. For a run that this engine does not go on
// with (see Config.PickUp) only damage and the rules of another version count, because they would park it anywhere.
//
// A parked run is tried again when Register or Start provides the missing part, when it receives a command or a worker's answer,
// when a timer of it is due, and by the next engine on the store.
func (r *Run) Parked(ctx context.Context) error {
	return r.engine.parked.ParkedNow(ctx, r.id)
}

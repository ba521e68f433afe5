package coordinator

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
)

// A pause reaches the child runs of a run, and theirs: each records that it is paused from above, and by which run. What is
// told follows from where the parent stands, so a crash between the two journals is made good when the parent is recovered.

// relayPause tells the child runs of open calls when the run's pause has begun or ended.
func (r *run) relayPause(ctx context.Context) {
	paused := r.root.Paused()
	if r.paused.Swap(paused) == paused {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(r.children())) {
		r.pauseChild(ctx, id, paused)
	}
}

// restorePause makes the child runs of a recovered run stand as it does.
func (r *run) restorePause(ctx context.Context) {
	paused := r.root.Paused()
	r.paused.Store(paused)
	for _, id := range slices.Sorted(maps.Keys(r.children())) {
		head, err := r.engine.reader.Head(ctx, id)
		if err == nil && head.Open && paused != (head.Status == string(reactive.RunPaused)) {
			r.pauseChild(ctx, id, paused)
		}
	}
}

// pauseChild puts a pause, or its end, to a child run. One that has not begun yet looks for itself: see begin.
func (r *run) pauseChild(ctx context.Context, id string, paused bool) {
	known, err := r.engine.exists(ctx, id)
	if err == nil && known {
		err = r.engine.deliver(ctx, id, decide.Item{Event: decide.PauseFromAbove(r.id, paused), Reply: func(err error) { r.pauseRelayed(id, err) }})
	}
	r.pauseRelayed(id, err)
}

// pauseRelayed reports that a child run could not be paused or resumed. That it has ended, or stands so already, is fine.
func (r *run) pauseRelayed(id string, err error) {
	if err != nil && !unneeded(err) && !errors.Is(err, ErrShutdown) {
		r.engine.config.Logger.Warn("cannot pause or resume a child run", "run", id, "error", err)
	}
}

// unneeded reports whether a command to a child run was refused because there is nothing to be done.
func unneeded(err error) bool {
	return errors.Is(err, ErrNotPossible) || errors.Is(err, ErrFinished) || errors.Is(err, ErrRunNotFound)
}

// notePause is relayPause for a run that no engine goes on with.
func (e *Engine) notePause(ctx context.Context, parent string, paused bool, children map[string]bool) error {
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(children)) {
		if err := e.note(ctx, id, decide.PauseFromAbove(parent, paused)); err != nil && !unneeded(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

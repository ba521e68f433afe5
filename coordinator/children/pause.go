package children

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
)

// A pause applies to all runs below a run: each journals that its parent has paused it.

// Pause passes the beginning or end of a run's pause on to the child runs of its open calls.
func (c *Children) Pause(ctx context.Context, parent string, paused bool, children map[string]bool) {
	for _, id := range slices.Sorted(maps.Keys(children)) {
		c.pause(ctx, parent, id, paused)
	}
}

// RestorePause brings the pauses of the child runs of a recovered run in line with its own.
func (c *Children) RestorePause(ctx context.Context, parent string, paused bool, children map[string]bool) {
	for _, id := range slices.Sorted(maps.Keys(children)) {
		head, err := c.Reader.Head(ctx, id)
		if err == nil && head.Open && paused != (head.Status == string(reactive.RunPaused)) {
			c.pause(ctx, parent, id, paused)
		}
	}
}

// pause pauses or resumes a child run. A child that has not begun yet reads its parent's pause when it begins.
func (c *Children) pause(ctx context.Context, parent, id string, paused bool) {
	known, err := c.Engine.Exists(ctx, id)
	if err == nil && known {
		err = c.Engine.Command(ctx, id, decide.PauseFromAbove(parent, paused), func(err error) { c.paused(id, err) })
	}
	c.paused(id, err)
}

// paused logs that a child run could not be paused or resumed, unless it has ended or is in that state already.
func (c *Children) paused(id string, err error) {
	if err != nil && !hadNoEffect(err) && !errors.Is(err, decide.ErrShutdown) {
		c.Logger.Warn("cannot pause or resume a child run", "run", id, "error", err)
	}
}

// hadNoEffect reports whether a child run refused a command that would have had no effect.
func hadNoEffect(err error) bool {
	return errors.Is(err, decide.ErrNotPossible) || errors.Is(err, decide.ErrFinished) || errors.Is(err, decide.ErrRunNotFound)
}

// NotePause is Pause for a run that no engine goes on with.
func (c *Children) NotePause(ctx context.Context, parent string, paused bool, children map[string]bool) error {
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(children)) {
		if err := c.Engine.Note(ctx, id, decide.PauseFromAbove(parent, paused)); err != nil && !hadNoEffect(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

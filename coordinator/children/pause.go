package children

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
)

// A pause reaches the child runs of a run, and theirs: each records that it is paused from above, and by which run.

// Pause tells the child runs of a run's open calls that its pause has begun or ended.
func (c *Children) Pause(ctx context.Context, parent string, paused bool, children map[string]bool) {
	for _, id := range slices.Sorted(maps.Keys(children)) {
		c.pause(ctx, parent, id, paused)
	}
}

// RestorePause makes the child runs of a recovered run stand as it does.
func (c *Children) RestorePause(ctx context.Context, parent string, paused bool, children map[string]bool) {
	for _, id := range slices.Sorted(maps.Keys(children)) {
		head, err := c.Reader.Head(ctx, id)
		if err == nil && head.Open && paused != (head.Status == string(reactive.RunPaused)) {
			c.pause(ctx, parent, id, paused)
		}
	}
}

// pause puts a pause, or its end, to a child run. One that has not begun yet looks for itself when it begins.
func (c *Children) pause(ctx context.Context, parent, id string, paused bool) {
	known, err := c.Engine.Exists(ctx, id)
	if err == nil && known {
		err = c.Engine.Tell(ctx, id, decide.PauseFromAbove(parent, paused), func(err error) { c.paused(id, err) })
	}
	c.paused(id, err)
}

// paused reports that a child run could not be paused or resumed. That it has ended, or stands so already, is fine.
func (c *Children) paused(id string, err error) {
	if err != nil && !unneeded(err) && !errors.Is(err, decide.ErrShutdown) {
		c.Logger.Warn("cannot pause or resume a child run", "run", id, "error", err)
	}
}

// unneeded reports whether a command to a child run was refused because there is nothing to be done.
func unneeded(err error) bool {
	return errors.Is(err, decide.ErrNotPossible) || errors.Is(err, decide.ErrFinished) || errors.Is(err, decide.ErrRunNotFound)
}

// NotePause is Pause for a run that no engine goes on with.
func (c *Children) NotePause(ctx context.Context, parent string, paused bool, children map[string]bool) error {
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(children)) {
		if err := c.Engine.Note(ctx, id, decide.PauseFromAbove(parent, paused)); err != nil && !unneeded(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

package children

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// A call that has started a child run cancels it when the call ends. This does not happen if the process dies at that moment, or
// if a command ends the call while no engine goes on with the parent: such children are orphans, which this file cancels.

const orphaned = "the call that started the run has ended"

// CancelOrphans cancels children, given by parent, whose parents have finished. An unfinished parent may go on in another
// process.
func (c *Children) CancelOrphans(ctx context.Context, parentless map[string][]string) {
	for parent, found := range parentless {
		end, err := c.Reader.Progress(ctx, parent)
		if err != nil {
			c.Logger.Warn("cannot read whether a run has ended: its child runs go on", "parent", parent, "error", err)
		}
		if err == nil && end.Result != nil {
			c.cancel(found)
		}
	}
}

// AddFound records the children among unfinished runs for their parents to claim. It returns those whose parents do not go on
// here, by parent.
func (c *Children) AddFound(open []journal.Head) map[string][]string {
	goesOn := make(map[string]bool, len(open))
	for _, head := range open {
		goesOn[head.Run] = true
	}
	parentless := map[string][]string{}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, head := range open {
		switch parent := journal.ParentRun(head.Run); {
		case parent == "":
		case goesOn[parent]:
			c.unclaimed[parent] = append(c.unclaimed[parent], head.Run)
		default:
			parentless[parent] = append(parentless[parent], head.Run)
		}
	}
	return parentless
}

// HasUnclaimed reports whether a run has children to claim.
func (c *Children) HasUnclaimed(run string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.unclaimed[run]) > 0
}

// Claim cancels the unclaimed children of a run except those in wanted: the ids of the children that its open calls wait for.
func (c *Children) Claim(run string, wanted func() map[string]bool) {
	c.mu.Lock()
	found := c.unclaimed[run]
	delete(c.unclaimed, run)
	c.mu.Unlock()
	if len(found) == 0 {
		return
	}
	calls := wanted()
	c.cancel(slices.DeleteFunc(found, func(id string) bool { return calls[id] }))
}

// cancel cancels runs in the background.
func (c *Children) cancel(runs []string) {
	for _, id := range runs {
		c.Engine.Go(func() {
			err := c.Engine.Cancel(c.Context, id, orphaned)
			if err != nil && !errors.Is(err, decide.ErrFinished) && !errors.Is(err, decide.ErrShutdown) && c.Context.Err() == nil {
				c.Logger.Warn("cannot cancel a child run", "run", id, "error", err)
			}
		})
	}
}

// CancelEnded cancels the children whose calls a command has ended while no engine goes on with their parent. before and after
// hold the children that the parent's open calls wait for, before and after the command.
func (c *Children) CancelEnded(ctx context.Context, before, after map[string]bool) error {
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(before)) {
		if after[id] {
			continue
		}
		err := c.Engine.Cancel(ctx, id, orphaned)
		if err != nil && !errors.Is(err, decide.ErrFinished) && !errors.Is(err, decide.ErrRunNotFound) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

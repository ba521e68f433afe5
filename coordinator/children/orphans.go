package children

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// The call that has started a child run cancels it when the call ends. That call is missing if the process died at that
// moment, or if a command ended it while no engine went on with the parent: such children are orphans, which this file
// cancels.

const orphaned = "the call that started the run has ended"

// CancelAlone cancels the given children, by parent, whose parents have finished. An unfinished parent may go on in another
// process.
func (c *Children) CancelAlone(ctx context.Context, alone map[string][]string) {
	for parent, found := range alone {
		end, err := c.Reader.Ending(ctx, parent)
		if err != nil {
			c.Logger.Warn("it is not known whether child runs are still needed: they go on", "parent", parent, "error", err)
		}
		if err == nil && end.Result != nil {
			c.cancel(found)
		}
	}
}

// Found records the children among unfinished runs for their parents to claim. It returns those whose parents do not go on
// here, by parent.
func (c *Children) Found(open []journal.Head) map[string][]string {
	goesOn := make(map[string]bool, len(open))
	for _, head := range open {
		goesOn[head.Run] = true
	}
	alone := map[string][]string{}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, head := range open {
		switch parent := journal.ParentRun(head.Run); {
		case parent == "":
		case goesOn[parent]:
			c.unclaimed[parent] = append(c.unclaimed[parent], head.Run)
		default:
			alone[parent] = append(alone[parent], head.Run)
		}
	}
	return alone
}

// AreFound reports whether a run has children to claim.
func (c *Children) AreFound(run string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.unclaimed[run]) > 0
}

// Claim cancels the recorded children of a run that are not in wanted, the ids of those that its calls wait for. A finished
// child cannot be reopened, so none of them has answered.
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

// cancel starts cancelling runs; it does not wait until that is durable.
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

// CancelEnded cancels the children whose calls a command has ended while no engine goes on with their parent; before and after
// return the children that its calls wait for.
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

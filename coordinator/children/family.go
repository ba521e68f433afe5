package children

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Runs that start runs may do so without end, also by starting their own document. So the runs below a run without a parent
// are counted together while that run is in memory, beginning with those in the store.

// begin begins a child run, unless that would exceed DepthMax or DescendantsMax.
func (c *Children) begin(ctx context.Context, entry *registry.Entry, input any, child Start) error {
	if Generation(child.ID) > c.DepthMax {
		return fmt.Errorf("%w: %d runs are above this one; DepthMax is %d", decide.ErrLimit, Generation(child.ID), c.DepthMax)
	}
	top, _, _ := strings.Cut(child.ID, "/")
	if err := c.countBelow(ctx, top); err != nil {
		return err
	}
	if most := c.DescendantsMax; c.add(top, 1) > most && most >= 0 {
		c.add(top, -1)
		return fmt.Errorf("%w: run %s has started %d runs, with those that they have started; DescendantsMax is %d", decide.ErrLimit, top, most, most)
	}
	err := c.Engine.Begin(ctx, entry, input, child)
	if err != nil {
		c.add(top, -1)
	}
	return err
}

// countBelow counts the runs in the store that are below another, unless they have been counted already.
func (c *Children) countBelow(ctx context.Context, top string) error {
	c.mu.Lock()
	_, known := c.counts[top]
	c.mu.Unlock()
	if known {
		return nil
	}
	count := 0
	for _, err := range c.Reader.Below(ctx, top) {
		if err != nil && !errors.Is(err, journal.ErrDamaged) {
			return fmt.Errorf("count the runs below run %s: %w", top, err)
		}
		count++
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.counts[top]; !known {
		c.counts[top] = count
	}
	return nil
}

func (c *Children) add(top string, n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[top] += n
	return c.counts[top]
}

package coordinator

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// A run that starts runs may do so without end, also by way of its own document. So the runs below one that nobody has started
// are counted together, while it is in memory; the store says how many there were before.

// beget begins a child run, unless there are too many above it or beside it.
func (e *Engine) beget(ctx context.Context, entry *registry.Entry, input any, o startOptions) (*Run, error) {
	if most := e.config.Limits.DepthMax; generation(o.id) > most {
		return nil, fmt.Errorf("%w: %d runs are above this one; DepthMax is %d", ErrLimit, generation(o.id), most)
	}
	top, _, _ := strings.Cut(o.id, "/")
	if err := e.countFamily(ctx, top); err != nil {
		return nil, err
	}
	if count, most := e.addToFamily(top, 1), e.config.Limits.DescendantsMax; most >= 0 && count > most {
		e.addToFamily(top, -1)
		return nil, fmt.Errorf("%w: run %s has started %d runs, with those that they have started; DescendantsMax is %d", ErrLimit, top, most, most)
	}
	r, err := e.begin(ctx, entry, input, o)
	if err != nil {
		e.addToFamily(top, -1)
	}
	return r, err
}

// countFamily counts the runs in the store that are below another, unless they have been counted.
func (e *Engine) countFamily(ctx context.Context, top string) error {
	e.mu.Lock()
	_, known := e.families[top]
	e.mu.Unlock()
	if known {
		return nil
	}
	count := 0
	for _, err := range e.reader.Below(ctx, top) {
		if err != nil && !errors.Is(err, journal.ErrDamaged) {
			return fmt.Errorf("count the runs below run %s: %w", top, err)
		}
		count++
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.families[top]; !known {
		e.families[top] = count
	}
	return nil
}

func (e *Engine) addToFamily(top string, n int) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.families[top] += n
	return e.families[top]
}

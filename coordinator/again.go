package coordinator

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// errUnbegun is why the id of a start is free after all: the start that had it has failed.
var errUnbegun = errors.New("the run has not begun")

// again is a start whose id is taken: fine when it is the same run, else an error that says in what they differ. A start that is
// under way is waited for, until it is durable or has failed.
func (e *Engine) again(ctx context.Context, first *journal.Event) (*Run, error) {
	start := first.Detail.Start
	for {
		other := e.active(start.Run)
		if e.shutting() {
			return nil, ErrShutdown
		}
		for was, err := range e.store.Read(ctx, start.Run, 1) {
			if err != nil {
				return nil, e.why(ctx, fmt.Errorf("read run %s: %w", start.Run, err))
			}
			difference := decide.Difference(&was, first)
			if difference == "" {
				return &Run{engine: e, id: start.Run}, nil
			}
			return nil, &ExistsError{start.Run, difference}
		}
		switch {
		case other == nil && e.parkedFor(start.Run) != nil:
			return nil, fmt.Errorf("%w: %s", ErrRunExists, start.Run)
		case other == nil:
			return nil, errUnbegun
		}
		select {
		case <-ctx.Done():
			return nil, cancelled.Error(ctx)
		case <-e.shut:
		case <-other.durable:
		case <-other.over:
		}
	}
}

package coordinator

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// errNotBegun means that an id is free because the start that used it has failed.
var errNotBegun = errors.New("the run has not begun")

// existing handles a start whose id is taken: it returns the existing run if it is the same, else an error that describes the
// difference. If that run is still being started, existing waits until it is durable or has failed.
func (e *Engine) existing(ctx context.Context, first *journal.Event) (*Run, error) {
	start := first.Detail.Start
	for {
		other := e.active(start.Run)
		if e.shutting() {
			return nil, ErrShutdown
		}
		for was, err := range e.store.Read(ctx, start.Run, 1) {
			if err != nil {
				return nil, e.readError(ctx, fmt.Errorf("read run %s: %w", start.Run, err))
			}
			difference := decide.Difference(&was, first)
			if difference == "" {
				return e.handle(start.Run, ""), nil
			}
			return nil, &ExistsError{Run: start.Run, Difference: difference}
		}
		switch {
		case other == nil && e.parkedFor(start.Run) != nil:
			return nil, fmt.Errorf("%w: %s", ErrRunExists, start.Run)
		case other == nil:
			return nil, errNotBegun
		}
		select {
		case <-ctx.Done():
			return nil, cancelled.Error(ctx)
		case <-e.shut:
		case <-other.durable:
		case <-other.unloaded:
		}
	}
}

package reader

import (
	"context"
	"fmt"
	"iter"

	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Kept yields the events with the results that a rerun keeps; none for any other run. They follow its first event.
func (r *Reader) Kept(ctx context.Context, run string) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		left := int32(0)
		for e, err := range r.store.Read(ctx, run, 1) {
			switch start := decide.StartOf(&e); {
			case err != nil:
				yield(e, fmt.Errorf("read run %s: %w", run, err))
				return
			case start != nil && start.From == nil:
				return
			case start != nil:
				left = start.From.Kept
			case left == 0 || e.Type != journal.ResultKept && e.Type != journal.InputSet || !yield(e, nil):
				return
			default:
				left--
			}
		}
	}
}

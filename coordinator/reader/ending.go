package reader

import (
	"context"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Ending is how far a run has come, by its journal alone.
type Ending struct {
	Result *inspect.Result // nil: it has not ended
	Start  *journal.Start  // what it was started with; nil: that is not known
	Last   uint64          // sequence of its last event
}

// Ending reads how a run has ended, if it has. Nothing is derived.
func (r *Reader) Ending(ctx context.Context, run string) (out Ending, err error) {
	for event, err := range r.store.Read(ctx, run, 1) {
		if err != nil {
			return Ending{}, fmt.Errorf("read run %s: %w", run, err)
		}
		switch out.Last = event.Seq; event.Type {
		case journal.RunStarted:
			out.Start = decide.StartOf(&event)
		case journal.RunFinished:
			out.Result = inspect.NewResult(run, &event)
		case journal.RunReopened:
			out.Result = nil
		}
	}
	return out, nil
}

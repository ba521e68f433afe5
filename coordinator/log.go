package coordinator

import (
	"context"
	"iter"

	"github.com/sluiceflow/sluice/coordinator/calllog"
)

// Logs returns the output of this engine's running calls.
func (e *Engine) Logs() *calllog.Logs { return e.logs }

// Log yields the output of the programs and workers of the run, live, until the run has ended; if step is not "", only the output of its
// calls. It begins with the part of their output that this process still keeps. Secrets are replaced by marks.
func (r *Run) Log(ctx context.Context, step string) iter.Seq2[calllog.Batch, error] {
	return func(yield func(calllog.Batch, error) bool) {
		err := r.CheckStep(ctx, step)
		if err == nil {
			ended := func(ctx context.Context) error { _, err := r.Wait(ctx); return err }
			err = r.engine.logs.Follow(ctx, r.id, step, ended, func(b calllog.Batch) bool { return yield(b, nil) })
		}
		if err != nil {
			yield(calllog.Batch{}, err)
		}
	}
}

package coordinator

import (
	"context"
	"errors"
	"iter"

	"github.com/sluiceflow/sluice/coordinator/calllog"
	"github.com/sluiceflow/sluice/internal/cancelled"
)

// Logs returns what the running calls of this engine write.
func (e *Engine) Logs() *calllog.Logs { return e.logs }

// Log yields what the programs and the workers of the run write, while they do, until the run has ended; of a step, only what its calls
// write; "" is all. It begins with what is still kept of what they have written in this process. Secrets are replaced by marks.
func (r *Run) Log(ctx context.Context, step string) iter.Seq2[calllog.Batch, error] {
	return func(yield func(calllog.Batch, error) bool) {
		if err := r.follow(ctx, step, func(b calllog.Batch) bool { return yield(b, nil) }); err != nil {
			yield(calllog.Batch{}, err)
		}
	}
}

// CheckStep refuses a step that the run does not have. Of a run that follows the rules of another version the steps are unknown, and none
// is refused.
func (r *Run) CheckStep(ctx context.Context, step string) error {
	if step == "" {
		return r.engine.checkOpen()
	}
	_, err := r.Explain(ctx, step)
	if errors.Is(err, ErrMissing) {
		return nil
	}
	return err
}

// follow passes on what is written until take returns false, or the run has ended and all was passed on.
func (r *Run) follow(ctx context.Context, step string, take func(calllog.Batch) bool) error {
	if err := r.CheckStep(ctx, step); err != nil {
		return err
	}
	reader, err := r.engine.logs.Read(r.id, step, "")
	if err != nil {
		return err
	}
	defer reader.Close()
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { // ends with the reading
		_, err := r.Wait(waiting)
		ended <- err
	}()
	for isOver := false; ; {
		b, grown := reader.Next()
		switch {
		case grown == nil:
			if !take(b) {
				return nil
			}
			continue
		case isOver:
			return err
		}
		select {
		case <-grown:
		case err = <-ended:
			isOver = true
		case <-ctx.Done():
			return cancelled.Error(ctx)
		}
	}
}

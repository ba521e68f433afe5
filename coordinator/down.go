package coordinator

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// down is ErrShutdown once the engine has shut down; nil before.
func (e *Engine) down() error {
	if e.ctx.Err() != nil {
		return ErrShutdown
	}
	return nil
}

// why completes the error of a reader: that the store was closed means that the engine has shut down, and where ctx has ended
// the reason for that is told too.
func (e *Engine) why(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, journal.ErrClosed) && e.shutting():
		return ErrShutdown
	case ctx.Err() != nil && errors.Is(err, ctx.Err()) && !errors.Is(err, context.Cause(ctx)):
		return fmt.Errorf("%w: %w", err, context.Cause(ctx))
	}
	return err
}

package coordinator

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// BeforeShutdown has Shutdown call f first, while the engine still works, and not return before f has: whoever brings wishes to
// the engine takes no more of them then, and answers those under way. When the context of Shutdown ends meanwhile, the engine
// goes on with shutting down. What f returns is part of Shutdown's error. Where Shutdown was called already, f is called at once.
func (e *Engine) BeforeShutdown(f func() error) error {
	e.mu.Lock()
	if !e.ending {
		e.before = append(e.before, f)
		e.mu.Unlock()
		return nil
	}
	e.mu.Unlock()
	return f()
}

// leaveFirst calls what is to be called before the shutdown, at most as long as ctx lasts; the error comes when all is done.
func (e *Engine) leaveFirst(ctx context.Context, before []func() error) <-chan error {
	left := make(chan error, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var errs []error
		for _, f := range before {
			errs = append(errs, usercode.Apart(f))
		}
		left <- errors.Join(errs...)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	return left
}

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

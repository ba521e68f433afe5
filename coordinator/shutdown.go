package coordinator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// shutdownTime is how long calls may take to return after the context of Shutdown has ended. A command that does not end by
// itself takes two seconds to be killed.
const shutdownTime = 5 * time.Second

// awaitEnd returns when everything that the engine has begun has ended, or shutdownTime after ctx has: the program's code
// may not return. beforeErr receives the error of the functions passed to BeforeShutdown.
func (e *Engine) awaitEnd(ctx context.Context, beforeErr <-chan error) error {
	ended := make(chan error, 1)
	go func() {
		e.loops.Wait()
		e.pool.Wait()
		ended <- <-beforeErr
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	late := time.NewTimer(shutdownTime)
	defer late.Stop()
	select {
	case err := <-ended:
		return err
	case <-late.C:
		return e.unreturned()
	}
}

// unreturned returns an error that names the calls that have not returned.
func (e *Engine) unreturned() error {
	e.mu.Lock()
	runs := slices.Sorted(maps.Keys(e.runs))
	e.mu.Unlock()
	names := e.pool.Unreturned(runs)
	if len(names) == 0 {
		names = []string{"a function given to BeforeShutdown, or a store"}
	}
	return fmt.Errorf("%w: %s", ErrUnreturned, strings.Join(names, "; "))
}

// Shutdown accepts no more starts and lets calls in progress return as long as ctx lasts; then it ends them and waits five
// more seconds. It abandons calls that have not returned by then, ignores their results, and names them in its error,
// ErrUnreturned. Unfinished runs go on when another engine is made on the store. It closes the store. From then on every
// method returns ErrShutdown, except Shutdown, which waits for its first call to return. See also BeforeShutdown.
func (e *Engine) Shutdown(ctx context.Context) error {
	e.mu.Lock()
	if e.ending {
		e.mu.Unlock()
		select {
		case <-e.shut:
			return nil
		case <-ctx.Done():
			return cancelled.Error(ctx)
		}
	}
	e.ending = true
	before := e.before
	e.mu.Unlock()
	defer close(e.shut)
	beforeErr := usercode.All(ctx, before)
	e.mu.Lock()
	e.closed = true
	e.pool.Close()
	e.mu.Unlock()
	e.drain()
	if e.workers != nil {
		e.workers.Close()
	}
	select {
	case <-e.pool.Idle():
	case <-ctx.Done():
	}
	e.cancel(ErrShutdown)
	return errors.Join(e.awaitEnd(ctx, beforeErr), e.store.Close())
}

// BeforeShutdown makes Shutdown call f first, while the engine still works, and return only after f has: a server that passes
// on commands then accepts no more, and answers those in progress. If the context of Shutdown ends meanwhile, the engine shuts
// down in parallel. The error of f becomes part of Shutdown's. If Shutdown was called already, f is called at once.
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

// checkOpen returns ErrShutdown once the engine has shut down, else nil.
func (e *Engine) checkOpen() error {
	if e.ctx.Err() != nil {
		return ErrShutdown
	}
	return nil
}

// readError completes a reader's error: a closed store means that the engine has shut down, and if ctx has ended, its cause is
// added.
func (e *Engine) readError(ctx context.Context, err error) error {
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

package coordinator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/coordinator/closing"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Shutdown accepts no more starts and lets calls in progress return until ctx ends; then it ends them and waits five more seconds. It
// abandons calls that have not returned by then, ignores their results, and names them in its error, ErrUnreturned. Unfinished runs go on
// when another engine is made on the store. It closes the store. From then on every method returns ErrShutdown, except Shutdown, which
// waits for its first call to return. See also BeforeShutdown.
func (e *Engine) Shutdown(ctx context.Context) error { return e.end.Shutdown(ctx, ending{e}) }

// BeforeShutdown makes Shutdown call f first, while the engine still works, and return only after f has: a server that passes
// on commands then accepts no more, and answers those in progress. If the context of Shutdown ends meanwhile, the engine shuts
// down in parallel. The error of f becomes part of Shutdown's. If Shutdown was called already, f is called at once.
func (e *Engine) BeforeShutdown(f func() error) error { return e.end.Before(f) }

// ending has the parts that Shutdown ends.
type ending struct{ *Engine }

var _ closing.Engine = ending{}

func (e ending) Close() {
	e.mu.Lock()
	e.closed = true
	e.pool.Close()
	e.mu.Unlock()
	e.drain()
	if e.workers != nil {
		e.workers.Close()
	}
}

func (e ending) Idle() <-chan struct{} { return e.pool.Idle() }
func (e ending) Stop()                 { e.cancel(ErrShutdown) }
func (e ending) Await()                { e.loops.Wait(); e.pool.Wait(); e.loops.Close() }
func (e ending) CloseStore() error     { return e.store.Close() }

func (e ending) Unreturned() []string {
	e.mu.Lock()
	runs := slices.Sorted(maps.Keys(e.runs))
	e.mu.Unlock()
	return e.pool.Unreturned(runs)
}

// checkOpen returns ErrShutdown once the engine has shut down, otherwise nil.
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

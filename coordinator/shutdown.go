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

// shutdownTime is how long what is under way may take to return after the context of Shutdown has ended. A command takes two
// seconds to be killed that does not end by itself.
const shutdownTime = 5 * time.Second

// unreturnedMax bounds what the error of Shutdown names.
const unreturnedMax = 20

// comeToAnEnd returns when all that the engine has begun has come to an end, or shutdownTime after ctx has; left is how what was to be
// done before the shutdown has ended. Code that is not ours need not return.
func (e *Engine) comeToAnEnd(ctx context.Context, left <-chan error) error {
	settled := make(chan error, 1)
	go func() {
		e.loops.Wait()
		e.pool.Wait()
		settled <- <-left
	}()
	select {
	case err := <-settled:
		return err
	case <-ctx.Done():
	}
	late := time.NewTimer(shutdownTime)
	defer late.Stop()
	select {
	case err := <-settled:
		return err
	case <-late.C:
		return e.unreturned()
	}
}

// unreturned is the error that names what has not returned.
func (e *Engine) unreturned() error {
	e.mu.Lock()
	runs := slices.Sorted(maps.Keys(e.runs))
	e.mu.Unlock()
	names := e.pool.Left()
	for _, id := range runs {
		names = append(names, fmt.Sprintf("run %s: Go code that the run itself has called", id))
	}
	switch more := len(names) - unreturnedMax; {
	case len(names) == 0:
		names = []string{"a function given to BeforeShutdown, or a store"}
	case more > 0:
		names = append(names[:unreturnedMax], fmt.Sprintf("%d more", more))
	}
	return fmt.Errorf("%w: %s", ErrUnreturned, strings.Join(names, "; "))
}

// reply waits for what a loop says to an item. It has not told where ctx or the engine has ended before: a loop may be held up by
// code that does not return.
func (e *Engine) reply(ctx context.Context, done <-chan error) (err error, told bool) {
	select {
	case err := <-done:
		return err, true
	case <-ctx.Done():
		return cancelled.Error(ctx), false
	case <-e.shut:
	}
	select { // both may have come
	case err := <-done:
		return err, true
	default:
		return ErrShutdown, false
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Shutdown takes no more starts and lets calls that are under way come home, as long as ctx lasts; then it ends them, and gives
// them five seconds more. What has not returned by then is left to itself, and the error, ErrUnreturned, names it: nothing comes of
// what it returns later. Runs that have not finished go on when an engine is next made on the store. It closes the store. From
// then on every method returns ErrShutdown, but for Shutdown, which waits for the first call of it to be done. See also
// BeforeShutdown.
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
	left := e.leaveFirst(ctx, before)
	e.mu.Lock()
	e.closed = true
	e.pool.Close()
	e.mu.Unlock()
	e.drain()
	select {
	case <-e.pool.Idle():
	case <-ctx.Done():
	}
	e.cancel(ErrShutdown)
	return errors.Join(e.comeToAnEnd(ctx, left), e.store.Close())
}

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

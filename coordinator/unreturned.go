package coordinator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/internal/canceled"
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
		return canceled.Error(ctx), false
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

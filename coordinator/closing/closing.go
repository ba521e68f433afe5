// Package closing ends an engine in order: first it calls the registered functions, while the engine still works; then it waits for the
// calls in progress, until its context ends; then it stops the rest, and names the calls that do not return.
package closing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/internal/usercode"
)

// ErrUnreturned means that an engine has ended, though some calls have not returned.
var ErrUnreturned = errors.New("coordinator: the engine has shut down, but some calls have not returned")

// shutdownTime bounds the time that calls take to return after the context of Shutdown has ended. A command that does not end by
// itself takes two seconds to be killed.
const shutdownTime = 5 * time.Second

// Engine is the engine to end.
type Engine interface {
	// Close makes the engine accept no more requests.
	Close()

	// Idle returns a channel that is closed when no call is in progress.
	Idle() <-chan struct{}

	// Stop ends the calls in progress, and all that the engine has begun.
	Stop()

	// Await returns when all of that has ended; it may never return.
	Await()

	// Unreturned names the calls that have not returned.
	Unreturned() []string

	// CloseStore closes the engine's store.
	CloseStore() error
}

// End is the end of an engine. It is safe for concurrent use.
type End struct {
	shut chan struct{} // closed when Shutdown has finished

	mu     sync.Mutex
	before []func() error // called before the shutdown begins
	begun  bool           // Shutdown was called
}

// New returns the End of an engine that still runs.
func New() *End { return &End{shut: make(chan struct{})} }

// Shut returns a channel that is closed when the engine has ended.
func (e *End) Shut() <-chan struct{} { return e.shut }

// Before makes Shutdown call f first, and return only after f has. If Shutdown was called already, f is called at once.
func (e *End) Before(f func() error) error {
	e.mu.Lock()
	if !e.begun {
		e.before = append(e.before, f)
		e.mu.Unlock()
		return nil
	}
	e.mu.Unlock()
	return f()
}

// begin returns the work to do before, and whether this call is the first.
func (e *End) begin() (before []func() error, first bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	first, e.begun = !e.begun, true
	return e.before, first
}

// Shutdown ends the engine; later calls wait for the first. Until ctx ends, calls in progress may return.
func (e *End) Shutdown(ctx context.Context, engine Engine) error {
	before, first := e.begin()
	if !first {
		select {
		case <-e.shut:
			return nil
		case <-ctx.Done():
			return cancelled.Error(ctx)
		}
	}
	defer close(e.shut)
	beforeErr := usercode.All(ctx, before)
	engine.Close()
	select {
	case <-engine.Idle():
	case <-ctx.Done():
	}
	engine.Stop()
	return errors.Join(await(ctx, engine, beforeErr), engine.CloseStore())
}

// await returns when everything that the engine has begun has ended, or shutdownTime after ctx ends: the program's code may never return.
// beforeErr receives the error of the functions passed to Before.
func await(ctx context.Context, engine Engine, beforeErr <-chan error) error {
	ended := make(chan error, 1)
	go func() {
		engine.Await()
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
	}
	names := engine.Unreturned()
	if len(names) == 0 {
		names = []string{"a function passed to BeforeShutdown, or a store"}
	}
	return fmt.Errorf("%w: %s", ErrUnreturned, strings.Join(names, "; "))
}

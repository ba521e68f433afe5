package closing_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/closing"
)

// engine records the methods that end it. Its calls return when they are stopped, except some that never return.
type engine struct {
	done    []string
	stopped chan struct{}
	names   []string // calls that do not return
	never   chan struct{}
}

func newEngine(names ...string) *engine {
	return &engine{stopped: make(chan struct{}), names: names, never: make(chan struct{})}
}

func (e *engine) did(what string) { e.done = append(e.done, what) }

func (e *engine) Close()                { e.did("close") }
func (e *engine) Idle() <-chan struct{} { return e.never }
func (e *engine) Stop()                 { e.did("stop"); close(e.stopped) }
func (e *engine) Unreturned() []string  { return e.names }
func (e *engine) CloseStore() error     { e.did("close the store"); return errors.New("no disk") }

func (e *engine) Await() {
	if <-e.stopped; len(e.names) > 0 {
		<-e.never
	}
}

func TestAnEngineEndsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end, e := closing.New(), newEngine()
		require.NoError(t, end.Before(func() error { e.did("before"); return errors.New("torn") }))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		err := end.Shutdown(ctx, e)
		require.ErrorContains(t, err, "torn")
		require.ErrorContains(t, err, "no disk")
		require.NotErrorIs(t, err, closing.ErrUnreturned)
		require.Equal(t, time.Hour, time.Since(began), "calls return as long as the context lasts")
		require.Equal(t, []string{"before", "close", "stop", "close the store"}, e.done)
		<-end.Shut()
		require.NoError(t, end.Shutdown(t.Context(), e), "a second call has no effect")
		require.Len(t, e.done, 4)
		require.ErrorContains(t, end.Before(func() error { return errors.New("at once") }), "at once")
	})
}

// Five seconds after they were stopped, the calls that have not returned are named.
func TestWhatDoesNotReturnIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end, e := closing.New(), newEngine("one", "two")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- end.Shutdown(ctx, e) }()
		synctest.Wait()
		other, give := context.WithCancel(t.Context())
		give()
		require.ErrorIs(t, end.Shutdown(other, e), context.Canceled, "it waits for the first no longer than its context lasts")
		cancel()
		began := time.Now()
		err := <-ended
		require.ErrorIs(t, err, closing.ErrUnreturned)
		require.ErrorContains(t, err, "one; two")
		require.Equal(t, 5*time.Second, time.Since(began))
		close(e.never)
	})
}

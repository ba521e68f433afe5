package coordinator_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

func TestWhatComesBeforeTheShutdownFindsTheEngineAtWork(t *testing.T) {
	e, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{})
	require.NoError(t, err)
	r := start(t, e, waits2)
	torn := errors.New("torn")
	calls := 0
	require.NoError(t, e.BeforeShutdown(func() error {
		calls++
		require.NoError(t, r.Pause(t.Context(), ""))
		return torn
	}))
	require.NoError(t, e.BeforeShutdown(func() error { panic("boom") }))
	err = e.Shutdown(t.Context())
	require.ErrorIs(t, err, torn)
	require.ErrorContains(t, err, "boom")
	require.NoError(t, e.Shutdown(t.Context()))
	require.Equal(t, 1, calls)
	require.ErrorIs(t, e.BeforeShutdown(func() error { return torn }), torn, "at once: there is no later")
}

// Code that does not end delays nothing longer than the context lasts, and is waited for at the end: the engine's end may
// depend on it.
func TestWhatComesBeforeTheShutdownIsGivenItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{})
		require.NoError(t, err)
		r := start(t, e, waits2)
		require.NoError(t, e.BeforeShutdown(func() error {
			_, err := r.Wait(context.Background())
			require.ErrorIs(t, err, coordinator.ErrShutdown)
			return nil
		}))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- e.Shutdown(ctx) }()
		synctest.Wait()
		require.NoError(t, r.Pause(t.Context(), ""), "it is still at work")
		cancel()
		require.NoError(t, <-ended)
	})
}

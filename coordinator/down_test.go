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

func TestTheEngineWorksDuringBeforeShutdown(t *testing.T) {
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
	require.ErrorIs(t, e.BeforeShutdown(func() error { return torn }), torn, "it is called at once")
}

// A function of BeforeShutdown that does not return delays the shutdown only as long as the context lasts. Shutdown still waits
// for it at the end.
func TestShutdownWaitsForBeforeShutdown(t *testing.T) {
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
		require.NoError(t, r.Pause(t.Context(), ""), "the engine still works")
		cancel()
		require.NoError(t, <-ended)
	})
}

package residence_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/residence"
	"github.com/sluiceflow/sluice/reactive/decide"
)

// Starts beyond the bound wait for room, until their callers or the engine end.
func TestStartsWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts, shut := residence.NewStarts(), make(chan struct{})
		enter := func(ctx context.Context) (func(), error) { return starts.Enter(ctx, shut) }
		first, err := enter(t.Context())
		require.NoError(t, err)
		for range cap(starts) - 1 {
			_, err := enter(t.Context())
			require.NoError(t, err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = enter(ended)
		require.ErrorIs(t, err, context.Canceled)

		entered := 0
		for range 2 {
			go func() {
				if _, err := enter(t.Context()); err == nil {
					entered++
				} else if err != decide.ErrShutdown {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		require.Zero(t, entered)
		first()
		first()
		synctest.Wait()
		require.Equal(t, 1, entered, "a place is left once")
		close(shut)
	})
}

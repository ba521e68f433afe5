package pool

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestRoomIsWaitedForAndWaitingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(100)
		first, err := s.take(t.Context(), 1000)
		require.NoError(t, err)
		require.EqualValues(t, 100, first, "what is larger gets all there is")
		ctx, cancel := context.WithCancel(t.Context())
		ends := make(chan error, 2)
		wait := func(ctx context.Context) { _, err := s.take(ctx, 1); ends <- err }
		go wait(ctx)
		synctest.Wait()
		require.Empty(t, ends)
		cancel()
		require.ErrorIs(t, <-ends, context.Canceled)
		go wait(t.Context())
		synctest.Wait()
		require.Empty(t, ends)
		s.free.Release(first)
		require.NoError(t, <-ends)
	})
	none := newShelf(0)
	taken, err := none.take(t.Context(), 1000)
	require.NoError(t, err)
	require.Zero(t, taken)
}

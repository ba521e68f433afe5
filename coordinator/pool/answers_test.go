package pool

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestRoomIsWaitedForAndWaitingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newByteRoom(100)
		first, err := s.acquire(t.Context(), 1000)
		require.NoError(t, err)
		require.EqualValues(t, 100, first, "a larger answer takes all the room")
		ctx, cancel := context.WithCancel(t.Context())
		ends := make(chan error, 2)
		wait := func(ctx context.Context) { _, err := s.acquire(ctx, 1); ends <- err }
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
	none := newByteRoom(0)
	taken, err := none.acquire(t.Context(), 1000)
	require.NoError(t, err)
	require.Zero(t, taken)
}

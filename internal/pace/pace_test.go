package pace_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/internal/pace"
)

func TestWorkRestsForAMultipleOfItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pace.Resting(2)
		began := time.Now()
		require.NoError(t, p.Rest(t.Context()))
		time.Sleep(4 * time.Millisecond)
		require.NoError(t, p.Rest(t.Context()))
		require.Equal(t, 4*time.Millisecond, time.Since(began), "a short slice goes on")
		time.Sleep(6 * time.Millisecond)
		require.NoError(t, p.Rest(t.Context()))
		require.Equal(t, 30*time.Millisecond, time.Since(began))
		time.Sleep(time.Minute)
		require.NoError(t, p.Rest(t.Context()))
		require.Equal(t, time.Minute+30*time.Millisecond+time.Second, time.Since(began), "a pause is bounded")
	})
}

func TestARestEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pace.Resting(4)
		time.Sleep(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		require.ErrorIs(t, p.Rest(ctx), context.DeadlineExceeded)
		require.ErrorIs(t, p.Rest(ctx), context.DeadlineExceeded)
	})
}

func TestTheZeroPaceRestsNever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pace.Pace
		began := time.Now()
		time.Sleep(time.Minute)
		require.NoError(t, p.Rest(t.Context()))
		require.Equal(t, time.Minute, time.Since(began))
	})
}

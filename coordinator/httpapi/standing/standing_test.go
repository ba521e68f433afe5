package standing_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/httpapi/standing"
)

func TestWhatWaitsIsEndedByTheNextLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w standing.Watch
		var valid atomic.Bool
		var looks atomic.Int64
		valid.Store(true)
		look := func() bool { looks.Add(1); return valid.Load() }
		ctx, end := context.WithCancel(t.Context())
		other, endOther := context.WithCancel(t.Context())
		defer endOther()
		a, b := w.Join("a", look, end), w.Join("a", look, end)
		c := w.Join("c", func() bool { return true }, endOther)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.NoError(t, ctx.Err())
		require.InDelta(t, 5*3600, looks.Load(), 5, "one look for all who have shown the same")
		valid.Store(false)
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		require.Error(t, ctx.Err())
		require.False(t, a.Valid())
		require.True(t, c.Valid())
		require.NoError(t, other.Err())
		for _, m := range []*standing.Member{a, b, c} {
			m.Leave()
		}
		seen := looks.Load()
		time.Sleep(time.Hour)
		require.Equal(t, seen, looks.Load(), "nothing goes on")

		valid.Store(true)
		again := w.Join("a", look, func() {})
		require.True(t, again.Valid(), "it is looked anew")
		again.Leave()
	})
}

func TestWhatIsAboutToBeHandedOutWaitsForALook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w standing.Watch
		valid, looks := true, 0
		ctx, end := context.WithCancel(t.Context())
		m := w.Join("a", func() bool { looks++; return valid }, end)
		defer m.Leave()
		asked := m.Context(ctx)
		require.NoError(t, asked.Err())
		require.Equal(t, 1, looks)
		valid = false
		require.ErrorIs(t, asked.Err(), context.Canceled)
		require.ErrorIs(t, ctx.Err(), context.Canceled)
	})
}

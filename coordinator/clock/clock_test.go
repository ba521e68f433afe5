package clock_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/clock"
)

func TestAClockNeverGoesBackAndFollowsTheWallAhead(t *testing.T) {
	var wall, steady int64 = 1000, 0
	c := clock.New(func() (int64, int64) { return wall, steady })
	for _, at := range []struct{ wall, steady, want int64 }{
		{1010, 10, 1010},
		{500, 20, 1020}, // set back: the steady time counts
		{600, 120, 1120},
		{5000, 130, 5000}, // ahead
		{4000, 140, 5010},
	} {
		wall, steady = at.wall, at.steady
		require.Equal(t, at.want, c.Now())
		require.EqualValues(t, 7, c.Until(at.want+7))
	}
}

func TestAlarmsGoOffInTheOrderOfTheirInstants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.New(clock.System())
		a := clock.NewAlarms(c)
		begin := c.Now()
		at := func(d time.Duration) int64 { return begin + int64(d) }
		a.Set("late", at(3*time.Hour))
		ctx, cancel := context.WithCancel(t.Context())
		var names []string
		done := make(chan struct{})
		go func() {
			defer close(done)
			a.Run(ctx, func(name string) {
				names = append(names, name)
				if name == "late" {
					cancel()
				}
			})
		}()
		synctest.Wait()
		a.Set("second", at(2*time.Second))
		a.Set("first", at(time.Second))
		a.Set("past", at(-time.Second))
		<-done
		require.Equal(t, []string{"past", "first", "second", "late"}, names)
		require.EqualValues(t, at(3*time.Hour), c.Now())
	})
}

func TestAJumpIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var jump atomic.Int64
		read := clock.System()
		c := clock.New(func() (wall, steady int64) { wall, steady = read(); return wall + jump.Load(), steady })
		a := clock.NewAlarms(c)
		ctx, cancel := context.WithCancel(t.Context())
		var order []string
		a.Set("nap", c.Now()+int64(time.Hour))
		go c.Watch(ctx, func() { order = append(order, "jumped"); a.Look() })
		go a.Run(ctx, func(name string) { order = append(order, name); cancel() })
		synctest.Wait()
		jump.Store(int64(2 * time.Hour))
		<-ctx.Done()
		synctest.Wait()
		require.True(t, slices.Equal([]string{"jumped", "nap"}, order), order)
	})
}

// An alarm counts as due until its function has returned: what that starts is not visible before.
func TestAnAlarmIsWithinReachUntilItsFunctionHasReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.New(clock.System())
		a := clock.NewAlarms(c)
		a.Set("now", c.Now())
		require.True(t, a.Within(time.Second))
		ctx, cancel := context.WithCancel(t.Context())
		release := make(chan struct{})
		go a.Run(ctx, func(string) { <-release })
		synctest.Wait()
		require.True(t, a.Within(time.Second))
		close(release)
		synctest.Wait()
		require.False(t, a.Within(time.Second))
		cancel()
	})
}

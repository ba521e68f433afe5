package coordinator_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// TestTheWallClockMayJump: timers that are due when the machine wakes up fire then, and setting a clock back delays no timer.
func TestTheWallClockMayJump(t *testing.T) {
	const sleeps, hangs = `
kind: Workflow
name: w
operations: {nap: {sleep: {for: PT40S}}}
steps: [{operation: nap}]`, `
kind: Workflow
name: w
steps: [{operation: hang, timing: {timeout: PT40S}}]`
	hang := operation.Define("hang", func(ctx context.Context, _ any) (any, error) { <-ctx.Done(); return nil, ctx.Err() })
	for name, test := range map[string]struct {
		text   string
		jump   time.Duration
		idle   time.Duration
		lasts  time.Duration // at most
		status reactive.RunStatus
	}{
		"a sleep, ahead":            {sleeps, time.Hour, time.Minute, 12 * time.Second, reactive.RunCompleted},
		"a sleep on disk, ahead":    {sleeps, time.Hour, time.Second, 12 * time.Second, reactive.RunCompleted},
		"a timeout, ahead":          {hangs, time.Hour, time.Minute, 12 * time.Second, reactive.RunStepTimeout},
		"a little ahead":            {sleeps, 20 * time.Second, time.Minute, 21 * time.Second, reactive.RunCompleted},
		"a sleep, set back":         {sleeps, -time.Hour, time.Minute, 41 * time.Second, reactive.RunCompleted},
		"a sleep on disk, set back": {sleeps, -time.Hour, time.Second, 41 * time.Second, reactive.RunCompleted},
		"a timeout, set back":       {hangs, -time.Hour, time.Minute, 41 * time.Second, reactive.RunStepTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var jump atomic.Int64
				begin := time.Now()
				coordinator.SetClock(t, func() (wall, steady int64) {
					steady = int64(time.Since(begin))
					return begin.UnixNano() + steady + jump.Load(), steady
				})
				e, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{
					Operations: []coordinator.Operation{hang}, IdleTimeout: test.idle,
				})
				require.NoError(t, err)
				r := start(t, e, test.text)
				time.Sleep(10 * time.Second)
				jump.Store(int64(test.jump))
				require.Equal(t, test.status, wait(t, r).Status)
				require.LessOrEqual(t, time.Since(begin), test.lasts)
				last := time.Time{}
				for event, err := range r.Events(t.Context(), 1) {
					require.NoError(t, err)
					require.False(t, event.Time().Before(last), "instants ascend")
					last = event.Time()
				}
				require.NoError(t, e.Shutdown(t.Context()))
			})
		})
	}
}

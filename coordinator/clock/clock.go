package clock

import (
	"context"
	"sync/atomic"
	"time"
)

// Clock returns the current instant in Unix nanoseconds. It follows the wall clock, but never falls behind the steady time that
// has passed since the Clock was made: setting the wall clock back does not prolong any wait, and after a jump ahead, such as
// when the machine has slept, timers are due by the wall clock. It is safe for concurrent use.
type Clock struct {
	read  func() (wall, steady int64)
	ahead atomic.Int64 // how far the clock is ahead of the steady one
}

// New returns a clock that uses read, which returns the wall clock and a steady clock that is never set, in nanoseconds.
func New(read func() (wall, steady int64)) *Clock {
	c := &Clock{read: read}
	wall, steady := c.read()
	c.ahead.Store(wall - steady)
	return c
}

// System returns a function that reads the clocks of the machine.
func System() func() (wall, steady int64) {
	start := time.Now()
	return func() (wall, steady int64) {
		t := time.Now()
		return t.UnixNano(), int64(t.Sub(start))
	}
}

// Now returns the current instant.
func (c *Clock) Now() int64 {
	wall, steady := c.read()
	for {
		ahead := c.ahead.Load()
		if wall-steady <= ahead {
			return steady + ahead
		}
		if c.ahead.CompareAndSwap(ahead, wall-steady) {
			return wall
		}
	}
}

// Until returns the duration until an instant.
func (c *Clock) Until(due int64) time.Duration { return time.Duration(due - c.Now()) }

// The smallest jump of the wall clock that Watch reports, and the longest delay until it does.
const (
	jumpMin  = 100 * time.Millisecond
	jumpTime = time.Second
)

// Watch calls jumped when the wall clock has jumped ahead, until ctx ends: timers of the process do not follow such jumps, and
// stand still while the machine sleeps.
func (c *Clock) Watch(ctx context.Context, jumped func()) {
	tick := time.NewTicker(jumpTime)
	defer tick.Stop()
	for known := c.ahead.Load(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		c.Now()
		ahead := c.ahead.Load()
		if ahead-known > int64(jumpMin) {
			jumped()
		}
		known = ahead
	}
}

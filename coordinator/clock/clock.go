package clock

import (
	"context"
	"sync/atomic"
	"time"
)

// Clock says what instant it is, in Unix nanoseconds: that of the wall, and never earlier than what has passed since the
// clock was made. So a wall clock that is set back stretches nothing that waits, and one that jumps ahead, as after a sleep of
// the machine, lets fall due what has. It is safe for concurrent use.
type Clock struct {
	read  func() (wall, steady int64)
	ahead atomic.Int64 // how much further than the steady one the clock is
}

// New returns a clock by what read returns: the wall clock and one that is never set, in nanoseconds.
func New(read func() (wall, steady int64)) *Clock {
	c := &Clock{read: read}
	wall, steady := c.read()
	c.ahead.Store(wall - steady)
	return c
}

// System returns what reads the clocks of the machine.
func System() func() (wall, steady int64) {
	start := time.Now()
	return func() (wall, steady int64) {
		t := time.Now()
		return t.UnixNano(), int64(t.Sub(start))
	}
}

// Now is the instant that it is.
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

// Until is how long it is to an instant.
func (c *Clock) Until(due int64) time.Duration { return time.Duration(due - c.Now()) }

// What counts as a jump of the wall clock, and how long it may take until it is noticed.
const (
	jumpMin  = 100 * time.Millisecond
	jumpTime = time.Second
)

// Watch calls jumped when the wall clock has jumped ahead, until ctx ends: the process's own timers do not notice, and stand still
// while the machine sleeps.
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

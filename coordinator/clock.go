package coordinator

import (
	"sync/atomic"
	"time"
)

// clock says what instant it is, in Unix nanoseconds: that of the wall, and never earlier than what has passed since the
// engine was made. So a wall clock that is set back stretches nothing that waits, and one that jumps ahead, as after a sleep of
// the machine, lets fall due what has.
type clock struct {
	read  func() (wall, steady int64)
	ahead atomic.Int64 // how much further than the steady one the clock is
}

func newClock() *clock {
	c := &clock{read: systemClock()}
	wall, steady := c.read()
	c.ahead.Store(wall - steady)
	return c
}

// systemClock is the wall clock and one that is never set, in nanoseconds.
var systemClock = func() func() (wall, steady int64) {
	start := time.Now()
	return func() (wall, steady int64) {
		t := time.Now()
		return t.UnixNano(), int64(t.Sub(start))
	}
}

func (c *clock) now() int64 {
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

// until is how long it is to an instant.
func (c *clock) until(due int64) time.Duration { return time.Duration(due - c.now()) }

// What counts as a jump of the wall clock, and how long it may take until it is noticed.
const (
	jumpMin  = 100 * time.Millisecond
	jumpTime = time.Second
)

// watchClock has all runs look at their timers when the wall clock has jumped ahead: the process's own timers do not notice,
// and stand still while the machine sleeps.
func (e *Engine) watchClock() {
	tick := time.NewTicker(jumpTime)
	defer tick.Stop()
	for known := e.clock.ahead.Load(); ; {
		select {
		case <-e.ctx.Done():
			return
		case <-tick.C:
		}
		e.clock.now()
		ahead := e.clock.ahead.Load()
		if ahead-known > int64(jumpMin) {
			e.lookAtTimers()
		}
		known = ahead
	}
}

func (e *Engine) lookAtTimers() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.runs {
		r.Again()
	}
	select {
	case e.sleepers.wake <- struct{}{}:
	default:
	}
}

package clock

import (
	"context"
	"time"
)

// Backoff waits between attempts, longer each time. The zero Backoff is ready to use.
type Backoff struct{ last time.Duration }

// Wait waits before the next try. It returns false if ctx ends first.
func (b *Backoff) Wait(ctx context.Context) bool {
	b.last = min(max(2*b.last, 10*time.Millisecond), time.Second)
	timer := time.NewTimer(b.last)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Reset makes the next wait a short one.
func (b *Backoff) Reset() { b.last = 0 }

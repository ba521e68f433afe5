// Package pace slows work that goes on beside work that matters more.
package pace

import (
	"context"
	"time"
)

const (
	sliceLeast  = 5 * time.Millisecond // a shorter slice goes on: a pause costs a wake-up
	restLongest = time.Second
)

// Pace lets work take part of the time. The zero Pace never rests.
type Pace struct {
	rests int
	began time.Time // of the slice
}

// Resting returns the pace of work that rests so many times as long as it works, and begins now.
func Resting(times int) Pace { return Pace{rests: times, began: time.Now()} }

// Rest pauses after a slice of work. It returns the error of a context that has ended.
func (p *Pace) Rest(ctx context.Context) error {
	if err := ctx.Err(); err != nil || p.rests == 0 {
		return err
	}
	slice := time.Since(p.began)
	if slice < sliceLeast {
		return nil
	}
	pause := time.NewTimer(min(time.Duration(p.rests)*slice, restLongest))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	p.began = time.Now()
	return nil
}
